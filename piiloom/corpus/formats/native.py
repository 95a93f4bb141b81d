"""Native JSONL: lossless, so that a record that is written and read again is equal.

Reading verifies that every span's ``text`` equals ``context[start:end]``; ``piiloom.corpus.formats.row_reading`` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from piiloom.corpus.formats.base import LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import ALL_FIELDS
from piiloom.corpus.formats.json_objects import JsonFormat
from piiloom.corpus.formats.native_rows import numbered_lines, parse_object, read_rows, row_of, write_rows
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record


class NativeFormat(NativeShapedFormat):
    """The native format; see the module docstring."""

    name = "native"
    suffix = ".jsonl"
    column_fields = ALL_FIELDS

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``; a row without ``id`` gets a digest of its content."""
        if options.columns:
            return JsonFormat().read_with(path, options, tally, make)
        return read_rows(numbered_lines(path), lambda number, line: make(number, parse_object(line)), tally)

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write one row per record; nothing is lost."""
        write_rows(map(row_of, records), path)
        return LossReport()
