"""presidio-evaluator: the layout, its own files, and what is refused. ``test_formats_of_tools`` has round trips."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tool_examples import SHARED, hard_record, marked

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.foreign_formats import NAMES, PresidioFormat, presidio_name
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.label_maps import label_map
from tests.shared_files import of_whole

PRESIDIO = PresidioFormat()
FIXTURE = Path(__file__).parent / "data" / "presidio_samples.json"
GENERATED = SHARED / "presidio_research" / "generated_small.json"
TEXT = "call Ann at 555"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "samples.json"


def span(start: int, end: int, value: str, kind: str) -> dict[str, object]:
    return {"entity_type": kind, "entity_value": value, "start_position": start, "end_position": end}


def sample(*spans: object, **fields: object) -> dict[str, object]:
    return {"full_text": TEXT, "masked": "", "spans": list(spans), "template_id": 3, "metadata": {"Gender": "f"}, **fields}


def read(path: Path, samples: object, tally: ReadTally | None = None, **options: object) -> list[Record | RowReject]:
    path.write_text(json.dumps(samples), encoding="utf-8")
    return list(PRESIDIO.read(path, ReadOptions(**options, taxonomy=shipped_taxonomy()), tally or ReadTally()))  # type: ignore[arg-type] # by name


def kinds(row: Record | RowReject) -> list[tuple[str, str, str | None]]:
    assert isinstance(row, Record), row
    return [(one.text_in(row.context), one.entity_type, one.subtype) for one in row.spans]


def test_the_layout_is_that_of_input_samples(file: Path) -> None:
    record = marked(TEXT, ("Ann", "name", "first_name", "high"), ("555", "code", "phone", "low"), question="Who?", locale="de_DE")
    PRESIDIO.write([record], file, WriteOptions(taxonomy=shipped_taxonomy()))
    spans = [
        {"start": 5, "end": 8, "type": "name", "relevance": "high", "id": "s1", "subtype": "first_name"},
        {"start": 12, "end": 15, "type": "code", "relevance": "low", "id": "s2", "subtype": "phone"},
    ]
    assert json.loads(file.read_text(encoding="utf-8")) == [
        {
            "full_text": TEXT,
            "masked": "call {{PERSON}} at {{PHONE_NUMBER}}",
            "spans": [span(5, 8, "Ann", "PERSON"), span(12, 15, "555", "PHONE_NUMBER")],
            "template_id": None,
            "metadata": {"piiloom": {"question": "Who?", "id": "r1", "locale": "de_DE", "spans": spans, "meta": {"source": None}}},
        }
    ]


def test_a_presidio_name_is_written_only_where_it_means_just_that() -> None:
    meanings = label_map("presidio", taxonomy=shipped_taxonomy())
    assert {name: meanings[name] for name in NAMES.values()} == {name: target for target, name in NAMES.items()}
    assert [presidio_name(*one) for one in (("code", "passport"), ("sexual orientation", None), ("name", "username"))] == [
        "CODE",
        "SEXUAL_ORIENTATION",
        "PERSON",
    ]


def test_the_sample_of_presidio_research_is_imported_but_for_its_one_wrong_offset() -> None:
    tally = ReadTally()
    rows = list(PRESIDIO.read(GENERATED, ReadOptions(taxonomy=shipped_taxonomy()), tally))
    assert [(row.line, row.reason) for row in rows if isinstance(row, RowReject)] == [
        (of_whole(57, 17), 'spans[0].text: "Ayers" differs from context[21:26]')
    ]
    assert (len(rows), tally.unknown_types, tally.overlapping) == (of_whole(100, 22), {}, [])
    tally = ReadTally()
    records = list(PRESIDIO.read(GENERATED, ReadOptions(skip_values=True, taxonomy=shipped_taxonomy()), tally))
    assert (len(records), tally.unmapped_labels, len(tally.skipped_values)) == of_whole((100, {"TITLE": 4}, 1), (22, {"TITLE": 2}, 1))
    found = Counter(kind for record in records for _, kind, _ in kinds(record))
    assert found == of_whole(
        {"name": 54, "location": 70, "code": 31, "organization": 10, "datetime": 3},
        {"name": 15, "code": 8, "location": 6, "organization": 2, "datetime": 1},
    )
    assert found.total() + tally.unmapped_labels.total() + 1 == sum(len(row["spans"]) for row in json.loads(GENERATED.read_text()))


def test_samples_that_presidio_evaluator_wrote_come_back(file: Path) -> None:
    """The file was written by presidio-evaluator 0.3.2 from our samples (tests/peers/check_presidio_evaluator.py)."""
    rows = list(PRESIDIO.read(FIXTURE, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    assert rows[0] == hard_record()
    records = [row for row in rows if isinstance(row, Record)]
    assert len(records) == 4
    PRESIDIO.write(records, file, WriteOptions(taxonomy=shipped_taxonomy()))
    ours, theirs = (json.loads(path.read_text(encoding="utf-8")) for path in (file, FIXTURE))
    for written in theirs:  # spans have keys for tokens there, all null
        written["spans"] = [{key: value for key, value in one.items() if value is not None} for one in written["spans"]]
    assert ours == theirs


def test_a_sample_of_others_is_read_with_the_map_of_presidio_under_ones_own(file: Path) -> None:
    tally = ReadTally()
    spans = [span(5, 8, "Ann", "PERSON"), span(12, 15, "555", "UK_NHS"), span(0, 4, "call", "TITLE")]
    (row,) = read(file, [sample(*spans)], tally, label_map={"PERSON": "name/first_name"}, locale="en_GB")
    assert kinds(row) == [("Ann", "name", "first_name"), ("555", "code", "national_id")]
    assert isinstance(row, Record)
    assert (row.locale, row.question, row.source and row.source.file) == ("en_GB", None, "samples.json")
    assert tally.ignored_fields == {"template_id": 1, "metadata": 1}
    assert tally.unmapped_labels == {"TITLE": 1}


def test_what_changed_since_it_was_written_is_read_as_it_stands(file: Path) -> None:
    PRESIDIO.write(
        [marked(TEXT, ("Ann", "name", "first_name", "high"), ("555", "code", "phone", "low"))],
        file,
        WriteOptions(taxonomy=shipped_taxonomy()),
    )
    samples = json.loads(file.read_text(encoding="utf-8"))
    samples[0]["spans"] = [span(0, 4, "call", "AGE"), span(5, 8, "Ann", "ORGANIZATION"), samples[0]["spans"][1]]
    (row,) = read(file, samples)
    assert kinds(row) == [("call", "age", None), ("Ann", "organization", None), ("555", "code", "phone")]
    assert isinstance(row, Record)
    assert [(one.id, one.relevance) for one in row.spans] == [("new1", None), ("new2", None), ("s2", "low")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"spans": []}, "full_text: is missing"),
        ({"full_text": "x"}, "spans: is missing"),
        (sample(spans=None), "spans: must be a list"),
        (sample(5), "spans[0]: must have keys and values"),
        (sample({"entity_type": "AGE"}), "spans[0].start_position: is missing"),
        (sample(span(5, 8, "Bob", "PERSON")), 'spans[0].text: "Bob" differs from context[5:8]'),
        (sample(span(5, 8, "Ann", "HOROSCOPE")), "spans[0].type: not one of the known types"),
        (sample(full_text=5), "context: must be text"),
        (sample(metadata={"piiloom": {"spans": 5, "meta": 6}}), "meta: "),
        ([], "not a JSON object"),
    ],
)
def test_a_wrong_sample_is_refused(file: Path, row: object, message: str) -> None:
    refused, kept = read(file, [row, sample()])
    assert isinstance(refused, RowReject)
    assert refused.reason.startswith(message)
    assert isinstance(kept, Record)
