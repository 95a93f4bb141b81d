"""Parquet and Arrow files: texts are in string columns; rows take the place of lines. pyarrow is imported only if there is such a file.

Arrow files, of which Hugging Face datasets saved to disk consist, are streams of record batches, or files with an index (Feather). Such a
folder also holds small JSON files about it (``state.json`` …), which say nothing of the texts and are carried over to the mirror.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.given_spans import NOTHING_GIVEN, GivenSpan, GivenSpans, bare_spans, mentions_of, moved_spans, span_items
from piiloom.surrogates.inputs.parts import (
    NO_TEXT,
    FilePart,
    FoundText,
    ParquetLayout,
    Parsed,
    SourceFile,
    SourceSettings,
    TextSlot,
    names_shown,
    no_column,
)
from piiloom.surrogates.inputs.tables import NO_QUESTION, asked, parted_texts, question_start

_MAGIC: Final = b"ARROW1"
_STATE_KEYS: Final = {"state.json": "_data_files", "dataset_info.json": "features", "dataset_dict.json": "splits"}
_MOST_STATE: Final = 64 * 2**20
_MOST_ROWS: Final = 65_536
_BATCH: Final = 4096


def is_about_dataset(name: str, path: Path) -> bool:
    """Whether the JSON file *name* (read from *path*) is one that ``datasets`` writes about a dataset, and no data."""
    last = name.rpartition("/")[2]
    if last == "dataset_infos.json":
        return True
    key = _STATE_KEYS.get(last)
    if key is None or path.stat().st_size > _MOST_STATE:
        return False
    try:
        told = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and key in told


class ArrowFile:
    """An Arrow file, open for reading batch by batch; has what of a ``pyarrow.parquet.ParquetFile`` is used.

    Raises ``DataError`` if it is damaged or no Arrow file.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._pyarrow, self._ipc = import_module("pyarrow"), import_module("pyarrow.ipc")
        self._name = name
        with path.open("rb") as fh:
            self.indexed = fh.read(len(_MAGIC)) == _MAGIC
        try:
            self._fh = self._pyarrow.OSFile(str(path), "rb")
            self._reader = self._ipc.open_file(self._fh) if self.indexed else self._ipc.open_stream(self._fh)
        except (self._pyarrow.ArrowException, OSError) as error:
            raise DataError("the file is no Arrow file, or is damaged", where=name, remedy="Check the file") from error
        self.schema_arrow = self._reader.schema

    def iter_batches(self, *, columns: Sequence[str] | None, **_: object) -> Iterator[Any]:
        """Yield the record batches as they are in the file, of all or some *columns*."""
        for batch in self._batches():
            yield batch if columns is None else batch.select(list(columns))

    def _batches(self) -> Iterator[Any]:
        if self.indexed:
            yield from (self._reader.get_batch(number) for number in range(self._reader.num_record_batches))
        else:
            yield from self._reader

    def batch_sizes(self) -> list[int]:
        """Return the number of rows of each batch; reads the file."""
        try:
            return [batch.num_rows for batch in self._batches()]
        except (self._pyarrow.ArrowException, OSError) as error:
            raise DataError("the Arrow file is damaged", where=self._name, remedy="Check the file") from error

    def close(self) -> None:
        """Close the file."""
        self._fh.close()


def arrow_modules() -> tuple[Any, Any]:
    """Import and return ``pyarrow`` and ``pyarrow.parquet``, which take a fifth of a second to load."""
    return import_module("pyarrow"), import_module("pyarrow.parquet")


