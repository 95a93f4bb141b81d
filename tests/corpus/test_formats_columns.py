"""Imports of tables and JSON of any shape, by the names of their columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from record_strategies import records
from round_trips import one_megabyte, real_records, written_again

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.lossless import CommaSeparatedFormat, ParquetFormat
from piiloom.corpus.formats.registry import JsonFormat
from piiloom.corpus.record import Record
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy

JSON, CSV, PARQUET = JsonFormat(), CommaSeparatedFormat(), ParquetFormat()
TEXT = "Ann Lee, 34, lives here."
# As ai4privacy has it: values in a list of objects.
AI4PRIVACY = {
    "source_text": TEXT,
    "masked_text": "[NAME], [AGE], lives here.",
    "privacy_mask": [{"value": "Ann Lee", "start": 0, "end": 7, "label": "name"}, {"value": "34", "start": 9, "end": 11, "label": "age"}],
}
AI4PRIVACY_COLUMNS = "context=source_text,spans=privacy_mask,spans.type=label,spans.text=value"
# As Nemotron-PII has it: the text of a Python list.
NEMOTRON = {
    "uid": "7f",
    "text": TEXT,
    "spans": "[{'start': 0, 'end': 7, 'text': 'Ann Lee', 'label': 'name'}, {'start': 9, 'end': 11, 'text': '34', 'label': 'age'}]",
}
NEMOTRON_COLUMNS = "context=text,id=uid,spans.type=label"


def read(file_format: Any, path: Path, columns: str, tally: ReadTally | None = None, **options: Any) -> list[Record | RowReject]:
    named = dict(part.split("=") for part in columns.split(","))
    return list(file_format.read(path, ReadOptions(columns=named, **options, taxonomy=shipped_taxonomy()), tally or ReadTally()))


def marked(row: Record | RowReject) -> list[tuple[str, str]]:
    assert isinstance(row, Record), row
    return [(span.text_in(row.context), span.entity_type) for span in row.spans]


def written(path: Path, *rows: object) -> Path:
    """Write *rows* as the suffix of *path* says; objects in a CSV cell as JSON."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)  # type: ignore[arg-type] # dicts
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    else:
        quote = lambda cell: '"' + (cell if isinstance(cell, str) else json.dumps(cell)).replace('"', '""') + '"'  # noqa: E731
        lines = [",".join(rows[0]), *(",".join(map(quote, row.values())) for row in rows)]  # type: ignore[arg-type,attr-defined] # dicts
        path.write_text("\n".join(lines), encoding="utf-8")
    return path


FORMATS = [(JSON, "a.json"), (JSON, "a.jsonl"), (CSV, "a.csv"), (PARQUET, "a.parquet")]


@pytest.mark.parametrize(("file_format", "name"), FORMATS)
@pytest.mark.parametrize(("row", "columns"), [(AI4PRIVACY, AI4PRIVACY_COLUMNS), (NEMOTRON, NEMOTRON_COLUMNS)])
def test_known_layouts_are_read_from_any_kind_of_file(tmp_path: Path, file_format: Any, name: str, row: Any, columns: str) -> None:
    tally = ReadTally()
    (record,) = read(file_format, written(tmp_path / name, row), columns, tally)
    assert marked(record) == [("Ann Lee", "name"), ("34", "age")]
    assert isinstance(record, Record)
    assert record.source is not None
    assert (record.source.file, record.source.line, record.id == "7f") == (name, 2 if name == "a.csv" else 1, "uid" in row)
    assert dict(tally.ignored_fields) == ({"masked_text": 1} if row is AI4PRIVACY else {})


