"""Read tables (CSV, TSV and the like), with quoted fields that may hold line breaks (RFC 4180), or without quoting.

A field is quoted if it begins with a quote. Characters between a closing quote and the next delimiter belong to the field, as in
Python's ``csv``. A row that is too short for a text column has no document there.

Documents whose text lies in several places of a file: a text and the question about it, the rows of a lesson.

With ``--question-field`` the document's text is the text, a blank line, and the question, so that both are filled with one cast.

With ``--group-by`` it has a line for each row of a table: its text, after "speaker: " where a column has the speakers. The rows of one
document follow one another. Each cell is written back to its own place, so the file keeps its form.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from piiloom.corpus.mention_search import exact_mentions
from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.documents import Document, Mention, Placed, Replaced
from piiloom.surrogates.inputs.parts import (
    NO_TEXT,
    WHOLE_TABLE,
    CannotSpell,
    FileChange,
    FilePart,
    FoundText,
    Parsed,
    Skip,
    SourceSettings,
    TableLayout,
    TextPiece,
    TextSlot,
    escape_pieces,
    fault,
    names_shown,
    no_column,
    piece_changes,
    undecoded,
)

_AFTER_SPEAKER: Final = ": "
_BETWEEN: Final = "\n\n"
NO_QUESTION: Final = "rows without a question"


class TextCell(NamedTuple):
    """The text of a cell, and where it begins in its document."""

    text: str
    slot: TextSlot
    at: int = 0


class CellsSlot(TextSlot):
    """A document of which each part lies in a cell of its own, with the spans that the row has of it. *row* is the range of all of them."""

    __slots__ = ("_cells", "_spans")

    def __init__(self, cells: Sequence[TextCell], row: tuple[int, int] | None = None, spans: TextSlot | None = None) -> None:
        super().__init__(*(row or (min(cell.slot.start for cell in cells), max(cell.slot.end for cell in cells))))
        self._cells, self._spans = cells, spans

    def rest(self, parsed: Parsed) -> str:
        """Return what is between the cells, and what of the spans stays."""
        places = [(cell.slot.start, cell.slot.end) for cell in self._cells]
        if self._spans is not None:
            places.append((self._spans.start, self._spans.end))
        places.sort()
        between = zip((self.start, *(end for _, end in places)), (*(start for start, _ in places), self.end), strict=True)
        stays = str(self._spans.rest(parsed)) if self._spans is not None else ""
        return "".join([parsed.outside(end, start) for end, start in between]) + stays

    def changes(self, parsed: Parsed, replaced: Replaced) -> list[FileChange]:
        """See ``TextSlot``. Raises ``DataError`` if a placeholder goes from one cell into another."""
        parts = divided(replaced, [(cell.at, cell.at + len(cell.text)) for cell in self._cells])
        if parts is None:
            raise DataError("a placeholder goes from one cell into another", remedy="Close it in its row, or leave --group-by out")
        pairs = zip(self._cells, parts, strict=True)
        changes = [change for cell, done in pairs if done.placed for change in cell.slot.changes(parsed, done)]
        if self._spans is not None:
            changes += self._spans.changes(parsed, parts[0])
        return sorted(changes)


def divided(replaced: Replaced, ranges: Sequence[tuple[int, int]]) -> list[Replaced] | None:
    """Return the part of *replaced* in each of *ranges* of the old text, with its own offsets; None if a place is in no range."""
    places, number, grown = replaced.placed, 0, 0
    parts: list[Replaced] = []
    for at, end in ranges:
        own: list[Placed] = []
        new_at = at + grown
        while number < len(places) and at <= places[number].start < places[number].end <= end:
            place = places[number]
            start, stop, new_start, new_stop = (place.start - at, place.end - at, place.new_start - new_at, place.new_end - new_at)
            own.append(place._replace(start=start, end=stop, new_start=new_start, new_end=new_stop))
            grown = place.new_end - place.end
            number += 1
        parts.append(Replaced(replaced.text[new_at : end + grown], own))
    return parts if number == len(places) else None


def joined_texts(text: str, question: str) -> str:
    """Return the text of the document."""
    return f"{text}{_BETWEEN}{question}"


def question_start(text: str) -> int:
    """Return where the question begins in the document of *text*."""
    return len(text) + len(_BETWEEN)


def asked(found: FoundText, question: str) -> FoundText:
    """Return *found*, the text of a row, with the question of that row."""
    mentions = found.mentions
    if mentions is not None:
        mentions = with_question(mentions, found.text, question)
    return found._replace(text=joined_texts(found.text, question), mentions=mentions, question_at=question_start(found.text))


def with_question(mentions: Sequence[Mention], text: str, question: str) -> tuple[Mention, ...]:
    """Return the given *mentions* of *text*, and those of the same words in the question."""
    found: dict[tuple[int, int], Mention] = {}
    for mention in sorted(mentions, key=lambda one: one.start - one.end):  # a longer one wins over one that it holds
        for start, end in exact_mentions(question, mention.original):
            if all(end <= other or start >= stop for other, stop in found):
                found[start, end] = mention
    shift = question_start(text)
    return (*mentions, *(found[place]._replace(start=place[0] + shift, end=place[1] + shift) for place in sorted(found)))


def parted_texts(replaced: Replaced, start: int) -> list[Replaced]:
    """Return text and question of a document in which the question began at *start*, each with its own offsets.

    Raises ``DataError`` if a placeholder goes from one into the other.
    """
    parts = divided(replaced, [(0, start - len(_BETWEEN)), (start, sys.maxsize)])
    if parts is None:
        raise DataError("a placeholder goes from the text into the question", remedy="Close it in the row")
    return parts


def parted_document(document: Document) -> tuple[Document, Document]:
    """Return the text and the question of *document* as documents of their own, with their own mentions."""
    start = document.question_at
    assert start is not None  # noqa: S101 - asked only of documents with a question
    mentions = document.mentions or ()
    text = document._replace(
        text=document.text[: start - len(_BETWEEN)], mentions=tuple(one for one in mentions if one.end < start), question_at=None
    )
    of_question = tuple(one._replace(start=one.start - start, end=one.end - start) for one in mentions if one.start >= start)
    return text, document._replace(text=document.text[start:], mentions=of_question, question_at=None)


def joined_ranges(
    ranges: Sequence[Sequence[int]], of_question: Sequence[Sequence[int]], shift: int, new_shift: int
) -> list[tuple[int, ...]]:
    """Return the replaced ranges of a document from those of its text and its question, which began and begins at these offsets."""
    moved = [(start + shift, end + shift, new_start + new_shift, new_end + new_shift) for start, end, new_start, new_end in of_question]
    return [*(tuple(one) for one in ranges), *moved]


class Turn(NamedTuple):
    """A row of the document *key*: its line and its start in the part, its speaker if a column has it, and its text."""

    key: str
    line: int
    start: int
    speaker: TextCell | None
    text: TextCell


def grouped_turns(turns: Sequence[Turn], part: FilePart, raw: str) -> Iterator[FoundText]:
    """Yield the documents of which the rows are *turns*. Raises ``DataError`` if rows of one document are apart."""
    known: set[str] = set()
    for key, rows in groupby(turns, key=attrgetter("key")):
        own = list(rows)
        if key in known:
            remedy = "Sort the table by the column of --group-by"
            raise fault(part, raw, own[0].start, "the rows of a document are not all together", remedy)
        known.add(key)
        lines: list[str] = []
        cells: list[TextCell] = []
        speakers: list[tuple[int, str]] = []
        at = 0
        for turn in own:
            line = turn.text.text
            if turn.speaker is not None:
                line = f"{turn.speaker.text}{_AFTER_SPEAKER}{line}"
                speakers.append((at, turn.speaker.text))
                cells.append(turn.speaker._replace(at=at))
            lines.append(line)
            cells.append(turn.text._replace(at=at + len(line) - len(turn.text.text)))
            at += len(line) + 1
        yield FoundText("\n".join(lines), CellsSlot(cells), key or None, own[0].line, turns=tuple(speakers))


_BLOCK: Final = 1 << 22
_LONGEST_ROW: Final = 2**28
_QUOTE: Final = re.compile('""')
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


class TableCell(NamedTuple):
    """A field: its range including quotes, its unescaped value, and the offset of its closing quote, -1 if it is not quoted."""

    start: int
    end: int
    value: str
    close: int = -1


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


def table_rows(raw: str, layout: TableLayout, at: int = 0) -> Iterator[list[TableCell]]:
    """Yield the rows of *raw* from the offset *at* on.

    Raises ``ValueError`` if a quoted field is not closed; its arguments are the offsets of the field and of its row.
    """
    row: list[TableCell] = []
    size = len(raw)
    for match in _field_pattern(layout.delimiter, quoted=layout.quoted).finditer(raw, at):
        start, end = match.start(), match.start(4)
        if start == size and not row and (not size or raw[-1] in "\r\n"):
            return
        inner, rest, plain, stop = match.groups()
        if layout.quoted and plain is None:
            row.append(TableCell(start, end, inner.replace('""', '"') + (rest or ""), match.end(1)))
        else:
            if layout.quoted and plain.startswith('"'):
                raise ValueError(start, row[0].start if row else start)
            row.append(TableCell(start, end, plain))
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


_HEAD: Final = 1 << 20
_DELIMITERS: Final = ",;\t|"
OF_FILE: Final = "file"  # ``group_by`` of a table that is one document, unless there is a column of that name


def table_layout(path: Path, name: str, file_format: str, settings: SourceSettings) -> TableLayout:
    """Return the layout of the table at *path* (UTF-8).

    Raises ``UsageError`` with the table's columns if there is no text column, or if a named column is missing or ambiguous.
    """
    with path.open("rb") as fh:
        head = fh.read(_HEAD).decode("utf-8-sig", "replace")
        delimiter = settings.delimiter or _delimiter(head, file_format)
        quoted = settings.quoting != "none"
        if settings.quoting == "auto" and delimiter == "\t":
            fh.seek(0)
            quoted = quotes_fit(fh, name, delimiter)
    try:
        first = next(table_rows(head, TableLayout(delimiter, quoted, (), None, head=False)), [])
    except ValueError:
        first = []
    names = [cell.value.strip() for cell in first]
    columns = _text_columns(names, name, settings)
    question = _named_column(names, settings.question_field, name, settings, "--question-field")
    if question in {column for _, column in columns}:
        raise UsageError("text and question are the same column", where="--question-field")
    ids = _id_column(names, name, settings)
    group, speaker = _group_column(names, name, settings), _named_column(names, settings.speaker_field, name, settings, "--speaker-field")
    return TableLayout(delimiter, quoted, columns, ids, head=settings.header, question=question, group=group, speaker=speaker)


def _delimiter(head: str, file_format: str) -> str:
    if file_format == "tsv":
        return "\t"
    line = head.partition("\n")[0]
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)  # the first one wins a tie: a comma


def _text_columns(names: list[str], where: str, settings: SourceSettings) -> tuple[tuple[str, int], ...]:
    wanted = settings.text_fields or tuple(key for key in ("text", "context") if settings.header and key in names)[:1]
    found = [(field, column) for field in wanted if (column := _column(names, field, where, settings)) is not None]
    missing = [field for field in wanted if field not in dict(found)]
    if missing and (not found or _is_all(where, settings)):
        raise no_column(where, missing[0], names, "--text-field")
    if not found:
        there = names_shown(names) if settings.header else f"columns 1 to {len(names)}"
        raise UsageError(f"no text column is named; the table has: {there}", where=where, remedy="Name one with --text-field")
    if len({column for _, column in found}) < len(found):
        raise UsageError("two names are the same column", where="--text-field")
    return tuple(sorted(found, key=lambda one: one[1]))


def _is_all(name: str, settings: SourceSettings) -> bool:
    """Whether the table is the only file of the input, so that no other file can have a missing field."""
    return settings.path.is_file() and name == settings.path.name


def _column(names: list[str], field: str, where: str, settings: SourceSettings) -> int | None:
    if settings.header and names.count(field) == 1:
        return names.index(field)
    if settings.header and field in names:
        raise UsageError(f"two columns are called {field!r}", where=where, remedy="Give the column's number to --text-field")
    if field.isdecimal() and 1 <= int(field) <= len(names):
        return int(field) - 1
    if not settings.header:
        raise UsageError(f"there is no column {field!r}", where=where, remedy=f"Without a header give a number from 1 to {len(names)}")
    return None


def _named_column(names: list[str], field: str | None, where: str, settings: SourceSettings, option: str) -> int | None:
    found = None if field is None else _column(names, field, where, settings)
    if field is not None and found is None:
        raise no_column(where, field, names, option)
    return found


def _group_column(names: list[str], where: str, settings: SourceSettings) -> int | None:
    if settings.group_by == OF_FILE and (not settings.header or OF_FILE not in names):
        return WHOLE_TABLE
    return _named_column(names, settings.group_by, where, settings, "--group-by")


def _id_column(names: list[str], where: str, settings: SourceSettings) -> int | None:
    if settings.id_field is not None:
        return _named_column(names, settings.id_field, where, settings, "--id-field")
    if not settings.header:
        return None
    return next((column for column, name in enumerate(names) if name.lower() == "id"), None)


class CellSlot(TextSlot):
    """A table's field."""

    __slots__ = ("_cell", "_layout")

    def __init__(self, cell: TableCell, layout: TableLayout) -> None:
        super().__init__(cell.start, cell.end)
        self._cell, self._layout = cell, layout

    def changes(self, parsed: Parsed, replaced: Replaced) -> Iterable[FileChange]:
        """See ``TextSlot``. An unquoted field is quoted only if a surrogate requires it."""
        cell = self._cell
        if cell.close >= 0:
            return piece_changes(_pieces(parsed.raw, cell), replaced, _doubled)
        new = replaced.text
        if _needs_quotes(new, cell.value, self._layout):
            if not self._layout.quoted:
                raise CannotSpell("a surrogate holds a delimiter or a line end, and the table has no quotes")
            new = f'"{_doubled(new)}"'
        return [(cell.start, cell.end, new)]


