from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.parts import CannotSpell, TableLayout
from piiloom.surrogates.inputs.tables import table_rows
from tests.surrogates.inputs.reading_files import mirrored, read
from tests.surrogates.running_fakes import TagEngine

CELLS = st.lists(st.sampled_from(["[NAME]", '"', ",", "\n", "\r\n", "a", "é", " ", "\t", "''"]), max_size=5).map("".join)


@pytest.mark.long
@given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=6),
    delimiter=st.sampled_from([",", ";", "\t"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    ends=st.sampled_from(["\n", "\r\n"]),
    chunk=st.integers(1, 80),
)
def test_tables_come_back_as_they_were_and_changed_only_where_told(
    tmp_path_factory: pytest.TempPathFactory, rows, delimiter, quoting, ends, chunk
) -> None:
    path = tmp_path_factory.getbasetemp() / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as fh:
        csv.writer(fh, delimiter=delimiter, quoting=quoting, lineterminator=ends).writerows([["n", "text"], *rows])
    how = {"delimiter": delimiter, "chunk_bytes": chunk, "text_fields": ("text",)}
    assert [one.text for one in read(path, **how)] == [row[1] for row in rows]
    assert mirrored(path, **how)[0] == path.read_bytes()
    data, replaced = mirrored(path, TagEngine(), **how)
    new = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))
    assert new[1:] == [[row[0], done.text] for row, done in zip(rows, replaced, strict=True)]


@given(raw=st.lists(st.sampled_from(["a", '"', ",", "\n", "\r", " ", "é", '""']), max_size=14).map("".join))
def test_any_signs_are_read_as_pythons_csv_reads_them(raw: str) -> None:
    layout = TableLayout(",", quoted=True, columns=(), ids=None, head=False)
    try:
        ours = [[cell.value for cell in row] for row in table_rows(raw, layout)]
    except ValueError:
        # Python takes a field that nobody closed to go on to the end; we refuse it.
        with pytest.raises(csv.Error):
            list(csv.reader(io.StringIO(raw, newline=""), strict=True))
        return
    # A blank line is a row without fields there, and one with an empty field here.
    theirs = [row or [""] for row in csv.reader(raw.splitlines(keepends=True) if "\r" in raw else io.StringIO(raw, newline=""))]
    assert ours == theirs


@given(
    raw=st.lists(st.sampled_from(["a", '"', ",", "\n", "\r\n", " ", "[NAME]", '"[NAME]"']), max_size=14).map("".join),
    chunk=st.integers(1, 9),
    quoting=st.sampled_from(["csv", "none"]),
)
def test_broken_tables_come_back_or_are_refused(tmp_path_factory: pytest.TempPathFactory, raw, chunk, quoting) -> None:
    path = tmp_path_factory.getbasetemp() / "broken.csv"
    path.write_bytes(raw.encode())
    how = {"delimiter": ",", "chunk_bytes": chunk, "text_fields": ("1",), "header": False, "quoting": quoting}
    try:
        whole = read(path, **{**how, "chunk_bytes": 1000})
    except (DataError, UsageError):
        return
    assert read(path, **how) == whole
    assert mirrored(path, **how)[0] == path.read_bytes()


def test_only_the_changed_field_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text,x\r\n1,[NAME] here, "odd"y\r\n2,"say ""hi"" to [NAME]",z\r\n')
    data, _ = mirrored(path, TagEngine(values=('O"N, Jr',)))
    assert data == b'id,text,x\r\n1,"O""N, Jr here", "odd"y\r\n2,"say ""hi"" to O""N, Jr",z\r\n'
    assert [one.id for one in read(path)] == ["1", "2"]


def test_lines_are_those_where_rows_begin(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('n,text\n1,"a\nb"\n\n2,c\n', newline="")
    assert [(one.line, one.id) for one in read(path)] == [(2, "a.csv:2"), (5, "a.csv:5")]


def test_columns_by_number_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("one\tx\ti1\ntwo\ty\ti2\n")
    found = read(path, header=False, text_fields=("1", "2"), id_field="3")
    assert [(one.id, one.text) for one in found] == [("i1#1", "one"), ("i1#2", "x"), ("i2#1", "two"), ("i2#2", "y")]


def test_quotes_of_a_tsv_are_the_texts_own_where_they_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('text\tn\n"What?" [NAME] said\t1\n"unclosed\t2\n')
    assert [one.text for one in read(path)] == ['"What?" [NAME] said', '"unclosed']
    assert mirrored(path)[0] == path.read_bytes()
    with pytest.raises(CannotSpell):
        mirrored(path, TagEngine(values=("a\tb",)))
    path.write_text('text\tn\n"say ""hi""\tthere"\t1\n')
    assert [one.text for one in read(path)] == ['say "hi"\tthere']


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "a, b, b"),
        ({"text_fields": ("c",)}, "no column 'c'; the table has: a, b, b"),
        ({"text_fields": ("a", "c")}, "no column 'c'; the table has: a, b, b"),
        ({"text_fields": ("b",)}, "two columns"),
        ({"text_fields": ("9",)}, "a, b, b"),
        ({"text_fields": ("a",), "id_field": "c"}, "no column 'c'; the table has: a, b, b. Name another with --id-field"),
        ({"text_fields": ("a", "1")}, "same column"),
        ({"text_fields": ("a",), "header": False}, "number from 1 to 3"),
    ],
)
def test_columns_that_are_not_there_are_named_with_those_that_are(tmp_path: Path, settings: dict, words: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,b\n1,2,3\n")
    with pytest.raises(UsageError, match=words):
        read(path, **settings)


def test_of_many_columns_a_dozen_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    names = [f"c{number}" for number in range(1, 16)]
    path.write_text("\t".join(names) + "\n")
    for settings in ({"text_fields": ("nothing",)}, {}):
        with pytest.raises(UsageError, match=rf"the table has: {', '.join(names[:12])} and 3 more\. Name") as caught:
            read(path, **settings)
        assert caught.value.where == "a.tsv"


def test_of_several_tables_each_may_have_other_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\none\n")
    (tmp_path / "b.csv").write_text("b\ntwo\n")
    assert [one.text for one in read(tmp_path, text_fields=("a", "b"))] == ["one", "two"]


def test_an_unclosed_quote_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('text\nfine\n"secret\nwords')
    with pytest.raises(DataError, match=r"a\.csv:3: a quoted field is not closed") as caught:
        read(path)
    assert "secret" not in str(caught.value)


def test_short_rows_have_no_document(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("n,text\n1\n2,x\n")
    assert [one.text for one in read(path)] == ["x"]
    assert mirrored(path)[0] == path.read_bytes()


@pytest.mark.parametrize(("line", "delimiter"), [("n;text", ";"), ("n|text", "|"), ("n\ttext", "\t"), ('"a;b;c",text', ",")])
def test_the_delimiter_is_seen_in_the_first_line(tmp_path: Path, line: str, delimiter: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{line}\n1{delimiter}x\n")
    assert [one.text for one in read(path)] == ["x"]
