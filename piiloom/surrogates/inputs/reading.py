"""Read the documents of a part or of a whole input, in any format."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import groupby
from operator import attrgetter
from typing import Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.documents import Document
from piiloom.surrogates.inputs.column_files import ColumnsReader
from piiloom.surrogates.inputs.conll_files import read_conll
from piiloom.surrogates.inputs.given_spans import BratParsed, read_brat
from piiloom.surrogates.inputs.json_rows import absent_fields, read_array, read_lines
from piiloom.surrogates.inputs.parts import (
    CARRIED,
    WHOLE_FILES,
    FilePart,
    FoundText,
    Notes,
    ParquetLayout,
    Parsed,
    SourceFile,
    SourceSettings,
    TableLayout,
    TextSlot,
    cannot_read,
    line_at,
    names_shown,
    undecodable,
)
from piiloom.surrogates.inputs.source import InputSource, open_source
from piiloom.surrogates.inputs.tables import read_table
from piiloom.surrogates.inputs.text_files import UTF8_BOM

_JSON_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ROOM: Final = 16_000_000  # characters; the texts in them are those of the documents, of which the engine keeps as many
_PER_KEY: Final = 100  # a key of JSON that was met takes as much as so many characters
_ROWS: Final = frozenset({"csv", "tsv", "json", "jsonl"})  # formats that take time to read


PartKey = tuple[str, int, int, int, int]


class KeptRows:
    """Parts as they were read. What does not fit is not kept, and read again.

    Files that are converted or unpacked first are not kept, either: each reading of an input may have its own copy of them.
    """

    def __init__(self, room: int = _ROOM) -> None:
        self._parsed: dict[PartKey, Parsed] = {}
        self._size = self._room = room
        self._settings: SourceSettings | None = None

    def begin(self, settings: SourceSettings) -> None:
        """Be told how parts are read from now on. What was read in another way is forgotten."""
        how = replace(settings, look_at_key=None)  # it changes only what is noted of the keys
        if how != self._settings:
            self._parsed.clear()
            self._room, self._settings = self._size, how

    def put(self, key: PartKey | None, parsed: Parsed) -> None:
        """Keep *parsed*, which is what the part with *key* held when that was told, if there is room."""
        size = len(parsed.raw) + _PER_KEY * len(parsed.met)
        if key is not None and size < self._room:
            self._room -= size
            self._parsed[key] = parsed

    def get(self, key: PartKey | None, *, again: bool) -> Parsed | None:
        """Return what is kept of a part, None if there is nothing. It stays if the part is to be read *again*."""
        if key is None:
            return None
        return self._parsed.get(key) if again else self._parsed.pop(key, None)


def part_key(part: FilePart) -> PartKey | None:
    """Return what tells *part* from all others, and from what stands there when its file is changed; None if it is not to be kept."""
    file = part.file
    if file.archive or file.encoding != "utf-8":
        return None
    try:
        status = file.path.stat()
    except OSError:  # told by whoever reads the part
        return None
    return str(file.path), part.start, part.end, status.st_size, status.st_mtime_ns


class PartReader:
    """Reads parts of any format. To be closed, since it keeps the current Parquet or Arrow file open. *kept* has rows read before."""

    def __init__(self, settings: SourceSettings, kept: KeptRows | None = None) -> None:
        self._settings = settings
        self._columns = ColumnsReader(settings)
        self._kept = kept
        if kept is not None:
            kept.begin(settings)

    def read(self, part: FilePart, *, note_keys: bool = False, again: bool = True) -> Parsed:
        """Read *part*. With *note_keys*, JSON keys that look like placeholders are noted, too; needed in one reading only.

        Only what will be read *again* is kept. Raises ``DataError`` with file and line if it cannot be read.
        """
        if isinstance(part.file.layout, ParquetLayout):
            return self._columns.read(part)
        if part.file.format in _ROWS:
            return self._read_rows(part, note_keys=note_keys, again=again)
        if part.file.format not in WHOLE_FILES or not self._settings.skip_bad_rows:
            return self._read_text(part)
        try:
            return self._read_text(part)
        except DataError as error:  # a document that cannot be read: its file is empty in the mirror
            parsed = BratParsed() if part.file.format == "brat" else Parsed()
            parsed.set_aside(0, 0, _line_of(error), error.message)
            return parsed

    def _read_rows(self, part: FilePart, *, note_keys: bool, again: bool) -> Parsed:
        kept, look = self._kept, self._settings.look_at_key
        key = part_key(part) if kept is not None else None
        parsed = kept.get(key, again=again) if kept is not None else None
        if parsed is None:
            parsed = self._read_text(part, meet_keys=(key is not None and again) or (note_keys and look is not None))
            if kept is not None and again:
                kept.put(key, parsed)
        parsed.ascii = part.ascii
        if note_keys and look is not None:
            parsed.note_keys(look)
        return parsed

    def _read_text(self, part: FilePart, *, meet_keys: bool = False) -> Parsed:
        if part.file.format == "docx":
            from piiloom.surrogates.inputs.docx_files import read_docx  # noqa: PLC0415 - most corpora are of other formats

            return read_docx(part, self._settings) if part.end else Parsed()
        data = _bytes_of(part)
        bom = UTF8_BOM if part.start == 0 and data.startswith(UTF8_BOM) else b""
        lenient = self._settings.skip_bad_rows and part.file.format not in WHOLE_FILES  # the rows with such bytes are set aside
        try:
            raw = data[len(bom) :].decode("utf-8", "surrogateescape" if lenient else "strict")
        except UnicodeDecodeError as error:
            offset = part.start + len(bom) + error.start
            raise undecodable(part.file, offset, error.object[error.start], line_at(part.file.path, offset), "utf-8") from error
        parsed = self.parse(part, raw, meet_keys=meet_keys)
        parsed.bom = bom
        return parsed

    def parse(self, part: FilePart, raw: str, *, meet_keys: bool = False) -> Parsed:
        """Read *raw*, the text of *part*, which is no Parquet, Arrow or Word file."""
        match part.file.format:
            case "csv" | "tsv" if isinstance(layout := part.file.layout, TableLayout):
                return read_table(part, raw, layout, skip_bad_rows=self._settings.skip_bad_rows)
            case "jsonl" | "json" as form:
                read = read_lines if form == "jsonl" else read_array
                return read(part, raw, self._settings, meet_keys=meet_keys)
            case "xml":
                from piiloom.surrogates.inputs.xml_files import read_xml  # noqa: PLC0415 - as above

                return read_xml(part, raw, self._settings)
            case "conll" | "brat" as form:
                return (read_conll if form == "conll" else read_brat)(part, raw, self._settings)
        documents = [FoundText(raw, TextSlot(0, len(raw)))] if raw and part.file.format != CARRIED else []
        return Parsed(raw, documents, rows=1, lines=raw.count("\n"))

    def close(self) -> None:
        """Close the Parquet or Arrow file that is open, if any."""
        self._columns.close()


def _line_of(error: DataError) -> int:
    """Return the 0-based line that *error* names, else 0."""
    told = (error.where or "").rpartition(":")[2]
    return int(told) - 1 if told.isdecimal() else 0


def _bytes_of(part: FilePart) -> bytes:
    try:
        with part.file.path.open("rb") as fh:
            fh.seek(part.start)
            data = fh.read(part.end - part.start)
    except OSError as error:
        raise cannot_read(part.file.name, error) from error
    if len(data) != part.end - part.start:
        raise DataError("the file became shorter while it was read", where=part.file.name, remedy="Run again when nobody writes to it")
    return data


def documents_of(part: FilePart, parsed: Parsed, first: int) -> list[Document]:
    """Return the documents of a part that has been read, numbered from *first* on."""
    name, at = part.file.name, part.line
    whole, lines_apart = part.file.format in WHOLE_FILES, part.file.format == "conll"
    documents = []
    for number, one in enumerate(parsed.found):
        line = None if whole else at + one.line
        doc_id = given_id(one) or (name if whole else placed_id(name, line, one.field))
        documents.append(
            Document(first + number, doc_id, one.text, name, line, one.mentions, one.question_at, lines_apart, one.covered, one.turns)
        )
    return documents


def plain_of(part: FilePart, raw: str) -> str:
    """Return the source *raw* of the part's format with its escapes resolved, to be searched for words."""
    if part.file.format in {"json", "jsonl"}:
        return _JSON_ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2] if match[2] in '"\\/' else " ", raw)
    return unescape(raw) if part.file.format == "xml" else raw


