"""BRAT, Label Studio, presidio-evaluator and Argilla: whatever the record, it comes back equal or is named in the loss report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from record_strategies import records
from tool_examples import composed_records, hard_record, marked, real_records, written_and_read

from piiloom.corpus.formats import brat, label_studio
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.record import Record

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
