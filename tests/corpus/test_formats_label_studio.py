"""Label Studio: the layout, exports of its own, and what is refused. ``test_formats_of_tools`` has round trips."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tool_examples import hard_record, marked

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.label_studio import EMPTY_QUESTION, LabelStudioFormat, labelling_interface
from piiloom.corpus.record import Record
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import shipped_taxonomy

STUDIO = LabelStudioFormat()
FIXTURE = Path(__file__).parent / "data" / "label_studio_min.json"
TEXT = "👋🏽 Ann\nLee is 34"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.json"


def read(path: Path, tasks: object, tally: ReadTally | None = None, **options: object) -> list[Record | RowReject]:
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return list(STUDIO.read(path, ReadOptions(**options, taxonomy=shipped_taxonomy()), tally or ReadTally()))  # type: ignore[arg-type] # by name


def label(start: int, end: int, text: str, name: str, region: str | None = None) -> dict[str, object]:
    value = {"start": start, "end": end, "text": text, "labels": [name]}
    return {"id": region, "from_name": "ner", "to_name": "doc", "type": "labels", "value": value, "origin": "manual"}


def task(*result: object, text: object = TEXT, **fields: object) -> dict[str, object]:
    annotation = {"id": 7, "completed_by": 1, "result": list(result), "was_cancelled": False, "created_at": "2026-01-01T00:00:00Z"}
    return {"id": 3, "data": {"text": text}, "annotations": [annotation], "predictions": [], "project": 1, **fields}


def reason(rows: list[Record | RowReject]) -> str:
    (row,) = rows
    assert isinstance(row, RowReject), row
    return row.reason


def places(row: Record | RowReject) -> list[tuple[str, str, str | None]]:
    assert isinstance(row, Record), row
    return [(span.text_in(row.context), span.entity_type, span.relevance) for span in row.spans]


def test_the_layout_is_the_documented_one(file: Path) -> None:
    record = marked("I, 👩‍🚀 Ann", ("Ann", "name", "first_name", "high"), id="r9", question="Who?", locale="de_DE")
    STUDIO.write([record], file, WriteOptions(taxonomy=shipped_taxonomy()))
    place = {"start": 7, "end": 10, "text": "Ann"}
    assert json.loads(file.read_text(encoding="utf-8")) == [
        {
            "id": 1,
            "data": {
                "text": "I, 👩‍🚀 Ann",
                "question": "Who?",
                "record_id": "r9",
                "locale": "de_DE",
                "piiloom": {"meta": {"source": None}},
            },
            "annotations": [
                {
                    "result": [
                        {
                            "id": "s1",
                            "to_name": "text",
                            "from_name": "label",
                            "type": "labels",
                            "value": {**place, "labels": ["name"]},
                            "meta": {"piiloom": {"type": "name", "subtype": "first_name"}},
                        },
                        {
                            "id": "s1",
                            "to_name": "text",
                            "from_name": "relevance",
                            "type": "choices",
                            "value": {**place, "choices": ["high"]},
                        },
                    ],
                    "was_cancelled": False,
                }
            ],
            "predictions": [],
        }
    ]


def test_an_empty_question_is_named(file: Path) -> None:
    report = STUDIO.write([marked("x", question=""), marked("y")], file, WriteOptions(taxonomy=shipped_taxonomy()))
    assert [(entry.record_id, entry.reason) for entry in report.entries] == [("r1", f"question: {EMPTY_QUESTION}")]


def test_the_labelling_interface_has_all_types_and_is_escaped(tmp_path: Path) -> None:
    (name,) = STUDIO.write_extras(tmp_path, {"splits": {"train": {"types": {'a<b>&"c"': 1, "name": 2}}}}, shipped_taxonomy())
    root = ET.fromstring((tmp_path / name).read_text(encoding="utf-8"))  # noqa: S314 - our own
    assert [one.get("value") for one in root.iter("Label")] == [*shipped_taxonomy().types, 'a<b>&"c"']
    assert [(one.tag, one.get("name"), one.get("toName"), one.get("value")) for one in root] == [
        ("Header", None, None, "$question"),
        ("Labels", "label", "text", None),
        ("Text", "text", None, "$text"),
        ("Choices", "relevance", "text", None),
    ]
    assert [one.get("value") for one in root.iter("Choice")] == ["high", "low"]
    assert '<Choices name="relevance" toName="text" perRegion="true" choice="single">' in labelling_interface([])


def test_an_export_of_another_project_is_read_in_code_points(file: Path) -> None:
    tally = ReadTally()
    choice = {"id": "x1", "from_name": "relevance", "to_name": "doc", "type": "choices", "value": {"choices": ["low"]}}
    relation = {"type": "relation", "from_id": "x1", "to_id": "x2", "direction": "right"}
    result = [label(3, 10, "Ann\\nLee", "PER", "x1"), choice, label(14, 16, "34", "age", "x2"), relation]
    (row,) = read(file, [task(*result)], tally, label_map={"PER": "name"}, locale="en_GB")
    assert places(row) == [("Ann\nLee", "name", "low"), ("34", "age", None)]
    assert isinstance(row, Record)
    assert [span.id for span in row.spans] == ["x1", "x2"]
    assert (row.locale, row.question, row.source and row.source.line) == ("en_GB", None, 1)
    assert tally.ignored_fields == {"results of None": 1}


def test_offsets_in_utf16_units_as_of_old_versions_are_read_where_the_text_shows_them(file: Path) -> None:
    tally = ReadTally()
    (row,) = read(file, [task(label(5, 8, "Ann", "name"), label(16, 18, "34", "age"))], tally)
    assert [place[:2] for place in places(row)] == [("Ann", "name"), ("34", "age")]
    assert tally.ignored_fields["offsets in UTF-16 units (code points took their place)"] == 2
    assert reason(read(file, [task(label(17, 19, "34", "age"))])).startswith('spans[0].text: "34" has the range [17, 19), which is empty')
    assert reason(read(file, [task(label(6, 13, "Ann\\nLee", "name"))])).startswith('spans[0].text: "Ann\\\\nLee" differs from')


def test_the_last_annotation_that_is_not_cancelled_is_read_and_the_others_are_told(file: Path) -> None:
    results = [[label(3, 6, "Ann", "name")], [label(14, 16, "34", "age")], [label(7, 10, "Lee", "name")]]
    annotations = [{"result": one, "was_cancelled": number == 2} for number, one in enumerate(results)]
    tally = ReadTally()
    (row,) = read(file, [task(annotations=annotations, predictions=[{"result": []}])], tally)
    assert places(row) == [("34", "age", None)]
    told = {"annotations, of several but the last": 1, "annotations that are cancelled": 1, "predictions": 1}
    assert tally.ignored_fields == told


@pytest.mark.parametrize("annotations", [[], None, [{"result": [], "was_cancelled": True}], "x"])
def test_a_task_nobody_annotated_is_refused_and_one_with_nothing_marked_is_not(file: Path, annotations: object) -> None:
    refused, empty = read(file, [task(annotations=annotations), task()])
    assert reason([refused]) == "annotations: there is none that is not cancelled"
    assert places(empty) == []


def test_a_region_with_another_type_loses_its_subtype_and_new_ones_get_ids(file: Path) -> None:
    record = hard_record()
    STUDIO.write([record], file, WriteOptions(taxonomy=shipped_taxonomy()))
    tasks = json.loads(file.read_text(encoding="utf-8"))
    result = tasks[0]["annotations"][0]["result"]
    result[0]["value"]["labels"] = ["code"]
    result.append(label(0, 2, "Je", "name"))
    (row,) = read(file, tasks)
    assert isinstance(row, Record)
    new, first, *others = row.spans
    assert (new.id, new.entity_type) == ("new1", "name")
    assert (first.id, first.entity_type, first.subtype, first.value_id, first.subject) == ("first", "code", None, "v1", "self")
    assert others == list(record.spans[1:])
    assert (row.id, row.locale, row.source) == ("r1", "fr_FR", None)


def test_columns_name_the_keys_of_the_data(file: Path) -> None:
    data = {"body": TEXT, "q": "Who?", "number": "n1"}
    columns = {"context": "body", "question": "q", "id": "number"}
    (row,) = read(file, [task(label(3, 6, "Ann", "name"), data=data)], columns=columns)
    assert isinstance(row, Record)
    assert (row.context, row.question, row.id) == (TEXT, "Who?", "n1")
    assert reason(read(file, [task(data=data)])) == "data.text: must be text; say with --columns which key holds the context"


def test_json_min_as_the_converter_writes_it_is_read(file: Path) -> None:
    """The file was written by label-studio-sdk 2.0.19 from our tasks (tests/peers/check_label_studio.py)."""
    tally = ReadTally()
    first, second, third, fourth = STUDIO.read(FIXTURE, ReadOptions(taxonomy=shipped_taxonomy()), tally)
    record = hard_record()
    assert places(first) == [(span.text_in(record.context), span.entity_type, None) for span in record.spans]
    assert isinstance(first, Record)
    assert (first.id, first.locale, first.question, first.context) == (record.id, record.locale, record.question, record.context)
    assert places(second) == [("Jr", "name", None), ("34", "age", None)]
    assert places(third) == []
    assert isinstance(fourth, Record)
    assert fourth.plan is not None
    assert tally.ignored_fields["relevance"] == 3


def test_json_min_has_a_row_an_annotation_of_which_the_first_is_read(file: Path) -> None:
    row = {"id": 5, "text": TEXT, "ner": [{"start": 3, "end": 6, "text": "Ann", "labels": ["name", "code"]}], "annotation_id": 2}
    tally = ReadTally()
    first, older, other = read(file, [row, {**row, "annotation_id": 1}, {**row, "id": 6, "mood": [{"choices": ["ok"]}]}], tally)
    assert places(first) == [("Ann", "name", None)]
    assert reason([older]) == "annotation_id: an older annotation of a task that was read already"
    assert places(other) == places(first)
    assert tally.ignored_fields == {"labels of a region but the first": 2, "mood": 1}


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (label(3, 99, "Ann", "name"), 'spans[0].text: "Ann" has the range [3, 99)'),
        (label(3, 6, "Bob", "name"), 'spans[0].text: "Bob" differs from context[3:6]'),
        (label(3, 6, "Ann", "horoscope"), "spans[0].type: not one of the known types"),
        ({**label(3, 6, "Ann", "name"), "value": {"start": "/p[1]", "end": "/p[1]", "labels": ["name"]}}, "spans[0]: must have whole"),
        ({**label(3, 6, "Ann", "name"), "value": {"start": 3, "end": 6, "labels": []}}, "spans[0].labels: must be a list of labels"),
        ({**label(3, 6, "Ann", "name"), "value": {"start": 3, "end": 6, "labels": [4]}}, "spans[0].labels: must be a list of labels"),
    ],
)
def test_a_wrong_region_refuses_its_task(file: Path, result: object, message: str) -> None:
    assert reason(read(file, [task(result)])).startswith(message)


def test_a_relevance_of_two_choices_or_of_no_region_is_not_guessed(file: Path) -> None:
    def choice(region: str, *choices: str) -> dict[str, object]:
        return {"id": region, "from_name": "relevance", "type": "choices", "value": {"choices": choices}}

    named = label(3, 6, "Ann", "name", "x1")
    assert reason(read(file, [task(named, choice("x1", "high", "low"))])).startswith("spans[0].relevance: ")
    tally = ReadTally()
    (row,) = read(file, [task(named, choice("x2", "high"))], tally)
    assert places(row) == [("Ann", "name", None)]
    assert tally.ignored_fields == {"relevance of no region": 1}


def test_a_file_that_is_cut_off_is_an_error_and_lines_are_rows(file: Path) -> None:
    file.write_text("[{", encoding="utf-8")
    with pytest.raises(DataError, match=r"tasks\.json(:1)?: the file is not"):
        list(STUDIO.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    file.write_text('{"data": {}}\n5\n', encoding="utf-8")
    faults = [reason([row]) for row in STUDIO.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())]
    assert faults == ["data.text: must be text; say with --columns which key holds the context", "not a JSON object"]
    assert reason(read(file, [{"data": 5}])) == "data: must have keys and values"
