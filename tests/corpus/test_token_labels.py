"""Spans on tokens: what is widened, trimmed, shared or lost, and tags of all schemes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_strategies import records

from piiloom.corpus.formats import token_labels as labels
from piiloom.corpus.formats.native_rows import RowFault
from piiloom.corpus.formats.token_labels import (
    TokenSpan,
    bio_tags,
    joined,
    on_tokens,
    relevances,
    tagged_spans,
    token_places,
    tokenizer_named,
)
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.foundation.words import Range
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case


def record_of(text: str, *places: Range, entity_type: str = "name", relevance: Relevance | None = "low") -> Record:
    spans = (
        Span(id=f"s{at}", start=start, end=end, entity_type=entity_type, relevance=relevance) for at, (start, end) in enumerate(places)
    )
    return Record(id="r1", context=text, spans=tuple(spans))


def placed(text: str, *places: Range) -> tuple[list[Range], list[tuple[str | None, str]]]:
    """The (first, last) white-space tokens of spans at *places*, and the losses."""
    spans, losses = on_tokens(record_of(text, *places), tokenizer_named("whitespace")(text, "en"), taxonomy=shipped_taxonomy())
    return [(one.first, one.last) for one in spans], [(loss.value, loss.reason) for loss in losses]


@case_by_case(
    ("text", "places", "on", "lost"),
    [
        ("I'm Ann Lee.", [(4, 11)], [(3, 4)], []),
        ("Annabel", [(0, 3)], [(0, 0)], [("Ann", labels.WIDENED)]),
        ("a 34yo b", [(2, 4)], [(1, 1)], [("34", labels.WIDENED)]),
        ("x Ann y", [(1, 5)], [(1, 1)], [(" Ann", labels.TRIMMED)]),
        ("x Ann  y", [(2, 6)], [(1, 1)], [("Ann ", labels.TRIMMED)]),
        ("x Annabel", [(1, 5)], [(1, 1)], [(" Ann", labels.WIDENED), (" Ann", labels.TRIMMED)]),
        ("a  b", [(1, 2)], [], [(" ", labels.UNCOVERED)]),
        ("annlee x", [(0, 3), (3, 6)], [(0, 0)], [("ann", labels.WIDENED), ("lee", labels.SHARED_WHOLE)]),
        ("annlee x", [(0, 3), (3, 8)], [(0, 0), (1, 1)], [("ann", labels.WIDENED), ("lee x", labels.SHARED)]),
        ("abc d", [(0, 1), (1, 2), (2, 5)], [(0, 0), (1, 1)], [("a", labels.WIDENED), ("b", labels.SHARED_WHOLE), ("c d", labels.SHARED)]),
        ("a b", [(0, 1), (2, 3)], [(0, 0), (1, 1)], []),
        ("cafe\u0301", [(0, 4)], [(0, 0)], [("cafe", labels.WIDENED)]),
    ],
)  # fmt: skip
def test_a_span_takes_the_tokens_that_it_overlaps(text: str, places: list[Range], on: list[Range], lost: list[tuple[str, str]]) -> None:
    assert placed(text, *places) == (on, lost)


@case_by_case(
    ("span", "on", "lost"),
    [
        ((0, 6), [(0, 2)], [labels.WIDENED]),
        ((0, 4), [(0, 0)], [labels.TRIMMED]),
        ((0, 5), [(0, 1)], []),
        ((3, 5), [(1, 1)], []),
        ((4, 6), [(2, 2)], [labels.WIDENED, labels.TRIMMED]),
        ((3, 4), [], [labels.UNCOVERED]),
    ],
)
def test_of_white_space_tokens_a_span_takes_those_that_lie_in_it_whole(span: Range, on: list[Range], lost: list[str]) -> None:
    spans, losses = on_tokens(record_of("Ann\n\nLee", span), [(0, 3), (3, 5), (5, 8)], taxonomy=shipped_taxonomy())
    assert ([(one.first, one.last) for one in spans], [loss.reason for loss in losses]) == (on, lost)


def test_a_type_that_its_label_does_not_name_is_told() -> None:
    _, losses = on_tokens(record_of("Leo", (0, 3), entity_type="star sign"), [(0, 3)], taxonomy=shipped_taxonomy())
    assert [loss.reason for loss in losses] == [labels.OTHER_LABEL]
    assert labels.label_of("sexual orientation") == "SEXUAL_ORIENTATION"


@given(record=records())
def test_placed_spans_are_sorted_and_disjoint_and_only_changed_ones_are_told(record: Record) -> None:
    tokens = tokenizer_named("whitespace")(record.context, "en")
    spans, losses = on_tokens(record, tokens, taxonomy=shipped_taxonomy())
    assert all(a.first <= a.last < b.first for a, b in pairwise(spans))
    exact = {one.span.id for one in spans if (tokens[one.first][0], tokens[one.last][1]) == (one.span.start, one.span.end)}
    assert {span.text_in(record.context) for span in record.spans if span.id not in exact} == {loss.value for loss in losses}


def test_tags_and_relevances() -> None:
    record = record_of("a b c d", (0, 3), (4, 5), relevance="high")
    spans = [TokenSpan(0, 1, record.spans[0]), TokenSpan(2, 2, record.spans[1])]
    assert bio_tags(4, spans) == ["B-NAME", "I-NAME", "B-NAME", "O"]
    assert relevances(4, spans) == ["high", "high", "high", None]


@case_by_case(
    ("tags", "expected"),
    [
        ("B-A I-A O B-A", [(0, 1, "A"), (3, 3, "A")]),
        ("B-A B-A I-B", [(0, 0, "A"), (1, 1, "A"), (2, 2, "B")]),
        ("I-A I-A B-A I-A I-B O", [(0, 1, "A"), (2, 3, "A"), (4, 4, "B")]),  # IOB1
        ("U-A B-A I-A L-A U-A", [(0, 0, "A"), (1, 3, "A"), (4, 4, "A")]),  # BILOU
        ("S-A B-A E-A B-B M-B E-B", [(0, 0, "A"), (1, 2, "A"), (3, 5, "B")]),  # BIOES, BMES
        ("B-A L-A I-A", [(0, 1, "A"), (2, 2, "A")]),
        ("A A O B-list", [(0, 1, "A"), (3, 3, "list")]),  # bare labels
        ("B-ID-NUM I-ID-NUM", [(0, 1, "ID-NUM")]),
        ("O O", []),
        ("", []),
    ],
)
def test_tags_of_all_schemes_are_read(tags: str, expected: list[tuple[int, int, str]]) -> None:
    assert list(tagged_spans(tags.split())) == expected


@given(lengths=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(["name", "age"]))))
def test_tags_come_back_as_their_spans(lengths: list[tuple[int, int, str]]) -> None:
    at, spans = 0, []
    for gap, length, entity_type in lengths:
        spans.append(TokenSpan(at + gap, at + gap + length - 1, Span(id="s", start=0, end=1, entity_type=entity_type)))
        at += gap + length
    expected = [(one.first, one.last, one.span.entity_type.upper()) for one in spans]
    assert list(tagged_spans(bio_tags(at + 1, spans))) == expected


@pytest.mark.long
@given(tags=st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), max_size=8))
def test_spacy_reads_the_same_spans(tags: list[str]) -> None:
    from spacy.training import biluo_tags_to_spans, iob_to_biluo
    from spacy.vocab import Vocab

    from spacy.tokens import Doc  # isort: skip

    doc = Doc(Vocab(), words=["x"] * len(tags))
    assert [(s.start, s.end - 1, s.label_) for s in biluo_tags_to_spans(doc, iob_to_biluo(tags))] == list(tagged_spans(tags))
    assert list(tagged_spans(iob_to_biluo(tags))) == list(tagged_spans(tags))


def test_tokens_are_found_in_their_text_in_order() -> None:
    assert token_places(["Ann", "An", "n"], " Ann An\u2028n\n") == [(1, 4), (5, 7), (8, 9)]
    assert token_places(["a", "\n\n", "b"], "a\n\nb") == [(0, 1), (1, 3), (3, 4)]
    for tokens, text, said in [
        (["Ann", "Lee"], "Ann B Lee", 'tokens[1]: "Lee" is not where the text goes on'),
        (["Ann", "Bo"], "Ann", 'tokens[1]: "Bo"'),
        (["Ann"], "Ann.", "tokens: the text goes on after the last, at character 3"),
    ]:
        with pytest.raises(RowFault) as caught:
            token_places(tokens, text)
        assert str(caught.value).startswith(said)
    assert joined(["Ann", "’s", "dog"]) == ("Ann ’s dog", [(0, 3), (4, 6), (7, 10)])
