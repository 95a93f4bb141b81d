"""Every readable format on either side of an evaluation, and what a reader of records would have lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from piiloom.corpus.formats.base import ReadableFormat, WriteOptions
from piiloom.corpus.formats.registry import FORMATS, get_format
from piiloom.corpus.record import Record, Span
from piiloom.evaluation.inputs.documents import AnnotatedDocument
from piiloom.evaluation.inputs.opening import PairSettings, open_pairs
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.own_types import OwnSubtype, OwnType, extended, to_json
from piiloom.taxonomy.value_patterns import ValueGenerator
from tests.evaluation.input_files import lines, native, read_one, read_pairs, scored, span
from tests.longer import case_by_case, mostly_long
from tests.shared_files import shared

READABLE = [name for name, each in FORMATS.items() if isinstance(each, ReadableFormat)]
# Formats in which all files have to be named; the others are found out.
FOUND_OUT = {"native", "capid", "csv", "parquet", "huggingface", "json", "conll", "spacy", "brat", "bio", "presidio", "label-studio"}


def _record(name: str, context: str, *values: tuple[str, str]) -> Record:
    places = sorted((context.index(value), value, kind) for value, kind in values)
    spans = tuple(
        Span(id=f"s{at}", start=start, end=start + len(value), entity_type=kind, relevance="high" if at else "low")
        for at, (start, value, kind) in enumerate(places)
    )
    return Record(id=name, context=context, question="May I go?", spans=spans)


RECORDS = (
    _record("r1", "I am Ann Lee, 34, and bisexual 👩‍🚀.", ("Ann Lee", "name"), ("34", "age"), ("bisexual", "sexual orientation")),
    _record("r2", "Nothing to see here."),
    _record("r3", "Bo lives in Ghent.", ("Bo", "name"), ("Ghent", "location")),
)


def written(folder: Path, name: str) -> Path:
    """RECORDS as a file (or folder) of the format *name*."""
    found = get_format(name)
    path = folder / f"{name}{found.suffix}"
    found.write(iter(RECORDS), path, WriteOptions(taxonomy=shipped_taxonomy()))
    return path


def option(name: str) -> str | None:
    return None if name in FOUND_OUT else name


@pytest.mark.parametrize("name", mostly_long(READABLE, set(READABLE) - {"spacy"}))
def test_each_format_agrees_with_itself_and_with_the_native_one_on_either_side(tmp_path: Path, name: str) -> None:
    path, ours = written(tmp_path, name), written(tmp_path, "native") if name != "native" else tmp_path / "native.jsonl"
    for gold, found, formats in (
        (path, path, {"gold_format": option(name), "predictions_format": option(name)}),
        (ours, path, {"predictions_format": option(name)}),
        (path, ours, {"gold_format": option(name)}),
    ):
        figures, summary = scored(gold, found, **formats)
        assert (figures["tp"], figures["fp"], figures["fn"]) == (5, 0, 0)
        assert (summary.pairs, summary.gold.mentions, summary.found.mentions) == (3, 5, 5)
        assert summary.types_only_in_gold == summary.types_only_in_found == []


@pytest.mark.parametrize("name", sorted(set(READABLE) - FOUND_OUT))
def test_a_format_that_cannot_be_told_must_be_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"the format cannot be told: its first row has the keys .* Name it: native, "):
        read_pairs(written(tmp_path, name), written(tmp_path, name))


def test_formats_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [native("a")])
    for name, message in (("masked", "cannot be read"), ("xml", "unknown format 'xml'")):
        with pytest.raises(UsageError, match=message):
            read_pairs(path, path, gold_format=name)
    with pytest.raises(UsageError, match=r"folder without \.ann files"):
        read_pairs(tmp_path, path)
    with pytest.raises(DataError, match="no such file"):
        read_pairs(tmp_path / "none.jsonl", path)


def test_types_are_as_written_unless_formats_spell_them_differently(tmp_path: Path) -> None:
    bio, ours = written(tmp_path, "bio"), written(tmp_path, "native")
    _, alike = scored(bio, bio, gold_format="bio", predictions_format="bio")
    assert sorted(alike.gold.types) == ["AGE", "LOCATION", "NAME", "SEXUAL_ORIENTATION"]
    _, different = scored(ours, bio, predictions_format="bio")
    assert sorted(different.found.types) == ["age", "location", "name", "sexual orientation"]
    # An alias is another label: "PERSON" is no spelling of "name".
    person = lines(tmp_path / "person.jsonl", [native("Ann", span(0, 3, "PERSON"))])
    assert read_one(person).mentions[0].entity_type == "PERSON"


def test_own_types_of_a_release_are_known_where_its_files_are_read(tmp_path: Path) -> None:
    value = OwnSubtype(name="value", definition="One.", examples=("a", "b"), form="noun", generator=ValueGenerator(kind="model"))
    own = (OwnType(name="hat size", definition="One.", subtypes=(value,), pairs=()),)
    record = _record("r1", "A 58 fits Ann.", ("58", "hat size"), ("Ann", "name"))
    for name in ("openai", "bio", "native"):
        get_format(name).write(iter([record]), tmp_path / f"train.{name}", WriteOptions(taxonomy=extended(own)))
    about = {"files": {f"train.{name}": {} for name in ("openai", "bio", "native")}, "own_types": to_json(own)}
    (tmp_path / "release.json").write_text(json.dumps(about))
    for name in ("openai", "bio"):
        pairs, summary = open_pairs(tmp_path / "train.native", tmp_path / f"train.{name}", PairSettings(predictions_format=name))
        for pair in pairs:
            assert [one.entity_type for one in pair.found.mentions] == ["hat size", "name"]
        assert summary.types_only_in_gold == []


def test_overlapping_repeated_and_unordered_mentions_of_unknown_types_are_kept(tmp_path: Path) -> None:
    rows = [native("I met Ann Lee.", span(10, 13, "X"), span(6, 13, "Y"), span(6, 13, "Y"), span(6, 9, "X", subject="friend"))]
    document = read_one(lines(tmp_path / "a.jsonl", rows))
    assert [(one.place, one.text, one.entity_type, one.subject) for one in document.mentions] == [
        ((10, 13), "Lee", "X", None),
        ((6, 13), "Ann Lee", "Y", None),
        ((6, 13), "Ann Lee", "Y", None),
        ((6, 9), "Ann", "X", "friend"),
    ]
    figures, _ = scored(tmp_path / "a.jsonl", tmp_path / "a.jsonl")
    assert (figures["tp"], figures["fp"], figures["fn"]) == (4, 0, 0)


def test_all_that_a_row_says_is_in_its_document(tmp_path: Path) -> None:
    about = {"relevance": "low", "subtype": "given", "value_id": "v1", "subject": "self", "annotator": "a1", "identifier": "quasi"}
    row = native("Ann", span(0, 3, None, text="Ann", **about), id=7, locale="nl_NL", question="Who?", meta={"group_keys": ["text:1"]})
    path = lines(tmp_path / "a.jsonl", [row])
    document = read_one(path)
    (mention,) = document.mentions
    assert (document.id, document.text, document.question, document.locale) == ("7", "Ann", "Who?", "nl_NL")
    assert (document.group_keys, document.where) == (("text:1",), f"{path}:1")
    assert (mention.text, mention.entity_type, mention.place) == ("Ann", None, (0, 3))
    assert {key: getattr(mention, key) for key in about} == about
    assert read_one(lines(path, [native("Ann")]), locale="fr_FR").locale == "fr_FR"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ('{"context": "a"', "not valid JSON"),
        ({"spans": []}, "context: is missing"),
        ({"context": 1, "spans": []}, "context: must be text"),
        ({"context": "a"}, "spans: is missing"),
        ({"context": "a", "piis": {}}, "spans: is missing.*all rows of the file must be of the format native"),
        ({"context": "a", "spans": {}}, "spans: must be a list"),
        ({"context": "a", "spans": [1]}, r"spans\[0\]: must have keys and values"),
        ({"context": "a", "spans": [span(0, 1), {"start": "0", "end": 1}]}, r"spans\[1\]\.start: must be a whole number"),
        ({"context": "a", "spans": [{"start": True, "end": 1}]}, r"spans\[0\]\.start: must be a whole number"),
        ({"context": "a", "spans": [span(0, 1, relevance="1")]}, r"spans\[0\]\.relevance: must be 'high', 'low' or null"),
        ({"context": "a", "spans": [span(0, 1, identifier=[])]}, r"spans\[0\]\.identifier: must be 'direct'"),
        ({"context": "a", "spans": [span(0, 1, subject=True)]}, r"spans\[0\]\.subject: must be text or null"),
        ({"context": "a", "spans": [], "id": ""}, "id: must be text that is not empty"),
        ({"context": "a", "spans": [], "id": True}, "id: must be text that is not empty"),
        ({"context": "a", "spans": [], "question": 1}, "question: must be text or null"),
        ({"context": "a", "spans": [], "locale": 1}, "locale: must be text or null"),
    ],
)
@pytest.mark.parametrize("side", ["gold", "found"])
def test_a_row_that_is_no_document_is_an_error_with_its_line(tmp_path: Path, broken: Any, message: str, side: str) -> None:
    good = lines(tmp_path / "good.jsonl", [native("a"), native("a")])
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(native("a")) + "\n" + (broken if isinstance(broken, str) else json.dumps(broken)) + "\n")
    with pytest.raises(DataError, match=message) as caught:
        read_pairs(*((bad, good) if side == "gold" else (good, bad)))
    assert caught.value.where == f"{bad}:2"


@case_by_case(
    ("wrong", "fault"),
    [
        (span(0, 9, text="Ann"), r'"Ann" has the range \[0, 9\), which is empty or outside the context'),
        (span(-1, 2, text="Ann"), r'"Ann" has the range \[-1, 2\)'),
        (span(1, 1, text="Ann"), r'"Ann" has the range \[1, 1\)'),
        (span(1, 3, text="Bo"), r'"Bo" differs from context\[1:3\]'),
        ({"text": "Bo", "type": "name"}, '"Bo" has no place in the context'),
    ],
)
def test_a_value_without_a_place_is_refused_in_the_gold_and_spurious_in_a_prediction(
    tmp_path: Path, wrong: dict[str, object], fault: str
) -> None:
    right = lines(tmp_path / "right.jsonl", [native("Ann", span(0, 3))])
    bad = lines(tmp_path / "bad.jsonl", [native("Ann", span(0, 3), wrong)])
    with pytest.raises(DataError, match=rf"spans\[1\]: {fault}.*--skip-values") as caught:
        scored(bad, right)
    assert caught.value.where == f"{bad}:1"
    figures, summary = scored(bad, right, skip_values=True)
    assert ((figures["tp"], figures["fp"], figures["fn"]), summary.gold.skipped) == ((1, 0, 0), 1)
    figures, summary = scored(right, bad)
    assert ((figures["tp"], figures["fp"], figures["fn"]), summary.found.without_place) == ((1, 1, 0), 1)


def test_a_listed_mention_that_is_not_in_the_text_is_spurious_too(tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [native("Ann is 34.", span(0, 3))])
    answer = [{"value": "Ann", "type": "name"}, {"value": "Ann", "type": "name"}, {"value": "Cy", "type": "PERSON"}]
    said = {"user": "Text:\nAnn is 34.", "assistant": json.dumps(answer)}
    chat = lines(tmp_path / "chat.jsonl", [{"messages": [{"role": role, "content": content} for role, content in said.items()]}])
    figures, summary = scored(gold, chat, predictions_format="chat")
    assert (figures["tp"], figures["fp"], figures["fn"]) == (1, 2, 0)
    assert (summary.found.without_place, dict(summary.found.types)) == (2, {"name": 2, "PERSON": 1})
    with pytest.raises(DataError, match='"Ann" has no place in the context'):
        scored(chat, gold, gold_format="chat")


def test_values_are_distinct_and_judged_as_in_a_capid_file(tmp_path: Path) -> None:
    text = "Bo met Ann and Ann met Bo, 34."
    spans = [span(23, 25, "name", relevance="high"), span(0, 2, "X", relevance="low"), span(15, 18, "name"), span(7, 10, "Y")]
    path = lines(tmp_path / "a.jsonl", [native(text, *spans, span(27, 29, "age", relevance="low"), span(2, 3))])
    found = read_one(path, needs="values")
    assert [(one.text, one.entity_type, one.relevance) for one in found.mentions] == [
        ("Bo", "name", "high"),  # its first highly relevant mention
        ("Ann", "Y", None),  # its first mention in the text: none has a relevance
        ("34", "age", "low"),
    ]


def test_a_split_of_real_data_agrees_with_itself(tmp_path: Path) -> None:
    path = shared("data/presidio_research/generated_small.json")
    figures, summary = scored(path, path, gold_format="presidio", predictions_format="presidio", skip_values=True)
    assert figures["f1"] < 1 or summary.gold.skipped == 0
    assert (figures["tp"], figures["fn"]) == (summary.gold.mentions, 0)
    assert "PERSON" in summary.gold.types  # as written, not as an import would name it


def test_columns_of_a_table_of_records(tmp_path: Path) -> None:
    rows = [{"full": "Ann", "nr": 1, "ents": [{"from": 0, "to": 3, "label": "name"}]}]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows))
    columns = {"context": "full", "id": "nr", "spans": "ents", "spans.start": "from", "spans.end": "to", "spans.type": "label"}
    document: AnnotatedDocument = read_one(path, gold_format="json", predictions_format="json", columns=columns)
    assert (document.id, [(one.place, one.entity_type) for one in document.mentions]) == ("1", [((0, 3), "name")])
    with pytest.raises(UsageError, match="there is no field 'entity'"):
        read_one(path, columns={"entity": "a"})
