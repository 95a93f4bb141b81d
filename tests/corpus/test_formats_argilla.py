"""Argilla: the layout, records of its own, and what is refused. ``test_formats_of_tools`` has round trips."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tool_examples import hard_record, marked

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.foreign_formats import ArgillaFormat
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import shipped_taxonomy

ARGILLA = ArgillaFormat()
FIXTURE = Path(__file__).parent / "data" / "argilla_records.json"
TEXT = "👋 Ann is 34"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "records.json"


def span(start: int, end: int, label: str) -> dict[str, object]:
    return {"start": start, "end": end, "label": label}


def row(**fields: object) -> dict[str, object]:
    return {"id": "a1", "fields": {"text": TEXT}, "metadata": {}, "suggestions": {}, "responses": {}, "vectors": {}, **fields}


def responses(*answers: object) -> dict[str, object]:
    return {"pii": [{"value": value, "user_id": "00000000-0000-0000-0000-000000000001"} for value in answers]}


def read(path: Path, rows: object, tally: ReadTally | None = None, **options: object) -> list[Record | RowReject]:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return list(ARGILLA.read(path, ReadOptions(**options, taxonomy=shipped_taxonomy()), tally or ReadTally()))  # type: ignore[arg-type] # by name


def places(found: Record | RowReject) -> list[tuple[str, str, str | None]]:
    assert isinstance(found, Record), found
    return [(one.text_in(found.context), one.entity_type, one.relevance) for one in found.spans]


def test_the_layout_is_that_of_the_sdk_with_the_relevance_in_the_label(file: Path) -> None:
    record = marked(TEXT, ("Ann", "name", "first_name", "high"), ("34", "age", None, None), question="Who?", locale="de_DE")
    ARGILLA.write([record], file, WriteOptions(taxonomy=shipped_taxonomy()))
    (written,) = json.loads(file.read_text(encoding="utf-8"))
    aside = json.loads(written["metadata"].pop("piiloom"))
    assert written == {
        "id": "r1",
        "fields": {"text": TEXT, "question": "Who?"},
        "metadata": {"locale": "de_DE"},
        "suggestions": {"pii": {"value": [span(2, 5, "name:high"), span(9, 11, "age")], "score": None, "agent": "piiloom"}},
        "responses": {},
        "vectors": {},
        "status": "pending",
        "_server_id": None,
    }
    assert aside["spans"][0] == {"start": 2, "end": 5, "type": "name", "relevance": "high", "id": "s1", "subtype": "first_name"}


def test_the_settings_have_a_label_for_each_type_and_relevance(tmp_path: Path) -> None:
    (name,) = ARGILLA.write_extras(tmp_path, {"splits": {"test": {"types": {"shoe size": 1}}}}, shipped_taxonomy())
    settings = json.loads((tmp_path / name).read_text(encoding="utf-8"))
    values = [option["value"] for option in settings["questions"][0]["settings"]["options"]]
    assert values[:3] == ["occupation", "occupation:high", "occupation:low"]
    assert values[-1] == "shoe size:low"
    assert len(values) == 3 * (len(shipped_taxonomy().types) + 1)


def test_records_that_the_sdk_wrote_come_back_and_a_response_goes_before_the_suggestion() -> None:
    """The file was written by argilla 2.8.0 from our records (tests/peers/check_argilla.py)."""
    tally = ReadTally()
    first, second, third, fourth = ARGILLA.read(FIXTURE, ReadOptions(taxonomy=shipped_taxonomy()), tally)
    assert first == hard_record()
    assert places(second) == [("👋🏽", "name", None)]
    assert isinstance(second, Record)
    assert (second.id, second.source) == ("emoji", None)
    assert places(third) == []
    assert isinstance(fourth, Record)
    assert fourth.plan is not None
    assert tally.ignored_fields == {}


def test_records_of_others_are_read_with_their_own_names(file: Path) -> None:
    tally = ReadTally()
    fields = {"body": TEXT, "ask": "Who?"}
    answers = {
        "mood": [{"value": "good"}],
        "ner": [{"value": [span(2, 5, "PER:low")]}, {"value": [span(2, 5, "PER"), span(9, 11, "age:high")]}],
    }
    columns, labels = {"context": "body", "question": "ask"}, {"PER": "name", "PER:low": "code"}
    (found,) = read(file, [row(fields=fields, responses=answers)], tally, columns=columns, label_map=labels, locale="en_GB")
    assert places(found) == [("Ann", "name", None), ("34", "age", "high")]
    assert isinstance(found, Record)
    assert (found.id, found.question, found.locale, found.source and found.source.id) == ("a1", "Who?", "en_GB", "a1")
    assert tally.ignored_fields == {"answer to mood": 1, "responses, of several but the last": 1}
    (mapped,) = read(file, [row(responses=responses([span(2, 5, "PER:low")]))], label_map=labels)
    assert places(mapped) == [("Ann", "code", None)]


def test_labels_that_people_corrected_come_back(file: Path) -> None:
    ARGILLA.write(
        [marked(TEXT, ("Ann", "name", "first_name", "high"), ("34", "age", "years", "low"))],
        file,
        WriteOptions(taxonomy=shipped_taxonomy()),
    )
    rows = json.loads(file.read_text(encoding="utf-8"))
    rows[0]["responses"] = responses([span(2, 5, "name:low"), span(9, 11, "age:low")])
    (found,) = read(file, rows)
    assert places(found) == [("Ann", "name", "low"), ("34", "age", "low")]
    assert isinstance(found, Record)
    assert [(one.id, one.subtype) for one in found.spans] == [("new1", None), ("s2", "years")]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (row(), "responses: neither a response nor a suggestion has spans"),
        (row(suggestions={"pii": {"value": "x"}}), "responses: neither"),
        (row(fields={"txt": "x"}), "fields.text: must be text; say with --columns which field is the context"),
        (row(fields=None), "fields.text: must be text"),
        (row(responses=responses([span(2, 99, "name")])), "spans[0].text: "),
        (row(responses=responses([span(-2, 5, "name")])), "spans[0].start: "),
        (row(responses=responses([{"start": "2", "end": 5, "label": "name"}])), "spans[0]: must have whole numbers start and end"),
        (row(responses=responses([{"start": 2, "end": 5, "label": 5}])), "spans[0]: must have whole numbers start and end"),
        (row(responses=responses([span(2, 5, "horoscope:high")])), "spans[0].type: not one of the known types"),
        (row(id=[5], responses=responses([])), "id: must be text"),
    ],
)
def test_a_wrong_record_is_refused(file: Path, wrong: object, message: str) -> None:
    refused, kept = read(file, [wrong, row(id="ok", responses=responses([]), metadata={"piiloom": "{"})])
    assert isinstance(refused, RowReject)
    assert refused.reason.startswith(message)
    assert places(kept) == []
