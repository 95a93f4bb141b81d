"""Open Parquet and Arrow files, find their layout, and read ranges of their rows. pyarrow is imported only if there is such a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.arrow_files import ArrowFile
from piiloom.surrogates.inputs.parts import InputFile, InputSettings, ParquetLayout, no_column, shown

_MOST_ROWS: Final = 65_536


def arrow_modules() -> tuple[Any, Any]:
    """Import and return ``pyarrow`` and ``pyarrow.parquet``, which take a fifth of a second to load."""
    return import_module("pyarrow"), import_module("pyarrow.parquet")


def open_table(file: InputFile) -> Any:
    """Open a ``ParquetFile`` or ``ArrowFile`` for reading as a stream. Raises ``DataError`` if it is damaged or no such file."""
    if file.format == "arrow":
        return ArrowFile(file.path, file.name)
    pyarrow, parquet = arrow_modules()
    try:
        return parquet.ParquetFile(file.path, pre_buffer=False, buffer_size=1 << 16, memory_map=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(
            "the file is not a Parquet file, or is damaged", where=file.name, remedy="Check the file, or name its format with --format"
        ) from error


def parquet_layout(file: InputFile, settings: InputSettings) -> tuple[ParquetLayout, int]:
    """Return the file's layout and its number of rows. Raises ``UsageError`` if there is no text column, or one that holds no strings."""
    pyarrow, _ = arrow_modules()
    with open_table(file) as table:
        schema = table.schema_arrow
        columns = _text_columns(pyarrow, schema, file.name, settings)
        if isinstance(table, ArrowFile):
            sizes = table.batch_sizes()
            rows, batch = sum(sizes), max(1, min([_MOST_ROWS, *sizes[:1]]))
        else:
            meta = table.metadata
            rows, size = meta.num_rows, sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
            batch = max(1, min(_MOST_ROWS, settings.chunk_bytes * rows // max(size, 1)))
    ids = settings.id_field or "id"
    spans = settings.spans_field or "spans"
    if settings.takes_spans and settings.spans_field and spans not in schema.names:
        raise no_column(file.name, spans, schema.names, "--spans-field")
    has_spans = settings.takes_spans and spans in schema.names
    question = settings.question_field
    if question is not None and (question not in schema.names or not _is_text(pyarrow, schema.field(question).type)):
        raise no_column(file.name, question, schema.names, "--question-field")
    return ParquetLayout(columns, ids if ids in schema.names else None, batch, spans if has_spans else None, question), rows


def headers_of(file: InputFile) -> list[str]:
    """Return the names of columns and the metadata of a Parquet or Arrow file, which the mirror keeps; nothing of other files."""
    if not isinstance(file.layout, ParquetLayout):
        return []
    with open_table(file) as table:
        schema = table.schema_arrow
    metadata = [words.decode("utf-8", "replace") for pair in (schema.metadata or {}).items() for words in pair]
    return [*schema.names, *metadata]


def _text_columns(pyarrow: Any, schema: Any, name: str, settings: InputSettings) -> tuple[str, ...]:
    wanted = settings.text_fields or tuple(key for key in ("text", "context") if key in schema.names)[:1]
    columns = tuple(key for key in schema.names if key in wanted)
    if not columns:
        if settings.text_fields:
            raise no_column(name, settings.text_fields[0], schema.names, "--text-field")
        raise UsageError(f"no text column is named; the table has: {shown(schema.names)}", where=name, remedy="Name one with --text-field")
    for key in columns:
        if not _is_text(pyarrow, schema.field(key).type):
            raise UsageError(f"the column {key!r} holds no text", where=name, remedy="Name another with --text-field")
    return columns


def _is_text(pyarrow: Any, kind: Any) -> bool:
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind))


class RowCursor:
    """Reads ranges of a file's rows in ascending order, independent of the batches in which they are read."""

    def __init__(self, file: InputFile, columns: Sequence[str] | None, batch: int) -> None:
        self._pyarrow, _ = arrow_modules()
        self._file = open_table(file)
        self._name = file.name
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
            raise DataError("the file is damaged, or has changed", where=self._name) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()
