"""Pairing: by id in any order, by position, and what refuses to be paired."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, InputsSummary, SideSummary
from piiloom.evaluation.inputs.opening import pairs
from piiloom.foundation.errors import DataError
from tests.evaluation.input_files import lines, native, read_pairs, scored, span
from tests.longer import case_by_case, few


def test_documents_are_paired_by_id_in_any_order(tmp_path: Path) -> None:
    rows = [native(text, span(0, 2), id=f"r{at}") for at, text in enumerate(["Ann", "Bob", "Cyd"])]
    gold = lines(tmp_path / "gold.jsonl", rows)
    for order in permutations(rows):
        figures, summary = scored(gold, lines(tmp_path / "found.jsonl", order))
        assert (figures["tp"], figures["fp"], figures["fn"]) == (3, 0, 0)
        assert (summary.pairing, summary.pairs) == ("id", 3)
    shuffled, _ = read_pairs(gold, lines(tmp_path / "found.jsonl", reversed(rows)))
    assert [pair.gold.id for pair in shuffled] == [pair.found.id for pair in shuffled] == ["r0", "r1", "r2"]  # in the order of the gold


def test_in_equal_order_no_document_waits() -> None:
    read: list[str] = []

    def side(name: str) -> list[AnnotatedDocument]:
        return [AnnotatedDocument(where=f"{name}:{at}", id=str(at), text="x") for at in range(5)]

    def watched(name: str):
        for document in side(name):
            read.append(document.where)
            yield document

    summary = InputsSummary(gold=SideSummary(file="g", format="native"), found=SideSummary(file="f", format="native"))
    taken = pairs(watched("g"), watched("f"), summary)
    next(taken)
    next(taken)
    assert read == ["g:0", "f:0", "g:1", "f:1"]


def test_a_side_without_texts_gets_those_of_the_other() -> None:
    summary = InputsSummary(gold=SideSummary(file="g", format="tab"), found=SideSummary(file="f", format="tab"))
    mentions = tuple(AnnotatedMention(text="", entity_type=None, start=start, end=end) for start, end in ((0, 3), (2, 99), (7, 9), (-1, 1)))
    gold, found = AnnotatedDocument(where="g:1", id="a", text="Ann Lee"), AnnotatedDocument(where="f:1", id="a", mentions=mentions)
    (pair,) = pairs(iter([gold]), iter([found]), summary)
    # The second goes beyond the text, the last two are not in it.
    assert [(one.text, one.place) for one in pair.found.mentions] == [("Ann", (0, 3)), ("", None), ("", None), ("", None)]
    assert (pair.found.text, summary.found.without_place) == ("Ann Lee", 3)


def test_without_ids_on_either_side_documents_are_paired_by_position(tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [native("Ann", id="a"), native("Ann", id="b")])
    found = lines(tmp_path / "found.jsonl", [native("Ann", span(0, 3)), native("Ann")])
    both, summary = read_pairs(gold, found)
    assert summary.pairing == "position"
    assert [(pair.gold.id, len(pair.found.mentions)) for pair in both] == [("a", 1), ("b", 0)]


@case_by_case(
    ("gold", "found", "message"),
    [
        # the first gold document without a partner, wherever its partner might have been
        (["a", "b", "c"], ["a", "x", "c"], r"the document 'b' \(.*gold.jsonl:2\) is not in the prediction"),
        (["a", "b", "c"], ["a"], r"the document 'b' \(.*gold.jsonl:2\) is not in the prediction"),
        (["a"], ["b", "a"], r"the document 'b' \(.*found.jsonl:1\) is not in the gold"),
        (["a"], ["a", "b"], r"the document 'b' \(.*found.jsonl:2\) is not in the gold"),
        (["a", "b", "a"], ["a", "b", "c"], r"gold.jsonl:3: the id 'a' is also that of .*gold.jsonl:1"),
        (["a", "b", "c"], ["b", "b", "a"], r"found.jsonl:2: the id 'b' is also that of .*found.jsonl:1"),
        (["a", "b"], ["a", None], r"found.jsonl:2: the document has no id, but the first one has"),
        ([None, "b"], ["a"], r"different numbers of documents: 2 and 1; the first without a partner is .*gold.jsonl:2"),
        ([None], ["a", "b", "c"], r"different numbers of documents: 1 and 3; the first without a partner is .*found.jsonl:2"),
    ],
)
def test_documents_without_a_partner_are_an_error(tmp_path: Path, gold: list[str | None], found: list[str | None], message: str) -> None:
    paths = [lines(tmp_path / f"{name}.jsonl", [native("x", id=one) for one in ids]) for name, ids in (("gold", gold), ("found", found))]
    with pytest.raises(DataError, match=message):
        read_pairs(*paths)


@pytest.mark.parametrize(("name", "said"), [("a", "the document 'a'"), (None, "the document")])
@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("I am Ann.", "I am Bob."), r"another text in the gold .*from character 5 on \(9 and 9 characters\)"),
        (("I am Ann.", "I am Ann.\n"), r"another text in the gold .*from character 9 on \(9 and 10 characters\)"),
    ],
)
def test_another_text_is_an_error(tmp_path: Path, name: str | None, said: str, texts: tuple[str, str], message: str) -> None:
    gold, found = (lines(tmp_path / f"{at}.jsonl", [native(text, id=name)]) for at, text in enumerate(texts))
    with pytest.raises(DataError, match=f"1.jsonl:1: {said} has {message}") as caught:
        read_pairs(gold, found)
    assert "Ann" not in str(caught.value)


def test_one_text_with_another_question_is_another_document(tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [native("x", question="Why?"), native("x", question="When?")])
    for questions, right in ((["Why?", "When?"], True), (["Why?", None], True), (["When?", "Why?"], False)):
        found = lines(tmp_path / "found.jsonl", [native("x", question=one) for one in questions])
        if right:
            assert len(read_pairs(gold, found)[0]) == 2
        else:
            with pytest.raises(DataError, match="the document has another question in the gold"):
                read_pairs(gold, found)


@pytest.mark.parametrize(("content", "message"), [("", "the file is empty"), (" \n\n", "the file is empty"), ("[]", "cannot be told")])
@pytest.mark.parametrize("empty", ["gold", "found"])
def test_an_empty_file_is_an_error(tmp_path: Path, empty: str, content: str, message: str) -> None:
    paths = {name: lines(tmp_path / f"{name}.jsonl", [native("x")]) for name in ("gold", "found")}
    paths[empty].write_text(content)
    with pytest.raises(Exception, match=message) as caught:
        read_pairs(paths["gold"], paths["found"])
    assert str(paths[empty]) in str(caught.value)


def test_a_named_format_may_hold_no_rows_either(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[]")
    for name in ("json", "bio", "capid"):
        with pytest.raises(DataError, match="the file holds no documents"):
            read_pairs(path, path, gold_format=name, predictions_format=name)


@few
@given(
    st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=12).flatmap(lambda ids: st.tuples(st.just(ids), st.permutations(ids)))
)
def test_whatever_the_order_each_document_meets_its_own(both: tuple[list[int], list[int]]) -> None:
    summary = InputsSummary(gold=SideSummary(file="g", format="native"), found=SideSummary(file="f", format="native"))
    gold, found = (
        [AnnotatedDocument(where=f"{side}:{at}", id=str(at), text=str(at)) for at in ids] for side, ids in zip("gf", both, strict=True)
    )
    made = list(pairs(iter(gold), iter(found), summary))
    assert [pair.gold for pair in made] == gold
    assert all(pair.gold.id == pair.found.id for pair in made)
