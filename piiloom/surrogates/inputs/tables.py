"""Read tables (CSV, TSV and the like), with quoted fields that may hold line breaks (RFC 4180), or without quoting.

A field is quoted if it begins with a quote. Characters between a closing quote and the next delimiter belong to the field, as in
Python's ``csv``. A row that is too short for a text column has no document there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import BinaryIO, Final, NamedTuple

from piiloom.foundation.errors import DataError
from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.parts import (
    NO_TEXT,
    WHOLE_TABLE,
    BadRow,
    CannotSpell,
    Found,
    Notes,
    Parsed,
    Part,
    TableLayout,
    check_decoded,
    fault,
)
from piiloom.surrogates.inputs.questions import NO_QUESTION, asked, question_start
from piiloom.surrogates.inputs.row_groups import CellsSlot, CellText, RowGroups
from piiloom.surrogates.inputs.splicing import Piece, respelt, spliced

_BLOCK: Final = 1 << 22
_LONGEST_ROW: Final = 2**28
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


class Cell(NamedTuple):
    """A field: its range including quotes, its unescaped value, and whether it is quoted."""

    start: int
    end: int
    value: str
    quoted: bool


@lru_cache(maxsize=32)
def _field_pattern(delimiter: str, *, quoted: bool) -> re.Pattern[str]:
    mark = re.escape(delimiter)
    plain = rf"([^{mark}\r\n]*+)"
    field = rf'(?:"([^"]*+(?:""[^"]*+)*+)"([^{mark}\r\n]*+)|{plain})' if quoted else rf"()()?{plain}"
    return re.compile(rf"{field}({mark}|\r\n|\n|\r|\Z)")


@lru_cache(maxsize=32)
def _rows_pattern(delimiter: str, *, quoted: bool) -> re.Pattern[bytes]:
    """Match as many whole fields as possible; group 1 is the last line end. Quantifiers are possessive, so there is no backtracking."""
    mark = re.escape(delimiter)
    field = rf'(?:"[^"]*+(?:""[^"]*+)*+"[^{mark}\r\n]*+|(?!")[^{mark}\r\n]*+)' if quoted else rf"[^{mark}\r\n]*+"
    return re.compile(rf"(?:{field}(?:{mark}|(\r\n|\n|\r(?!\Z))))*+".encode("ascii"))


def rows_of(raw: str, layout: TableLayout, at: int = 0) -> Iterator[list[Cell]]:
    """Yield the rows of *raw* from the offset *at* on.

    Raises ``ValueError`` if a quoted field is not closed; its arguments are the offsets of the field and of its row.
    """
    row: list[Cell] = []
    size = len(raw)
    for match in _field_pattern(layout.delimiter, quoted=layout.quoted).finditer(raw, at):
        start, end = match.start(), match.start(4)
        if start == size and not row and (not size or raw[-1] in "\r\n"):
            return
        inner, rest, plain, stop = match.groups()
        if layout.quoted and plain is None:
            row.append(Cell(start, end, inner.replace('""', '"') + (rest or ""), quoted=True))
        else:
            if layout.quoted and plain.startswith('"'):
                raise ValueError(start, row[0].start if row else start)
            row.append(Cell(start, end, plain, quoted=False))
        if stop != layout.delimiter:
            yield row
            row = []
            if end == size:
                return


def cut_table(fh: BinaryIO, name: str, layout: TableLayout, chunk_bytes: int) -> Iterator[int]:
    """Yield the byte offsets at which to cut the table: ends of rows, about *chunk_bytes* apart. The last one is the end of the file.

    Raises ``DataError`` for a row over 256 MB, which is taken for a quoted field that is not closed.
    """
    pattern = _rows_pattern(layout.delimiter, quoted=layout.quoted)
    at, buffer, want = 0, b"", chunk_bytes
    while block := fh.read(max(want - len(buffer), 1)):
        buffer += block
        match = pattern.match(buffer)
        end = match.end(1) if match else -1
        if end > 0:
            at, buffer, want = at + end, buffer[end:], chunk_bytes
            yield at
        elif len(buffer) >= want:
            want = 2 * len(buffer)  # a row longer than the chunk: try again only when the buffer has doubled
        if len(buffer) > _LONGEST_ROW:
            where = f"{name} (from byte {at} on)"
            raise DataError("a row is longer than 256 MB: a quoted field is not closed", where=where, remedy="Use --quoting none")
    if buffer:
        yield at + len(buffer)


def quotes_fit(fh: BinaryIO, name: str, delimiter: str) -> bool:
    """Whether every field that begins with a quote also ends with one.

    If so, quotes are the table's syntax; otherwise they are part of the texts.
    """
    layout = TableLayout(delimiter, quoted=True, columns=(), ids=None, head=False)
    mark = re.escape(delimiter)
    field = rf'(?:"[^"]*+(?:""[^"]*+)*+"|(?!")[^{mark}\r\n]*+)'
    strict = re.compile(rf"(?:{field}(?:{mark}|\r\n|\n|\r))*+".encode("ascii"))
    start = 0
    try:
        for end in cut_table(fh, name, layout, _BLOCK):
            behind = fh.tell()
            fh.seek(start)
            block = fh.read(end - start) + b"\n"
            fh.seek(behind)
            match = strict.match(block)
            if match is None or match.end() < len(block):
                return False
            start = end
    except DataError:
        return False
    return True


class CellSlot:
    """The ``Slot`` of a table's field."""

    __slots__ = ("_cell", "_layout", "end", "start")
    ranges: Final = ()

    def rest(self, raw: str) -> None:
        """See ``Slot``."""

    def __init__(self, cell: Cell, layout: TableLayout) -> None:
        self._cell, self._layout = cell, layout
        self.start, self.end = cell.start, cell.end

    def rewritten(self, raw: str, replaced: Replaced) -> str:
        """See ``Slot``. An unquoted field is quoted only if a surrogate requires it."""
        cell = self._cell
        if cell.quoted:
            return spliced(raw, cell.start, cell.end, _pieces(raw, cell), replaced, _doubled)
        new = respelt(cell.value, replaced, str)
        if not _needs_quotes(new, cell.value, self._layout):
            return new
        if not self._layout.quoted:
            raise CannotSpell("a surrogate holds a delimiter or a line end, and the table has no quotes")
        return f'"{_doubled(new)}"'


