"""Write the mirrors of Parquet and Arrow files: the same schema and metadata, with the changed cells.

If no cell has changed, the result is a byte-for-byte copy of the input file.
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from piiloom.surrogates.inputs.arrow_files import ArrowFile
from piiloom.surrogates.inputs.column_rows import changed_table
from piiloom.surrogates.inputs.parquet_files import RowCursor, arrow_modules, open_table
from piiloom.surrogates.inputs.parts import InputFile, ParquetLayout, Part

_ROW_GROUP_BYTES: Final = 64 * 2**20


class _TableMirror(ABC):
    """Collects the rows of parts, and has whole groups of rows written."""

    def __init__(self, file: InputFile, target: Path) -> None:
        self._file, self._target = file, target
        self._pyarrow, _ = arrow_modules()
        layout = file.layout
        assert isinstance(layout, ParquetLayout)  # noqa: S101 - such a file has one
        self._cursor = RowCursor(file, None, layout.batch)
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0
        self._changed = False

    def write(self, part: Part, data: bytes) -> None:
        """Add the rows of *part*, changed as *data* says."""
        if part.end == part.start:
            return
        table = changed_table(self._cursor.take(part.start, part.end), data)
        self._changed = self._changed or bool(data)
        self._waiting.append(table)
        self._rows += table.num_rows
        self._bytes += table.nbytes
        self._full()

    @abstractmethod
    def _full(self) -> None:
        """Write the waiting rows if there are enough of them."""

    @abstractmethod
    def _end(self) -> None:
        """Write the waiting rows, and end the file."""

    def _taken(self) -> Any:
        """Return all waiting rows as one table."""
        table = self._pyarrow.concat_tables(self._waiting)
        self._waiting, self._rows, self._bytes = [], 0, 0
        return table

    def close(self) -> None:
        """Write the rest, and close the file."""
        try:
            self._end()
        finally:
            self._cursor.close()
        if not self._changed:
            with self._file.path.open("rb") as source, self._target.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)


class ParquetMirror(_TableMirror):
    """Writes a Parquet file with the same compression, and row groups of about the same size."""

    def __init__(self, file: InputFile, target: Path) -> None:
        super().__init__(file, target)
        _, parquet = arrow_modules()
        with open_table(file) as source:
            schema, meta = source.schema_arrow, source.metadata
            group = meta.row_group(0) if meta.num_row_groups else None
            packing = group.column(0).compression.lower() if group is not None and group.num_columns else "snappy"
            self._group_rows = group.num_rows if group is not None else 1
        self._writer: Any = parquet.ParquetWriter(target, schema, compression="none" if packing == "uncompressed" else packing)

    def _full(self) -> None:
        if self._rows >= self._group_rows or self._bytes >= _ROW_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            rows = self._rows
            self._writer.write_table(self._taken(), row_group_size=max(rows, 1))

    def _end(self) -> None:
        try:
            self._flush()
        finally:
            self._writer.close()


class ArrowMirror(_TableMirror):
    """Writes an Arrow file of the same kind, stream or indexed, with record batches of the same numbers of rows."""

    def __init__(self, file: InputFile, target: Path) -> None:
        super().__init__(file, target)
        ipc = import_module("pyarrow.ipc")
        with ArrowFile(file.path, file.name) as source:
            self._sizes = source.batch_sizes()[::-1]
            make = ipc.new_file if source.indexed else ipc.new_stream
            self._sink = self._pyarrow.OSFile(str(target), "wb")
            self._writer: Any = make(self._sink, source.schema_arrow)

    def _full(self) -> None:
        if not self._sizes or self._rows < self._sizes[-1]:
            return
        table = self._taken()
        at = 0
        while self._sizes and table.num_rows - at >= self._sizes[-1]:
            rows = self._sizes.pop()
            batch = table.slice(at, rows).combine_chunks()
            self._writer.write_table(batch, max_chunksize=max(rows, 1))
            at += rows
        if at < table.num_rows:
            self._waiting, self._rows = [table.slice(at)], table.num_rows - at

    def _end(self) -> None:
        try:
            if self._waiting:
                self._writer.write_table(self._taken().combine_chunks())
        finally:
            self._writer.close()
            self._sink.close()