def given_id(one: FoundText) -> str | None:
    """Return the row's id, or None. If there are several text fields, the field is appended: "ID#FIELD"."""
    return f"{one.id}#{one.field}" if one.id and one.field else one.id


def placed_id(name: str, line: int | None, field: str) -> str:
    """Return the id of a document whose row has none: "NAME:LINE", or "NAME:LINE#FIELD"."""
    return f"{name}:{line}#{field}" if field else f"{name}:{line}"


@dataclass(slots=True)
class ReadCount:
    """Counts of a part, or of a file. ``keys`` are the fields of the first row, ``ascii`` is for JSON."""

    documents: int = 0
    rows: int = 0
    lines: int = 0
    ascii: bool = True
    keys: tuple[str, ...] = ()
    notes: Notes = field(default_factory=Notes)

    @classmethod
    def of(cls, part: FilePart, parsed: Parsed) -> ReadCount:
        """Return the counts of a part that has been read."""
        ascii_only = part.file.format in {"json", "jsonl"} and parsed.raw.isascii()
        return cls(len(parsed.found), parsed.rows, parsed.lines, ascii_only, parsed.keys, parsed.notes)

    def add(self, part: ReadCount) -> None:
        """Add the counts of the next part of the file."""
        for what, times in part.notes.counts.items():
            self.notes.add(what, self.lines + part.notes.first[what], times)
        self.documents += part.documents
        self.rows += part.rows
        self.lines += part.lines
        self.ascii = self.ascii and part.ascii
        self.keys = self.keys or part.keys

    def no_text(self, file: SourceFile, fields: Sequence[str]) -> UsageError:
        """Return the error for *file*, in which no row has a text; *fields* are those of the text."""
        missing = absent_fields(fields, self.notes.counts, self.rows)
        what = f"no row has the field {', '.join(map(repr, missing))}" if missing else "no row has a text"
        return UsageError(
            f"{what}; the first one has: {names_shown(self.keys)}", where=file.name, remedy="Name the field with --text-field"
        )