def _needs_quotes(new: str, before: str, layout: TableLayout) -> bool:
    if layout.delimiter in new or "\n" in new or "\r" in new:
        return True
    return layout.quoted and (new.startswith('"') or new.count('"') != before.count('"'))


def _doubled(text: str) -> str:
    return text.replace('"', '""')


def _pieces(raw: str, cell: TableCell) -> list[TextPiece]:
    """Return the pieces of a quoted field: runs, doubled quotes, and the characters after the closing quote."""
    pieces = escape_pieces(_QUOTE.finditer(raw, cell.start + 1, cell.close), cell.start + 1, cell.close)
    if cell.end > cell.close + 1:
        pieces.append(TextPiece(len(cell.value) - (cell.end - cell.close - 1), len(cell.value), cell.close + 1, cell.end))
    return pieces


def read_table(part: FilePart, raw: str, layout: TableLayout, *, skip_bad_rows: bool = False) -> Parsed:
    """Read a part of a table. A bad row is one with a quoted field that is not closed, or with bytes that are no text.

    It raises ``DataError``, or with *skip_bad_rows* its line is set aside.
    """
    parsed = Parsed(raw, lines=_line_ends(raw, 0, len(raw)))
    head = layout.head and part.start == 0
    turns: list[Turn] = []
    line = seen = 0
    for row in _rows(part, raw, layout, skip_bad_rows=skip_bad_rows):
        start = row.start if isinstance(row, Skip) else row[0].start
        line += _line_ends(raw, seen, start)
        seen = start
        if isinstance(row, Skip):
            parsed.set_aside(row.start, row.end, line, row.reason)
        elif head:
            head = False
        elif len(row) > 1 or row[0].value or row[0].close >= 0:  # not a blank line
            parsed.rows += 1
            if layout.group is None:
                _take(parsed, row, line, layout)
            else:
                _take_turn(parsed, part, row, line, layout, turns)
    parsed.found += grouped_turns(turns, part, raw)
    return parsed