def open_table(file: SourceFile) -> Any:
    """Open a ``ParquetFile`` or ``ArrowFile`` for reading as a stream. Raises ``DataError`` if it is damaged or no such file."""
    if file.format == "arrow":
        return ArrowFile(file.path, file.name)
    pyarrow, parquet = arrow_modules()
    try:
        return parquet.ParquetFile(file.path, pre_buffer=False, buffer_size=1 << 16, memory_map=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(
            "the file is not a Parquet file, or is damaged",
            where=file.name,
            remedy="Check the file, or name its format with --input-format",
        ) from error


def parquet_layout(file: SourceFile, settings: SourceSettings) -> tuple[ParquetLayout, int]:
    """Return the file's layout and its number of rows. Raises ``UsageError`` if there is no text column, or one that holds no strings."""
    pyarrow, _ = arrow_modules()
    with closing(open_table(file)) as table:
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


def headers_of(file: SourceFile) -> list[str]:
    """Return the names of columns and the metadata of a Parquet or Arrow file, which the mirror keeps; nothing of other files."""
    if not isinstance(file.layout, ParquetLayout):
        return []
    with closing(open_table(file)) as table:
        schema = table.schema_arrow
    metadata = [words.decode("utf-8", "replace") for pair in (schema.metadata or {}).items() for words in pair]
    return [*schema.names, *metadata]


def _text_columns(pyarrow: Any, schema: Any, name: str, settings: SourceSettings) -> tuple[str, ...]:
    wanted = settings.text_fields or tuple(key for key in ("text", "context") if key in schema.names)[:1]
    columns = tuple(key for key in schema.names if key in wanted)
    if not columns:
        if settings.text_fields:
            raise no_column(name, settings.text_fields[0], schema.names, "--text-field")
        raise UsageError(
            f"no text column is named; the table has: {names_shown(schema.names)}", where=name, remedy="Name one with --text-field"
        )
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

    def __init__(self, file: SourceFile, columns: Sequence[str] | None, batch: int) -> None:
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


def batches_of(file: SourceFile) -> Iterator[Any]:
    """Yield all rows of a file as tables, which depend on the number of rows alone."""
    with closing(RowCursor(file, None, _BATCH)) as cursor:
        for at in range(0, file.size, _BATCH):
            yield cursor.take(at, min(at + _BATCH, file.size))


class RowPlace(TextSlot):
    """A text in a *row* of *column*, which has no position in a text.

    ``spans`` are those of the row, in the column ``spans_column``; ``question`` is the column of the question, if the row has one.
    """

    __slots__ = ("column", "question", "row", "spans", "spans_column", "text")

    def __init__(self, column: str, row: int, text: str, layout: ParquetLayout, spans: Any, question: str | None) -> None:
        super().__init__(0, 0)
        self.column, self.row, self.text = column, row, text
        self.spans_column, self.spans = layout.spans, spans
        self.question = layout.question if question is not None else None

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The spans of the row."""
        found = (GivenSpan.of(item) for item in span_items(self.spans)) if self.spans_column else ()
        return [(one.start, one.end) for one in found if one is not None]

    def rest(self, parsed: Parsed) -> object:  # noqa: ARG002 - a slot's signature
        """Return the spans of the row without offsets and words."""
        return bare_spans(self.spans, self.text) if self.spans_column else None

    def cells(self, replaced: Replaced) -> list[tuple[str, int, Any]]:
        """Return (column, row in the part, new value) of the cells that change."""
        cells: list[tuple[str, int, Any]] = []
        if self.question is not None:
            replaced, question = parted_texts(replaced, question_start(self.text))
            cells.append((self.question, self.row, question.text))
        cells.append((self.column, self.row, replaced.text))
        if self.spans_column is not None:
            cells.append((self.spans_column, self.row, moved_spans(self.spans, self.text, replaced)))
        return cells


class ColumnsParsed(Parsed):
    """Rows of a Parquet or Arrow file. ``emptied`` are the cells of rows that were set aside, and what the mirror has there."""

    emptied: tuple[tuple[str, int, Any], ...] = ()
    others: Any = None  # a table of the columns that hold neither texts nor spans

    def beside(self) -> Iterator[tuple[int, str]]:
        """See ``Parsed``."""
        for one in self.found:
            yield one.line, str(one.slot.rest(self) or "")
        for name in self.others.column_names if self.others is not None else ():
            yield from ((row, str(value)) for row, value in enumerate(self.others.column(name).to_pylist()) if value is not None)

    def mirrored(self, replaced: Sequence[Replaced]) -> bytes:
        """Return the marshalled list of (column, row in the part, new value) of changed cells; empty if none changed."""
        cells = list(self.emptied)
        for one, done in zip(self.found, replaced, strict=True):
            if done.placed and isinstance(one.slot, RowPlace):
                cells += one.slot.cells(done)
        return marshal.dumps(cells) if cells else b""


class ColumnsReader:
    """Reads parts of such files. The file stays open between parts: reading on is cheap, seeking to a row is not."""

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._cursor: RowCursor | None = None
        self._of: tuple[Path, int] | None = None

    def read(self, part: FilePart) -> Parsed:
        """Return the rows of *part*. Raises ``DataError`` for a row whose spans are no spans of its text."""
        layout = part.file.layout
        assert isinstance(layout, ParquetLayout)  # noqa: S101 - such a file has one
        parsed = ColumnsParsed(keys=layout.columns)
        if part.start == part.end:
            return parsed
        table = self._rows(part, layout)
        parsed.rows = parsed.lines = table.num_rows
        if layout.spans:
            parsed.others = table.drop_columns([*layout.columns, *filter(None, (layout.spans, layout.question))])
        nothing = [None] * table.num_rows
        ids, spans, questions = (
            table.column(name).to_pylist() if name else nothing for name in (layout.ids, layout.spans, layout.question)
        )
        texts = [(name, table.column(name).to_pylist()) for name in layout.columns]
        for row, (row_id, given, question) in enumerate(zip(ids, spans, questions, strict=True)):
            for name, values in texts:
                if (text := values[row]) is None:
                    parsed.notes.add(NO_TEXT, row)
                    continue
                try:
                    read = self._read_spans(parsed, layout, row, text, given)
                except ValueError as error:
                    self._set_aside(part, parsed, layout, row, str(error))
                    continue
                if layout.question and question is None:
                    parsed.notes.add(NO_QUESTION, row)
                place, field = RowPlace(name, row, text, layout, given, question), name if len(texts) > 1 else ""
                one = FoundText(text, place, str(row_id) if row_id is not None else None, row, field, read.mentions, read.covered)
                parsed.found.append(one if question is None else asked(one, question))
        return parsed

    def _rows(self, part: FilePart, layout: ParquetLayout) -> Any:
        key = (part.file.path, part.file.number)
        if self._cursor is None or self._of != key or self._cursor.at > part.start:
            self.close()
            columns = dict.fromkeys([*layout.columns, *filter(None, (layout.ids, layout.spans, layout.question))])
            names = None if layout.spans else list(columns)  # with spans known originals are looked for in the others
            self._cursor, self._of = RowCursor(part.file, names, layout.batch), key
        return self._cursor.take(part.start, part.end)

    def _read_spans(self, parsed: Parsed, layout: ParquetLayout, row: int, text: str, spans: Any) -> GivenSpans:
        if layout.spans is None or self._settings.kind_of is None:
            return NOTHING_GIVEN
        given = mentions_of(span_items(spans), text, self._settings.kind_of)
        given.note(parsed.notes, row)
        return given

    def _set_aside(self, part: FilePart, parsed: ColumnsParsed, layout: ParquetLayout, row: int, why: str) -> None:
        reason = f"{layout.spans}{'' if why.startswith('[') else ' '}{why}"
        if not self._settings.skip_bad_rows:
            where = f"{part.file.name}:{part.start + row + 1}"
            raise DataError(reason, where=where, remedy="Correct the row, or use --skip-bad-rows")
        parsed.set_aside(0, 0, row, reason)
        parsed.rows -= 1
        parsed.emptied += (*((name, row, None) for name in layout.columns), (str(layout.spans), row, None))

    def close(self) -> None:
        """Close the file that is open."""
        if self._cursor is not None:
            self._cursor.close()
        self._cursor = self._of = None


def changed_table(table: Any, changes: bytes) -> Any:
    """Return *table* with the new values in *changes*, a result of ``ColumnsParsed.mirrored``."""
    if not changes:
        return table
    pyarrow, _ = arrow_modules()
    by_column: dict[str, list[tuple[int, Any]]] = {}
    for name, row, value in marshal.loads(changes):  # noqa: S302 - written by ``mirrored`` a moment ago
        by_column.setdefault(name, []).append((row, value))
    for name, cells in by_column.items():
        index = table.schema.get_field_index(name)
        values = table.column(index).to_pylist()
        for row, value in cells:
            values[row] = value
        kind = table.schema.field(index).type
        array = pyarrow.array(values, kind.value_type if pyarrow.types.is_dictionary(kind) else kind)
        table = table.set_column(index, table.schema.field(index), array.cast(kind) if array.type != kind else array)
    return table