def read_parts(source: InputSource) -> Generator[tuple[FilePart, Parsed], None, None]:
    """Yield all parts of *source* in order, each with what was read."""
    with closing(PartReader(source.settings)) as reader:
        for chunk in source.chunks():
            for part in chunk.parts:
                yield part, reader.read(part)


def iter_documents(settings: SourceSettings, kept: KeptRows | None = None) -> Iterator[Document]:
    """Yield all documents of an input in order, in this process. Ids are those of the rows; repeated ids are not changed.

    The rows go into *kept*, for whoever reads the input after this.
    Raises ``UsageError`` if a JSON file has rows but no text, and the errors of ``Source.prepare`` and ``PartReader.read``.
    """
    with open_source(settings) as source, closing(PartReader(settings, kept)) as reader:
        number = 0
        parts = (part for chunk in source.chunks() for part in chunk.parts)
        for file, own in groupby(parts, key=attrgetter("file")):
            count = ReadCount()
            for part in own:
                parsed = reader.read(part)
                documents = documents_of(part._replace(line=count.lines + 1), parsed, number)
                yield from documents
                number += len(documents)
                count.add(ReadCount.of(part, parsed))
            if file.format in {"json", "jsonl"} and count.rows and not count.documents:
                raise count.no_text(file, settings.text_fields)