def _needs_quotes(new: str, before: str, layout: TableLayout) -> bool:
    if layout.delimiter in new or "\n" in new or "\r" in new:
        return True
    return layout.quoted and (new.startswith('"') or new.count('"') != before.count('"'))


def _doubled(text: str) -> str:
    return text.replace('"', '""')


def _pieces(raw: str, cell: Cell) -> list[Piece]:
    """Return the pieces of a quoted field: runs, doubled quotes, and the characters after the closing quote."""
    pieces: list[Piece] = []
    text, at, inside = 0, cell.start + 1, True
    while at < cell.end:
        end = raw.find('"', at, cell.end) if inside else cell.end
        end = cell.end if end < 0 else end
        if end > at:
            pieces.append(Piece(text, text + end - at, at, end))
            text += end - at
        if not inside or end == cell.end:
            break
        if raw.startswith('""', end, cell.end):
            pieces.append(Piece(text, text + 1, end, end + 2))
            text, at = text + 1, end + 2
        else:
            at, inside = end + 1, False
    return pieces


def read_table(part: Part, raw: str, layout: TableLayout, *, skip_bad_rows: bool = False) -> Parsed:
    """Read a part of a table. A bad row is one with a quoted field that is not closed, or with bytes that are no text.

    It raises ``DataError``, or with *skip_bad_rows* its line is set aside.
    """
    parsed = Parsed(raw, [], 0, _line_ends(raw, 0, len(raw)), Notes())
    head = layout.head and part.start == 0
    several = len(layout.columns) > 1
    groups = RowGroups() if layout.group is not None else None
    line = seen = 0
    for row in _rows(part, raw, layout, skip_bad_rows=skip_bad_rows):
        start = row.start if isinstance(row, _BadLine) else row[0].start
        line += _line_ends(raw, seen, start)
        seen = start
        if isinstance(row, _BadLine):
            parsed.set_aside(row.start, row.end, line, row.reason)
        elif head:
            head = False
        elif len(row) > 1 or row[0].value or row[0].quoted:  # not a blank line
            parsed.rows += 1
            if groups is None:
                _take(parsed, row, line, layout, several=several)
            else:
                _take_turn(parsed, part, row, line, layout, groups)
    if groups is not None:
        parsed.found += groups.found(parsed.skips)
    return parsed


