"""CSV: whatever is written comes back and no cell is a formula; broken files and rows that are refused."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from record_strategies import records
from round_trips import composed_records, one_megabyte, real_records, written_again

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.lossless import CommaSeparatedFormat
from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import shipped_taxonomy

CSV = CommaSeparatedFormat()
SPANS = '"[{""start"": 5, ""end"": 8, ""text"": ""Ann"", ""type"": ""name""}]"'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def cells_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as fh:
        return list(csv.reader(fh))


def read(path: Path, content: str, tally: ReadTally | None = None) -> list[Record | RowReject]:
    path.write_text(content, encoding="utf-8", newline="")
    return list(CSV.read(path, ReadOptions(taxonomy=shipped_taxonomy()), tally or ReadTally()))


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(items=st.tuples(records("a"), records("b")))
def test_any_record_comes_back_equal(items: tuple[Record, ...], tmp_path: Path) -> None:
    assert written_again(CSV, tmp_path / "rows.csv", items) == list(items)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text("'=+-@\t\r\n＝＋－＠a,\"", max_size=5), question=st.one_of(st.none(), st.text("'=@\r\n", max_size=4)))
@example(text='=HYPERLINK("x")', question="")
@example(text="'=1", question="'")
@example(text="''", question=None)
def test_no_cell_is_a_formula_and_every_text_comes_back(text: str, question: str | None, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    record = Record(id=text or "id", context=text, question=question)
    assert written_again(CSV, path, [record]) == [record]
    _, cells = cells_of(path)
    assert not [cell for cell in cells if cell and cell[0] in "=+-@\t\r\n＝＋－＠"]


def test_the_layout_is_the_documented_one(file: Path) -> None:
    record = Record(id="a", context="I am Ann.", question="=1+1", spans=(Span(id="s1", start=5, end=8, entity_type="name"),))
    CSV.write([record], file, WriteOptions(taxonomy=shipped_taxonomy()))
    assert file.read_bytes().decode() == (
        "id,locale,context,question,spans,meta\r\n"
        "a,en_US,I am Ann.,'=1+1,"
        '"[{""start"":5,""end"":8,""text"":""Ann"",""type"":""name"",""relevance"":null,""id"":""s1""}]",'
        '"{""source"":null}"\r\n'
    )


def test_real_records_and_a_large_one_come_back_equal(file: Path) -> None:
    items = [*real_records(), one_megabyte()]
    assert written_again(CSV, file, items) == items


@pytest.mark.long
def test_composed_records_come_back_equal(file: Path) -> None:
    assert written_again(CSV, file, composed_records()) == list(composed_records())


def test_a_text_with_a_lone_surrogate_is_refused_with_the_record(file: Path) -> None:
    with pytest.raises(DataError, match=r"record bad: .*lone surrogate"):
        CSV.write([Record(id="good", context="a"), Record(id="bad", context="\ud83d")], file, WriteOptions(taxonomy=shipped_taxonomy()))


def test_wrong_rows_are_refused_with_their_first_line_as_they_stand(file: Path) -> None:
    good = f'context,spans\r\n"I am Ann,\r\nno?",{SPANS}\r\n\r\n'
    content = f'{good}I am Ann.,{SPANS},more\r\n"a"b,[]\r\nI am Ann.,{{}}\r\nI am Ann.,[\r\nI am Ann.,{SPANS}\n'
    tally = ReadTally()
    first, *refused, last = read(file, content, tally)
    assert isinstance(first, Record)
    assert isinstance(last, Record)
    assert (first.context, last.context, tally.rows) == ("I am Ann,\r\nno?", "I am Ann.", 6)
    assert last.source is not None
    assert last.source.line == 9
    assert [(row.line, row.reason, row.row) for row in refused if isinstance(row, RowReject)] == [
        (5, "the row has 3 cells, the header 2", f"I am Ann.,{SPANS},more"),
        (6, "not valid CSV (',' expected after '\"')", '"a"b,[]'),
        (7, "spans: must be a list", "I am Ann.,{}"),
        (8, "not valid JSON (column 2)", "I am Ann.,["),
    ]


def test_a_half_written_file_gives_its_last_row_as_a_reject(file: Path) -> None:
    whole, half = read(file, f'context,spans\nI am Ann.,{SPANS}\n"I am An')
    assert isinstance(whole, Record)
    assert isinstance(half, RowReject)
    assert (half.line, half.reason, half.row) == (3, "not valid CSV (unexpected end of data)", '"I am An')


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("", r"rows\.csv:1: the file is empty"),
        ("a,b,a\n", r"rows\.csv:1: the header names a column twice"),
        ('"a\n', r"rows\.csv:1: not valid CSV"),
        ("text;spans\n", r"rows\.csv: there is no column 'context'; there are: 'text;spans'"),
    ],
)
def test_a_file_without_a_header_of_ours_is_an_error(file: Path, content: str, error: str) -> None:
    with pytest.raises(DataError, match=error):
        read(file, content)


def test_a_byte_order_mark_is_dropped_and_a_file_that_is_not_utf8_an_error(file: Path) -> None:
    (record,) = read(file, f"\ufeffcontext,spans\nI am Ann.,{SPANS}\n")
    assert isinstance(record, Record)
    file.write_bytes(b"context,spans\n\xe4,[]\n")
    with pytest.raises(DataError, match=r"rows\.csv:2: the file is not UTF-8"):
        list(CSV.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    with pytest.raises(DataError, match="cannot be read"):
        list(CSV.read(file.with_name("nowhere.csv"), ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
