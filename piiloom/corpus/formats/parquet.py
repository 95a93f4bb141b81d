"""Parquet, one row a record: lossless; and tables that others wrote, with ``ReadOptions.columns``.

``spans`` is a list of structs; ``meta`` is the ``meta`` of the native format as a JSON text. Where a file has class labels of Hugging
Face ``datasets``, their names are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from piiloom.corpus.formats.arrow_rows import parquet_columns, parquet_rows, write_parquet
from piiloom.corpus.formats.base import Json, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import ALL_FIELDS, Columns
from piiloom.corpus.formats.native_rows import RowFault, read_rows
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record


class ParquetFormat(NativeShapedFormat):
    """The Parquet format; see the module docstring."""

    name = "parquet"
    suffix = ".parquet"
    column_fields = ALL_FIELDS

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``; the number of a row takes the place of a line."""
        columns = Columns(path, options, tally)

        def made(number: int, row: Json | RowFault) -> Made:
            if isinstance(row, RowFault):
                raise row
            return make(number, columns.native(row))

        columns.check_header(parquet_columns(path))
        yield from read_rows(parquet_rows(path), made, tally, shown=_shown)
        columns.check_all_seen()

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write one row per record; nothing is lost."""
        write_parquet(records, path)
        return LossReport()


def _shown(row: Json | RowFault) -> str:
    return "" if isinstance(row, RowFault) else json.dumps(row, ensure_ascii=False, default=str)
