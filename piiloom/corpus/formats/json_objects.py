"""A JSON array of objects, or JSON lines: native rows, and with ``ReadOptions.columns`` objects of any other shape.

Keys may be dotted paths to nested ones. Written is an array of native rows, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from piiloom.corpus.formats.base import LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import Columns
from piiloom.corpus.formats.json_rows import array_rows, numbered_lines, parse_object, read_rows, write_array
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record


class JsonFormat(NativeShapedFormat):
    """The JSON format; see the module docstring."""

    name = "json"
    suffix = ".json"

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``; in an array, which is read as a whole, an object's number is its line."""
        columns = Columns(path.name, options, tally)
        first = next(numbered_lines(path), (1, ""))[1]
        rows = array_rows(path) if first.lstrip().startswith("[") else numbered_lines(path)
        yield from read_rows(rows, lambda number, text: make(number, columns.native(parse_object(text))), tally)
        columns.check_all_seen()

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write one object per record; nothing is lost."""
        write_array(map(row_of, records), path)
        return LossReport()
