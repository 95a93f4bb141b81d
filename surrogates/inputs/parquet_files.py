"""Parquet files: texts are in string columns; rows take the place of lines. pyarrow is imported only if there is such a file."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.faults import no_column, shown
from piiloom.surrogates.inputs.parts import NO_TEXT, Found, Notes, ParquetLayout, Parsed, Part
from piiloom.surrogates.inputs.settings import InputSettings

_MOST_ROWS: Final = 65_536


def arrow_modules() -> tuple[Any, Any]:
    """Import and return ``pyarrow`` and ``pyarrow.parquet``, which take a fifth of a second to load."""
    return import_module("pyarrow"), import_module("pyarrow.parquet")


def open_parquet(path: Path, name: str) -> Any:
    """Open a ``ParquetFile`` for reading as a stream. Raises ``DataError`` if it is damaged or no Parquet file."""
    pyarrow, parquet = arrow_modules()
    try:
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 16, memory_map=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(
            "the file is not a Parquet file, or is damaged", where=name, remedy="Check the file, or name its format with --format"
        ) from error


def parquet_layout(path: Path, name: str, settings: InputSettings) -> tuple[ParquetLayout, int]:
    """Return the file's layout and its number of rows. Raises ``UsageError`` if there is no text column, or one that holds no strings."""
    pyarrow, _ = arrow_modules()
    with open_parquet(path, name) as file:
        schema, meta = file.schema_arrow, file.metadata
        wanted = settings.text_fields or tuple(key for key in ("text", "context") if key in schema.names)[:1]
        columns = tuple(key for key in schema.names if key in wanted)
        if not columns:
            if settings.text_fields:
                raise no_column(name, settings.text_fields[0], schema.names, "--text-field")
            raise UsageError(
                f"no text column is named; the table has: {shown(schema.names)}", where=name, remedy="Name one with --text-field"
            )
        for key in columns:
            if not _is_text(pyarrow, schema.field(key).type):
                raise UsageError(f"the column {key!r} holds no text", where=name, remedy="Name another with --text-field")
        size = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
        rows = max(1, min(_MOST_ROWS, settings.chunk_bytes * meta.num_rows // max(size, 1)))
        ids = settings.id_field or "id"
        return ParquetLayout(columns, ids if ids in schema.names else None, rows), meta.num_rows


def _is_text(pyarrow: Any, kind: Any) -> bool:
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind))


class RowCursor:
    """Reads ranges of a file's rows in ascending order, independent of the batches in which they are read."""

    def __init__(self, path: Path, name: str, columns: Sequence[str] | None, batch: int) -> None:
        self._pyarrow, _ = arrow_modules()
        self._file = open_parquet(path, name)
        self._name = name
        self.at = 0
        self._left: Any = None
        self._batches: Iterator[Any] = self._file.iter_batches(batch_size=batch, columns=columns, use_threads=False)

    def take(self, start: int, end: int) -> Any:
        """Return the rows ``[start, end)`` as a table. *start* must not be before the end of the previous range.

        Raises ``DataError`` if the file is damaged or ends too early.
        """
        found: list[Any] = []
        while self.at < end:
            batch = self._left if self._left is not None else self._next()
            self._left = None
            rows = batch.num_rows
            if self.at + rows > end:
                self._left = batch.slice(end - self.at)
                batch = batch.slice(0, end - self.at)
            if self.at + batch.num_rows > start:
                found.append(batch.slice(max(0, start - self.at)))
            self.at += batch.num_rows
        return self._pyarrow.Table.from_batches(found)

    def _next(self) -> Any:
        try:
            return next(self._batches)
        except (StopIteration, self._pyarrow.ArrowException, OSError) as error:
            raise DataError("the Parquet file is damaged, or has changed", where=self._name) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ParquetParsed(Parsed):
    """Rows of a Parquet file. ``mirrored`` returns only the changed cells; the writer of the mirror has the other columns."""

    def mirrored(self, replaced: Sequence[Replaced]) -> bytes:
        """Return the marshalled list of (column, row in the part, new text) of changed cells; empty if none changed."""
        changed = [(*one.id_of_cell, done.text) for one, done in zip(self._cells(), replaced, strict=True) if done.placed]
        return marshal.dumps(changed) if changed else b""

    def _cells(self) -> Iterator[CellPlace]:
        for one in self.found:
            if isinstance(one.slot, CellPlace):
                yield one.slot


class CellPlace:
    """The ``Slot`` of a Parquet cell, which has no position in a text. ``id_of_cell`` is (column, row in the part)."""

    __slots__ = ("end", "id_of_cell", "start")

    def __init__(self, column: str, row: int) -> None:
        self.id_of_cell = (column, row)
        self.start = self.end = 0

    def rewritten(self, raw: str, replaced: Replaced) -> str:  # noqa: ARG002 - a slot's signature
        """Not used: Parquet files are not rewritten as text."""
        raise TypeError("a Parquet file has no text to splice: its columns are rewritten")


class ParquetReader:
    """Reads parts of Parquet files. The file stays open between parts: reading on is cheap, seeking to a row is not."""

    def __init__(self) -> None:
        self._cursor: RowCursor | None = None
        self._of: tuple[Path, int] | None = None

    def read(self, part: Part) -> Parsed:
        """The rows of *part*."""
        layout = part.file.layout
        assert isinstance(layout, ParquetLayout)  # noqa: S101 - a Parquet file has one
        if part.start == part.end:
            return ParquetParsed("", [], 0, 0, Notes(), layout.columns)
        key = (part.file.path, part.file.number)
        if self._cursor is None or self._of != key or self._cursor.at > part.start:
            self.close()
            columns = [*layout.columns, *([layout.ids] if layout.ids and layout.ids not in layout.columns else [])]
            self._cursor, self._of = RowCursor(part.file.path, part.file.name, columns, layout.batch), key
        table = self._cursor.take(part.start, part.end)
        parsed = ParquetParsed("", [], table.num_rows, table.num_rows, Notes(), layout.columns)
        ids = table.column(layout.ids).to_pylist() if layout.ids else None
        texts = [(name, _strings(table.column(name))) for name in layout.columns]
        several = len(texts) > 1
        for row in range(table.num_rows):
            row_id = str(ids[row]) if ids is not None and ids[row] is not None else None
            for name, values in texts:
                if (text := values[row]) is None:
                    parsed.notes.add(NO_TEXT, row)
                else:
                    parsed.found.append(Found(text, row_id, row, name if several else "", CellPlace(name, row)))
        return parsed

    def close(self) -> None:
        """Close the file that is open."""
        if self._cursor is not None:
            self._cursor.close()
        self._cursor = self._of = None


def _strings(column: Any) -> list[str | None]:
    values: list[str | None] = column.to_pylist()
    return values


def changed_table(table: Any, changes: bytes) -> Any:
    """Return *table* with the new texts in *changes*, a result of ``ParquetParsed.mirrored``."""
    if not changes:
        return table
    pyarrow, _ = arrow_modules()
    by_column: dict[str, list[tuple[int, str]]] = {}
    for name, row, text in marshal.loads(changes):  # noqa: S302 - written by ``mirrored`` a moment ago
        by_column.setdefault(name, []).append((row, text))
    for name, cells in by_column.items():
        index = table.schema.get_field_index(name)
        values = table.column(index).to_pylist()
        for row, text in cells:
            values[row] = text
        kind = table.schema.field(index).type
        array = pyarrow.array(values, kind.value_type if pyarrow.types.is_dictionary(kind) else kind)
        table = table.set_column(index, table.schema.field(index), array.cast(kind) if array.type != kind else array)
    return table
