"""CSV (RFC 4180, UTF-8), one row a record, safe to open in a spreadsheet: lossless; and tables of others, with ``ReadOptions.columns``.

``spans`` and ``meta`` are JSON texts. A spreadsheet takes a cell that begins with ``=`` for a formula, so the text of a cell gets an
apostrophe in front if, after any apostrophes that it begins with, it

- goes on with ``=``, ``+``, ``-``, ``@``, a tab, a line end, or one of the full-width signs ``＝＋－＠``, or
- ends: an empty cell is null, so that an empty text is ``'``, and the text ``'`` is ``''``.

Reading takes one apostrophe away from cells that look so; every text comes back. Cells of tables of others are read as they are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from piiloom.corpus.formats.base import LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import ALL_FIELDS, Columns
from piiloom.corpus.formats.native_rows import RowFault, decoded_lines, json_bytes, read_rows, row_of, unencodable
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record
from piiloom.foundation.errors import DataError

_HEADER: Final = ("id", "locale", "context", "question", "spans", "meta")
_RISKY: Final = re.compile(r"'*(?:[=+\-@\t\r\n＝＋－＠]|\Z)")
_ESCAPED: Final = re.compile(r"'+(?:[=+\-@\t\r\n＝＋－＠]|\Z)")
# An open quotation mark makes one cell of the rest of a file; this many characters of it are read.
_LONGEST_CELL: Final = 64 * 1024 * 1024


class CommaSeparatedFormat(NativeShapedFormat):
    """The CSV format; see the module docstring."""

    name = "csv"
    suffix = ".csv"
    column_fields = ALL_FIELDS

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``; the line of a row is its first."""
        columns = Columns(path, options, tally)
        rows = csv_rows(path)
        header = csv_header(path, rows)
        columns.check_header(header)
        text_of = _foreign if columns.named or "context" not in header else _unescaped

        def made(number: int, row: TableRow) -> Made:
            if row.fault is not None:
                raise RowFault(row.fault)
            if len(row.cells) != len(header):
                raise RowFault(f"the row has {len(row.cells)} cells, the header {len(header)}")
            return make(number, columns.native(dict(zip(header, map(text_of, row.cells), strict=True))))

        yield from read_rows(rows, made, tally, shown=lambda row: row.text)
        columns.check_all_seen()

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write one row per record; nothing is lost. Raises ``DataError`` for a text that UTF-8 cannot hold."""
        with path.open("w", encoding="utf-8", newline="") as fh:
            writer = csv.writer(fh, lineterminator="\r\n")
            writer.writerow(_HEADER)
            for record in records:
                row = row_of(record)
                try:
                    row |= {name: json_bytes(row[name]).decode() for name in ("spans", "meta")}
                    writer.writerow([_escaped(row[name]) for name in _HEADER])
                except UnicodeEncodeError as error:
                    raise unencodable([record]) from error
        return LossReport()


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row as it stands in the file, and its cells, or why it has none."""

    text: str
    cells: list[str]
    fault: str | None = None


def csv_rows(path: Path, delimiter: str = ",") -> Iterator[tuple[int, TableRow]]:
    """Yield (1-based number of the first line, row) of *path*, but for blank lines; raises ``DataError`` if it cannot be read."""
    if csv.field_size_limit() < _LONGEST_CELL:
        csv.field_size_limit(_LONGEST_CELL)
    taken: list[str] = []
    rows = csv.reader(_lines(path, taken), strict=True, delimiter=delimiter)
    while True:
        taken.clear()
        number = rows.line_num + 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, TableRow("".join(taken).rstrip("\r\n"), [], f"not valid CSV ({error})")
        else:
            if cells:
                yield number, TableRow("".join(taken).rstrip("\r\n"), cells)


def _lines(path: Path, taken: list[str]) -> Iterator[str]:
    r"""Yield the lines of *path*, which end only at ``\n``, and append them to *taken*."""
    for _, line in decoded_lines(path):
        taken.append(line)
        yield line


def csv_header(path: Path, rows: Iterator[tuple[int, TableRow]]) -> list[str]:
    """Return the names of the columns, the first of *rows*; raises ``DataError`` if there is none or a name comes twice."""
    number, row = next(rows, (1, TableRow("", [], "the file is empty")))
    fault = row.fault or ("the header names a column twice" if len(set(row.cells)) < len(row.cells) else None)
    if fault is not None:
        remedy = "The first row must name the columns, separated by commas"
        raise DataError(fault, where=f"{path.name}:{number}", remedy=remedy)
    return row.cells


def _escaped(text: object) -> str:
    if text is None:
        return ""
    return f"'{text}" if _RISKY.match(str(text)) else str(text)


def _unescaped(cell: str) -> str | None:
    return (cell[1:] if _ESCAPED.match(cell) else cell) if cell else None


def _foreign(cell: str) -> str | None:
    return cell or None