def _rows(part: FilePart, raw: str, layout: TableLayout, *, skip_bad_rows: bool) -> Iterator[list[TableCell] | Skip]:
    at: int | None = 0
    while at is not None:
        try:
            for row in table_rows(raw, layout, at):
                bad = undecoded(raw, row[0].start, row[-1].end) if skip_bad_rows else None
                yield row if bad is None else Skip(row[0].start, _behind_line_end(raw, row[-1].end), 0, bad)
            at = None
        except ValueError as error:
            field, start = error.args
            if not skip_bad_rows:
                remedy = "Close it, or use --quoting none or --skip-bad-rows"
                raise fault(part, raw, field, "a quoted field is not closed", remedy) from None
            at = _behind_line_end(raw, start)  # the rest of the part is read on from the next line
            yield Skip(start, at, 0, "a quoted field is not closed")


def _behind_line_end(raw: str, at: int) -> int:
    end = _LINE_END.search(raw, at)
    return end.end() if end else len(raw)


def _take(parsed: Parsed, row: list[TableCell], line: int, layout: TableLayout) -> None:
    row_id = row[layout.ids].value or None if layout.ids is not None and layout.ids < len(row) else None
    several = len(layout.columns) > 1
    for name, column in layout.columns:
        if column >= len(row):
            parsed.notes.add(NO_TEXT, line)
            continue
        text = _text_cell(row, column, layout)
        one = FoundText(text.text, text.slot, row_id, line, name if several else "")
        if layout.question is not None and layout.question < len(row):
            question = _text_cell(row, layout.question, layout)
            both = CellsSlot([text, question._replace(at=question_start(text.text))])
            one = asked(one._replace(slot=both), question.text)
        elif layout.question is not None:
            parsed.notes.add(NO_QUESTION, line)
        parsed.found.append(one)


def _take_turn(parsed: Parsed, part: FilePart, row: list[TableCell], line: int, layout: TableLayout, turns: list[Turn]) -> None:
    """Add a row to *turns*."""
    (_, column), group, speaker = layout.columns[0], layout.group or 0, layout.speaker
    if max(column, group, speaker or 0) >= len(row):
        parsed.notes.add(NO_TEXT, line)
        return
    key = part.file.name if group == WHOLE_TABLE else row[group].value
    said = _text_cell(row, speaker, layout) if speaker is not None else None
    turns.append(Turn(key, line, row[0].start, said if said is not None and said.text else None, _text_cell(row, column, layout)))


def _text_cell(row: list[TableCell], column: int, layout: TableLayout) -> TextCell:
    return TextCell(row[column].value, CellSlot(row[column], layout))


def _line_ends(raw: str, start: int, end: int) -> int:
    return raw.count("\n", start, end) + raw.count("\r", start, end) - raw.count("\r\n", start, end)
