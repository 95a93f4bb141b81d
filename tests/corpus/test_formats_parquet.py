"""Parquet: whatever is written comes back, in row groups; tables of others, damaged files and rows that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_strategies import records
from round_trips import composed_records, one_megabyte, real_records, written_again

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.lossless import ParquetFormat
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.shared_files import of_whole

PARQUET = ParquetFormat()
GOOD = {
    "context": "As a baker with asthma, I cough.",
    "spans": [{"start": 16, "end": 22, "text": "asthma", "type": "health", "relevance": "high"}],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.parquet"


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(items=st.tuples(records("a"), records("b")))
def test_any_record_comes_back_equal(items: tuple[Record, ...], tmp_path: Path) -> None:
    assert written_again(PARQUET, tmp_path / "rows.parquet", items) == list(items)


def test_real_records_and_a_large_one_come_back_equal(file: Path) -> None:
    items = [*real_records(), one_megabyte()]
    assert len(items) > of_whole(480, 20)
    assert written_again(PARQUET, file, items) == items


@pytest.mark.long
def test_composed_records_come_back_equal(file: Path) -> None:
    assert written_again(PARQUET, file, composed_records()) == list(composed_records())


def test_the_columns_are_the_documented_ones(file: Path) -> None:
    record = Record(id="a", context="I am Ann.", spans=(Span(id="s1", start=5, end=8, entity_type="name", subject="self"),))
    PARQUET.write([record], file, WriteOptions(taxonomy=shipped_taxonomy()))
    (row,) = pq.read_table(file).to_pylist()
    span = {"start": 5, "end": 8, "text": "Ann", "type": "name", "relevance": None, "id": "s1", "subject": "self"}
    assert row.pop("spans") == [{**span, "subtype": None, "value_id": None}]
    assert json.loads(row.pop("meta")) == row_of(record)["meta"]
    assert row == {"id": "a", "locale": "en_US", "context": "I am Ann.", "question": None}


def test_batches_end_by_records_and_by_characters(file: Path) -> None:
    short = (Record(id=str(number), context="a") for number in range(4_500))
    PARQUET.write(short, file, WriteOptions(taxonomy=shipped_taxonomy()))
    about = pq.ParquetFile(file).metadata
    assert [about.row_group(group).num_rows for group in range(about.num_row_groups)] == [2000, 2000, 500]
    long = (Record(id=str(number), context="a" * 1_500_000) for number in range(4))
    PARQUET.write(long, file, WriteOptions(taxonomy=shipped_taxonomy()))
    assert pq.ParquetFile(file).metadata.num_row_groups == 2


def test_no_records_make_a_file_without_rows(file: Path) -> None:
    assert written_again(PARQUET, file, []) == []


def test_a_text_with_a_lone_surrogate_is_refused_with_the_record(file: Path) -> None:
    good = Record(id="good", context="fine")
    for bad in (Record(id="bad", context="\ud83d"), Record(id="bad", context="a", question="\ud83d"), Record(id="bad\ud83d", context="a")):
        with pytest.raises(DataError, match=r"record bad.*lone surrogate"):
            PARQUET.write([good, bad], file, WriteOptions(taxonomy=shipped_taxonomy()))


def test_a_wrong_row_is_refused_with_its_number_and_the_others_are_read(file: Path) -> None:
    wrong = {**GOOD, "spans": [{**GOOD["spans"][0], "text": "asthm\u0301"}]}  # type: ignore[dict-item] # a list of dicts
    pq.write_table(pa.Table.from_pylist([GOOD, wrong, GOOD]), file)
    tally = ReadTally()
    before, refused, after = PARQUET.read(file, ReadOptions(taxonomy=shipped_taxonomy()), tally)
    assert isinstance(before, Record)
    assert isinstance(after, Record)
    assert isinstance(refused, RowReject)
    assert (refused.line, tally.rows, tally.line) == (2, 3, 3)
    assert refused.reason.startswith("spans[0].text: ")
    assert json.loads(refused.row) == wrong
    assert before.source is not None
    assert (before.source.file, before.source.line, after.source and after.source.line) == ("rows.parquet", 1, 3)


def test_a_text_that_is_not_utf8_is_refused_alone(file: Path) -> None:
    texts = pa.array([b"good one", b"\xff\xfe", b"good two"], pa.binary()).cast(pa.string(), safe=False)
    spans = pa.array([[], [], []], pa.list_(pa.struct([("start", pa.int32())])))
    pq.write_table(pa.table({"context": texts, "spans": spans}), file)
    first, refused, last = PARQUET.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert [row.context for row in (first, last) if isinstance(row, Record)] == ["good one", "good two"]
    assert refused == RowReject(line=2, reason="a text of the row is not UTF-8", row="")


def test_what_is_no_parquet_file_or_half_of_one_is_an_error(file: Path, tmp_path: Path) -> None:
    PARQUET.write(real_records()[:50], file, WriteOptions(taxonomy=shipped_taxonomy()))
    whole = file.read_bytes()
    for content in (b"", b'{"context": "a"}', whole[: len(whole) // 2]):
        file.write_bytes(content)
        with pytest.raises(DataError, match=r"rows\.parquet: the file is not a Parquet file, or is damaged"):
            list(PARQUET.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    file.write_bytes(whole[:200] + b"\0" * 400 + whole[600:])
    with pytest.raises(DataError, match="damaged"):
        list(PARQUET.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    with pytest.raises(DataError, match="cannot be read"):
        list(PARQUET.read(tmp_path / "nowhere.parquet", ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))


def test_a_table_without_the_columns_tells_those_that_it_has(file: Path) -> None:
    pq.write_table(pa.table({"text": ["a"], "labels": ["b"]}), file)
    with pytest.raises(DataError, match=r"no column 'context'; there are: 'text', 'labels'.*--columns"):
        list(PARQUET.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