class _BadLine(NamedTuple):
    start: int
    end: int
    reason: str


def _rows(part: Part, raw: str, layout: TableLayout, *, skip_bad_rows: bool) -> Iterator[list[Cell] | _BadLine]:
    at: int | None = 0
    while at is not None:
        try:
            for row in rows_of(raw, layout, at):
                yield _decoded(raw, row) if skip_bad_rows else row
            at = None
        except ValueError as error:
            field, start = error.args
            if not skip_bad_rows:
                remedy = "Close it, or use --quoting none or --skip-bad-rows"
                raise fault(part, raw, field, "a quoted field is not closed", remedy) from None
            at = _behind_line_end(raw, start)  # the rest of the part is read on from the next line
            yield _BadLine(start, at, "a quoted field is not closed")


def _decoded(raw: str, row: list[Cell]) -> list[Cell] | _BadLine:
    try:
        check_decoded(raw, row[0].start, row[-1].end)
    except BadRow as bad:
        return _BadLine(row[0].start, _behind_line_end(raw, row[-1].end), str(bad))
    return row


def _behind_line_end(raw: str, at: int) -> int:
    end = _LINE_END.search(raw, at)
    return end.end() if end else len(raw)


def _take(parsed: Parsed, row: list[Cell], line: int, layout: TableLayout, *, several: bool) -> None:
    row_id = row[layout.ids].value or None if layout.ids is not None and layout.ids < len(row) else None
    for name, column in layout.columns:
        if column >= len(row):
            parsed.notes.add(NO_TEXT, line)
            continue
        cell = row[column]
        slot = CellSlot(cell, layout)
        one = Found(cell.value, row_id, line, name if several else "", slot)
        if layout.question is not None and layout.question < len(row):
            question = row[layout.question]
            both = (CellText(cell.value, slot), CellText(question.value, CellSlot(question, layout), question_start(cell.value)))
            one = asked(one._replace(slot=CellsSlot(both)), question.value)
        elif layout.question is not None:
            parsed.notes.add(NO_QUESTION, line)
        parsed.found.append(one)


def _take_turn(parsed: Parsed, part: Part, row: list[Cell], line: int, layout: TableLayout, groups: RowGroups) -> None:
    """Add a row to the document of its group."""
    (_, column), group, speaker = layout.columns[0], layout.group, layout.speaker
    assert group is not None  # noqa: S101 - as the caller has checked
    if max(column, group, speaker or 0) >= len(row):
        parsed.notes.add(NO_TEXT, line)
        return
    key = part.file.name if group == WHOLE_TABLE else row[group].value
    said, text = (CellText(row[at].value, CellSlot(row[at], layout)) for at in (column if speaker is None else speaker, column))
    if not groups.add(key, line, said if speaker is not None and said.text else None, text):
        remedy = "Sort the table by the column of --group-by"
        raise fault(part, parsed.raw, row[0].start, "the rows of a document are not all together", remedy)


def _line_ends(raw: str, start: int, end: int) -> int:
    return raw.count("\n", start, end) + raw.count("\r", start, end) - raw.count("\r\n", start, end)
