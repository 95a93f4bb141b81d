"""BRAT, Label Studio, presidio-evaluator and Argilla: whatever the record, it comes back equal or is named in the loss report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from record_strategies import records
from tool_examples import composed_records, hard_record, marked, real_records, written_and_read

from piiloom.corpus.formats import brat, label_studio
from piiloom.corpus.formats.base import ReadableFormat, ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import shipped_taxonomy

NAMES = ("brat", "label-studio", "presidio", "argilla")
NAMED = {
    "brat": {brat.TRIMMED, brat.UNMARKED},
    "label-studio": {f"question: {label_studio.EMPTY_QUESTION}"},
}


@pytest.mark.parametrize("name", NAMES)
def test_emoji_line_breaks_and_all_parts_of_spans_come_back(name: str, tmp_path: Path) -> None:
    record = hard_record()
    back, report = written_and_read(get_format(name), [record], tmp_path / "out")
    assert back == [record]
    assert report.fields == ()
    assert report.entries == ()


@pytest.mark.parametrize("name", NAMES)
def test_one_megabyte_and_no_spans_and_order(name: str, tmp_path: Path) -> None:
    long = marked("wörd 👩‍🚀\r\n" * 100_000 + "Ann", ("Ann", "name", None, None), id="long")
    items = [long, marked("nothing here", id="z"), marked("Bo", ("Bo", "name", None, "low"), id="a")]
    assert written_and_read(get_format(name), items, tmp_path / "out")[0] == items


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records())
def test_any_record_comes_back_or_is_named(name: str, record: Record, tmp_path: Path) -> None:
    assume(record.context.strip())
    path = tmp_path / "out"
    if path.is_dir():
        shutil.rmtree(path)
    back, report = written_and_read(get_format(name), [record], path)
    if back == [record]:
        assert report.entries == ()
    else:
        assert {entry.reason for entry in report.entries} <= NAMED[name]
        assert {entry.record_id for entry in report.entries} == {record.id}
        (again,) = back
        assert isinstance(again, Record)
        assert (again.context, again.locale, again.provenance) == (record.context, record.locale, record.provenance)
        untouched = {span for span in record.spans if span.text_in(record.context) not in {entry.value for entry in report.entries}}
        assert untouched <= set(again.spans)


KEYS = (
    *("data", "text", "annotations", "result", "value", "labels", "id", "type", "from_name", "start", "end", "choices", "meta", "piiloom"),
    *(
        "full_text",
        "spans",
        "entity_type",
        "entity_value",
        "start_position",
        "end_position",
        "metadata",
        "fields",
        "responses",
        "pii",
        "label",
    ),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-2, 9), st.sampled_from(["name", "labels", "relevance", "high", "abc", "{}"]))
JSONS = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)), max_leaves=30
)


@pytest.mark.long
@pytest.mark.parametrize("name", ["label-studio", "presidio", "argilla"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=st.lists(st.dictionaries(st.sampled_from(KEYS), JSONS, max_size=8), min_size=1, max_size=3))
def test_any_json_is_read_or_refused(name: str, rows: list[object], tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    file_format = get_format(name)
    assert isinstance(file_format, ReadableFormat)
    found = list(file_format.read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    assert len(found) == len(rows)
    assert all(row.reason for row in found if isinstance(row, RowReject))


ANN_LINES = st.lists(st.sampled_from('T1 A1 # E1 \t name Relevance AnnotatorNotes 0 1 3;3 5 99 high {"id":'.split(" ")), max_size=9).map(
    " ".join
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.one_of(ANN_LINES, ANN_LINES.map(lambda line: line.replace(" ", "\t", 1)), st.text()), max_size=4))
def test_any_ann_file_is_read_or_refused(lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"ab cd\nef")
    (tmp_path / "a.ann").write_bytes("\n".join(lines).encode())
    (row,) = brat.BratFormat().read(tmp_path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert isinstance(row, Record) or row.reason.startswith('"a": ')


@pytest.mark.parametrize("name", NAMES)
def test_equal_records_give_equal_bytes(name: str, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        written_and_read(get_format(name), [hard_record()], tmp_path / folder)
    first, second = (
        {
            file.relative_to(tmp_path / side): file.read_bytes()
            for file in sorted([tmp_path / side, *(tmp_path / side).rglob("*")])
            if file.is_file()
        }
        for side in ("a", "b")
    )
    assert first == second
    assert first


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_real_records_and_composed_ones_come_back(name: str, tmp_path: Path) -> None:
    items = [*real_records(), *composed_records(tmp_path, 60)]
    assert len(items) > 600
    back, report = written_and_read(get_format(name), items, tmp_path / "out")
    assert back == items
    assert report.entries == ()
