"""Rows of Parquet and Arrow files: texts are in string columns; rows take the place of lines."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.column_spans import bare_spans, moved_spans, span_items
from piiloom.surrogates.inputs.given_spans import GivenSpan, GivenSpans, found_fields, mentions_of
from piiloom.surrogates.inputs.parquet_files import RowCursor, arrow_modules
from piiloom.surrogates.inputs.parts import NO_TEXT, Found, InputSettings, Notes, ParquetLayout, Parsed, Part, row_fault
from piiloom.surrogates.inputs.questions import NO_QUESTION, asked, parted, question_start


class CellPlace:
    """The ``Slot`` of a cell, which has no position in a text. ``spans`` are those of the row, in the column ``spans_column``.

    ``question`` is the column of the question, if the row has one.
    """

    __slots__ = ("column", "end", "question", "row", "spans", "spans_column", "start", "text")

    def __init__(self, column: str, row: int, text: str, spans_column: str | None, spans: Any, question: str | None) -> None:
        self.column, self.row, self.text, self.question = column, row, text, question
        self.spans_column, self.spans = spans_column, spans
        self.start = self.end = 0

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The spans of the row."""
        found = (GivenSpan.of(item) for item in span_items(self.spans)) if self.spans_column else ()
        return [(one.start, one.end) for one in found if one is not None]

    def rest(self, raw: str) -> object:
        """Return the spans of the row without offsets and words."""
        del raw
        return bare_spans(self.spans, self.text) if self.spans_column else None

    def rewritten(self, raw: str, replaced: Replaced) -> str:  # noqa: ARG002 - a slot's signature
        """Not used: these files are not rewritten as text."""
        raise TypeError("a Parquet file has no text to splice: its columns are rewritten")


class ColumnsParsed(Parsed):
    """Rows of a Parquet or Arrow file. ``emptied`` are the cells of rows that were set aside, and what the mirror has there."""

    emptied: tuple[tuple[str, int, Any], ...] = ()
    others: Any = None  # a table of the columns that hold neither texts nor spans

    def beside(self) -> Iterator[tuple[int, str]]:
        """See ``Parsed``."""
        for one in self._cells():
            yield one.row, str(one.rest("") or "")
        for name in self.others.column_names if self.others is not None else ():
            yield from ((row, str(value)) for row, value in enumerate(self.others.column(name).to_pylist()) if value is not None)

    def mirrored(self, replaced: Sequence[Replaced]) -> bytes:
        """Return the marshalled list of (column, row in the part, new value) of changed cells; empty if none changed."""
        cells = list(self.emptied)
        for one, done in zip(self._cells(), replaced, strict=True):
            if done.placed:
                text = done
                if one.question is not None:
                    text, question = parted(done, question_start(one.text))
                    cells.append((one.question, one.row, question.text))
                cells.append((one.column, one.row, text.text))
                if one.spans_column is not None:
                    cells.append((one.spans_column, one.row, moved_spans(one.spans, one.text, text)))
        return marshal.dumps(cells) if cells else b""

    def _cells(self) -> Iterator[CellPlace]:
        for one in self.found:
            if isinstance(one.slot, CellPlace):
                yield one.slot


class ColumnsReader:
    """Reads parts of such files. The file stays open between parts: reading on is cheap, seeking to a row is not."""

    def __init__(self, settings: InputSettings) -> None:
        self._settings = settings
        self._cursor: RowCursor | None = None
        self._of: tuple[Path, int] | None = None

    def read(self, part: Part) -> Parsed:
        """Return the rows of *part*. Raises ``DataError`` for a row whose spans are no spans of its text."""
        layout = part.file.layout
        assert isinstance(layout, ParquetLayout)  # noqa: S101 - such a file has one
        if part.start == part.end:
            return ColumnsParsed("", [], 0, 0, Notes(), layout.columns)
        table = self._rows(part, layout)
        parsed = ColumnsParsed("", [], table.num_rows, table.num_rows, Notes(), layout.columns)
        if layout.spans:
            parsed.others = table.drop_columns([*layout.columns, *filter(None, (layout.spans, layout.question))])
        ids = table.column(layout.ids).to_pylist() if layout.ids else None
        spans = table.column(layout.spans).to_pylist() if layout.spans else None
        questions = table.column(layout.question).to_pylist() if layout.question else None
        texts = [(name, table.column(name).to_pylist()) for name in layout.columns]
        several = len(texts) > 1
        for row in range(table.num_rows):
            row_id = str(ids[row]) if ids is not None and ids[row] is not None else None
            for name, values in texts:
                if (text := values[row]) is None:
                    parsed.notes.add(NO_TEXT, row)
                    continue
                given = spans[row] if spans is not None else None
                try:
                    read = self._read_spans(parsed, layout, row, text, given)
                except ValueError as error:
                    self._set_aside(part, parsed, layout, row, str(error))
                    continue
                question = questions[row] if questions is not None else None
                if questions is not None and question is None:
                    parsed.notes.add(NO_QUESTION, row)
                place = CellPlace(name, row, text, layout.spans, given, layout.question if question is not None else None)
                one = Found(text, row_id, row, name if several else "", place, *found_fields(read))
                parsed.found.append(one if question is None else asked(one, question))
        return parsed

    def _rows(self, part: Part, layout: ParquetLayout) -> Any:
        key = (part.file.path, part.file.number)
        if self._cursor is None or self._of != key or self._cursor.at > part.start:
            self.close()
            columns = dict.fromkeys([*layout.columns, *filter(None, (layout.ids, layout.spans, layout.question))])
            names = None if layout.spans else list(columns)  # with spans known originals are looked for in the others
            self._cursor, self._of = RowCursor(part.file, names, layout.batch), key
        return self._cursor.take(part.start, part.end)

    def _read_spans(self, parsed: Parsed, layout: ParquetLayout, row: int, text: str, spans: Any) -> GivenSpans | None:
        if layout.spans is None or self._settings.kind_of is None:
            return None
        given = mentions_of(span_items(spans), text, self._settings.kind_of)
        given.note(parsed.notes, row)
        return given

    def _set_aside(self, part: Part, parsed: ColumnsParsed, layout: ParquetLayout, row: int, why: str) -> None:
        reason = f"{layout.spans}{'' if why.startswith('[') else ' '}{why}"
        if not self._settings.skip_bad_rows:
            raise row_fault(part, part.start + row + 1, reason)
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