def test_labels_go_through_the_label_map(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", {**AI4PRIVACY, "privacy_mask": [{**AI4PRIVACY["privacy_mask"][0], "label": "Q17"}]})  # type: ignore[dict-item]
    (record,) = read(JSON, path, AI4PRIVACY_COLUMNS, label_map={"Q17": "name"})
    assert marked(record) == [("Ann Lee", "name")]
    (refused,) = read(JSON, path, AI4PRIVACY_COLUMNS)
    assert isinstance(refused, RowReject)
    assert refused.reason == "spans[0].type: not one of the known types"


def test_dotted_names_reach_nested_keys_unless_a_column_has_that_name(tmp_path: Path) -> None:
    spans = [{"at": {"from": 0, "to": 7}, "entity.name": "name", "entity": {"name": "age"}, "how": "high"}]
    row = {"doc": {"body": TEXT, "about": {"lang": "en_GB"}, "spans": spans}, "ask": "Where?", "n": 5}
    columns = (
        "context=doc.body,question=ask,locale=doc.about.lang,id=n,spans=doc.spans,"
        "spans.start=at.from,spans.end=at.to,spans.type=entity.name,spans.relevance=how"
    )
    for file_format, name in ((JSON, "a.json"), (PARQUET, "a.parquet")):
        (record,) = read(file_format, written(tmp_path / name, row), columns)
        assert marked(record) == [("Ann Lee", "name")]
        assert isinstance(record, Record)
        assert (record.id, record.locale, record.question, record.spans[0].relevance) == ("5", "en_GB", "Where?", "high")


@pytest.mark.parametrize(
    ("spans", "found"),
    [
        ({"start": [0, 9], "end": [7, 11], "type": ["name", "age"]}, ["Ann Lee", "34"]),  # as older versions of datasets write lists
        ([{"start": 9, "end": 11, "type": "age"}], ["34"]),
        ("[]", []),
        ([], []),
        ({"start": [0], "end": [], "type": []}, "spans: an object of lists that are not equally long"),
        ("[{", "spans: not valid JSON (column 3)"),
        ("__import__('os').getpid()", "spans: not valid JSON (column 1)"),
        ("[" * 20_000, "spans: JSON that cannot be read (nested too deeply, or a number too long)"),
        (None, "spans: neither a list of objects nor a text that holds one"),
        ("5", "spans: neither a list of objects nor a text that holds one"),
        ([5], "spans[0]: not an object"),
        ([{"end": 3, "type": "age"}], "spans[0].start: is missing"),
        ([{"start": 90, "end": 95, "type": "age"}], 'spans[0].text: "" has the range [90, 95), which is empty or outside the context'),
        ([{"start": 9, "end": 11, "type": "age", "text": "35"}], 'spans[0].text: "35" differs from context[9:11]'),
    ],
)
def test_shapes_of_spans(tmp_path: Path, spans: object, found: object) -> None:
    (row,) = read(JSON, written(tmp_path / "a.json", {"c": TEXT, "spans": spans}), "context=c,spans=spans")
    assert (row.reason if isinstance(row, RowReject) else [text for text, _ in marked(row)]) == found


def test_a_table_may_have_texts_only(tmp_path: Path) -> None:
    (record,) = read(CSV, written(tmp_path / "a.csv", {"c": TEXT, "spans": "no list"}), "context=c")
    assert marked(record) == []


def test_cells_of_others_are_read_as_they_are(tmp_path: Path) -> None:
    (record,) = read(CSV, written(tmp_path / "a.csv", {"c": "'=1 'tis", "q": ""}), "context=c,question=q")
    assert isinstance(record, Record)
    assert (record.context, record.question) == ("'=1 'tis", None)


@pytest.mark.parametrize(("file_format", "name"), FORMATS)
@pytest.mark.parametrize("columns", ["context=txt,spans=spans", "context=text,spans=labels", "context=text,question=qestion.a"])
def test_a_column_that_is_not_there_is_an_error_with_those_that_are(tmp_path: Path, file_format: Any, name: str, columns: str) -> None:
    missing = next(name for name in ("txt", "labels", "qestion") if name in columns)
    with pytest.raises(DataError, match=rf"{name}: there is no column '{missing}.*; there are: .*'uid', 'text'.*--columns"):
        read(file_format, written(tmp_path / name, NEMOTRON, NEMOTRON), columns)


def test_a_row_without_the_context_is_refused_and_others_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", {"other": 1}, {"c": None}, {"c": TEXT}, {"c": 5})
    assert [row.reason if isinstance(row, RowReject) else row.context for row in read(JSON, path, "context=c")] == [
        "context: the row has no 'c'",
        "context: there is no text in it",
        TEXT,
        "context: must be text",
    ]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("context=text,span=b", "there is no field 'span'"),
        ("context=text,spans.label=b", r"there is no field 'spans\.label'"),
        ("spans=spans", "the column of the context is not named"),
    ],
)
@pytest.mark.parametrize(("file_format", "name"), FORMATS)
def test_a_field_that_records_do_not_have_is_refused(tmp_path: Path, file_format: Any, name: str, columns: str, reason: str) -> None:
    with pytest.raises(UsageError, match=f"{reason}.*Write context=COLUMN"):
        read(file_format, written(tmp_path / name, NEMOTRON), columns)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records())
def test_json_comes_back_equal(record: Record, tmp_path: Path) -> None:
    assert written_again(JSON, tmp_path / "a.json", [record]) == [record]


@pytest.mark.long
def test_real_records_and_a_large_one_come_back_equal_from_json(tmp_path: Path) -> None:
    items = [*real_records(), one_megabyte()]
    assert written_again(JSON, tmp_path / "a.json", items) == items


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{}", "context: is missing"),
        ("[5]", "not a JSON object"),
        ('["\\ud83d"]', "a text holds a lone surrogate (half of a character), which UTF-8 cannot hold"),
        ("5\n", "not a JSON object"),
    ],
)
def test_json_that_is_no_row_is_refused_with_its_number(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    (refused,) = JSON.read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert isinstance(refused, RowReject)
    assert (refused.line, refused.reason) == (1, reason)


def test_json_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"context": "a"},\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.json:2: the file is not valid JSON"):
        list(JSON.read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    path.write_text("", encoding="utf-8")
    assert list(JSON.read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())) == []
