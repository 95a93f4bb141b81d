"""The documents of an input: its files, their rows, and chunks of documents.

A chunk is the work of a worker at a time; finished chunks are kept when a run is killed.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally, RowReject, quoted
from piiloom.corpus.formats.columns import MISSING, reached
from piiloom.corpus.formats.lossless import TableRow, csv_header, csv_rows, parquet_columns, parquet_rows, parquet_size
from piiloom.corpus.formats.native_rows import RowFault, array_rows, encodes, numbered_lines, parse_object, read_rows
from piiloom.corpus.formats.registry import READABLE, meant
from piiloom.corpus.formats.row_reading import NativeShapedFormat
from piiloom.detection.running.request import DetectionInput
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy


class InputDocument(NamedTuple):
    """One text of the input.

    ``id`` is the row's own, ``given_id``, or made of file and line; ids may repeat. ``line`` is None if the file is one document.
    """

    id: str
    text: str
    locale: str
    question: str | None
    file: str
    line: int | None
    given_id: str | None = None
    group_keys: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


class RefusedRow(NamedTuple):
    """A row, or a file of a folder, that is no document, and why. ``row`` is the unchanged row, "" for a file."""

    file: str
    line: int | None
    reason: str
    row: str

    @property
    def where(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


# A chunk ends at whichever comes first.
MOST_DOCUMENTS: Final = 250
MOST_CHARACTERS: Final = 500_000


class DocumentChunk(NamedTuple):
    """Consecutive documents, numbered from ``first`` on. ``done``: how much of the input had been read behind them."""

    number: int
    first: int
    documents: tuple[InputDocument, ...]
    done: int

    @property
    def place(self) -> str:
        """Files and lines, for messages; none of the text."""
        first, last = self.documents[0], self.documents[-1]
        if first.file != last.file or first.line is None:
            return first.file if len(self.documents) == 1 else f"{first.file} to {last.file}"
        return f"{first.file}, lines {first.line} to {last.line}"

    @property
    def digest(self) -> str:
        """Equal for equal documents."""
        found = blake2b(digest_size=16)
        for one in self.documents:
            question = "" if one.question is None else f"?{one.question}"
            for part in (one.id, one.text, one.locale, question, one.file, str(one.line), *one.group_keys):
                data = part.encode("utf-8", "surrogatepass")
                found.update(b"%d:" % len(data))
                found.update(data)
        return found.hexdigest()


def document_chunks(
    found: Iterable[InputDocument | RefusedRow],
    set_aside: Callable[[RefusedRow], object],
    done: Callable[[], int],
    most_documents: int = MOST_DOCUMENTS,
) -> Iterator[DocumentChunk]:
    """Yield the documents of *found* in chunks, and call *set_aside* with what is none.

    *done* (``DocumentReader.done``) is asked at the end of each chunk.
    """
    number, first, size = 0, 0, 0
    taken: list[InputDocument] = []
    for one in found:
        if isinstance(one, RefusedRow):
            set_aside(one)
            continue
        taken.append(one)
        size += len(one.text)
        if len(taken) >= most_documents or size >= MOST_CHARACTERS:
            yield DocumentChunk(number, first, tuple(taken), done())
            number, first, size, taken = number + 1, first + len(taken), 0, []
    if taken:
        yield DocumentChunk(number, first, tuple(taken), done())


TEXTS: Final = ("text", "context")  # what the field of the text may be called, if nobody says
_MOST_KEYS: Final = 12


class RowDocuments:
    """Makes documents of the rows of the file called *file*, which may be objects, or texts alone."""

    def __init__(self, file: str, settings: DetectionInput) -> None:
        self._file = file
        self._settings = settings
        self._texts = TEXTS if settings.text_field is None else (settings.text_field,)
        self._locales: dict[str, str] = {}

    def of_text(self, line: int | None, text: str) -> InputDocument:
        """Return the document of a text without anything beside it. Raises ``RowFault`` if it is blank or has no locale."""
        if not text.strip():
            raise RowFault("there is no text in it")
        return InputDocument(self._file if line is None else f"{self._file}:{line}", text, self._locale({}), None, self._file, line)

    def of_row(self, line: int, row: Json) -> InputDocument:
        """Return the document of an object. Raises ``RowFault`` if a field is missing or of another kind."""
        given = self._id(row)
        return InputDocument(
            id=given or f"{self._file}:{line}",
            text=self._text(row),
            locale=self._locale(row),
            question=self._question(row),
            file=self._file,
            line=line,
            given_id=given,
            group_keys=_group_keys(row.get("meta")),
        )

    def _text(self, row: Json) -> str:
        for name in self._texts:
            found = reached(row, name)
            if found is MISSING:
                continue
            if found is not None and not isinstance(found, str):
                raise RowFault(f"{name}: must be text")
            if not found or not found.strip():
                raise RowFault(f"{name}: there is no text in it")
            return found
        raise RowFault(f"there is no {' and no '.join(map(repr, self._texts))} in the row; it has: {_shown_keys(row)}")

    def _id(self, row: Json) -> str | None:
        name = self._settings.id_field
        found = self._named(row, name) if name is not None else row.get("id")
        if isinstance(found, float) and found.is_integer():  # a column of integers that once had a gap
            found = int(found)
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
        if found is None or isinstance(found, str):
            return found or None
        raise RowFault(f"{name or 'id'}: must be text or a whole number")

    def _question(self, row: Json) -> str | None:
        name = self._settings.question_field
        found = row.get("question") if name is None else self._named(row, name)
        if found is None or isinstance(found, str):
            return found
        raise RowFault(f"{name or 'question'}: must be text or null")

    def _locale(self, row: Json) -> str:
        name, fallback = self._settings.locale_field, self._settings.locale
        if name is None and fallback is not None:
            return fallback
        found = row.get("locale") if name is None else reached(row, name)
        if found is None or found is MISSING or found == "":
            if fallback is None:
                raise RowFault("the row names no locale, and --locale gives none")
            return fallback
        if not isinstance(found, str):
            raise RowFault(f"{name or 'locale'}: must be text")
        if found not in self._locales:
            try:
                self._locales[found] = self._settings.checked_locale(found)
            except UsageError:
                raise RowFault(f"{name or 'locale'}: unknown locale {quoted(found)}") from None
        return self._locales[found]

    def _named(self, row: Json, name: str) -> Any:
        found = reached(row, name)
        if found is MISSING:
            raise RowFault(f"there is no {name!r} in the row; it has: {_shown_keys(row)}")
        return found


def _shown_keys(row: Json) -> str:
    names = list(row)
    return ", ".join(map(repr, names[:_MOST_KEYS])) + (" …" if len(names) > _MOST_KEYS else "") or "nothing"


def _group_keys(meta: object) -> tuple[str, ...]:
    keys = meta.get("group_keys") if isinstance(meta, dict) else None
    return tuple(key for key in keys if isinstance(key, str)) if isinstance(keys, list) else ()


TXT: Final = "txt"
_SUFFIXES: Final = {
    ".txt": TXT,
    ".text": TXT,
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".conll": "conll",
    ".spacy": "spacy",
}
# Formats whose fields can be named, by the way they are read. Those of the registry have fields of their own.
ROWS: Final = {"jsonl": "jsonl", "native": "jsonl", "json": "json", "capid": "json"}
TABLES: Final = {"csv": ",", "tsv": "\t", "parquet": "", "huggingface": ""}
_OTHERS: Final = tuple(name for name, one in READABLE.items() if isinstance(one, NativeShapedFormat) and name not in {*ROWS, *TABLES})
_FOLDERS: Final = {name for name in _OTHERS if not READABLE[name].suffix}
KNOWN: Final = (TXT, *ROWS, *TABLES, *_OTHERS)
_BLOCK: Final = 1 << 20


class TextFile(NamedTuple):
    """A file to read. ``name`` is its path within the input.

    ``size`` is in lines or rows, and 1 for a file that is one document; None: unknown.
    """

    path: Path
    name: str
    format: str
    size: int | None


def find_files(settings: DetectionInput) -> list[TextFile]:
    """Return the files of the input, those of a folder sorted by name; hidden ones and those of another format are left out.

    Raises ``UsageError`` for an unknown format or a setting that does not fit it, and ``DataError`` if there is nothing to read.
    """
    path, told = settings.path, settings.input_format
    if told is not None and told not in KNOWN:
        raise UsageError(f"unknown format {told!r}", where="--input-format", remedy=f"{meant(told)}Known formats: {', '.join(KNOWN)}")
    if not path.exists():
        raise DataError("there is no such file or folder", where=str(path), remedy="Check the path")
    found = list(_in_folder(path, told)) if path.is_dir() else [(path.name, path, told or _by_suffix(path))]
    for _, _, file_format in found[:1]:
        _check_settings(settings, file_format)
    return [TextFile(place, name, file_format, _size(place, name, file_format, settings)) for name, place, file_format in found]


def _by_suffix(path: Path) -> str:
    try:
        return _SUFFIXES[path.suffix.lower()]
    except KeyError:
        remedy = f"Name it with --input-format: {', '.join(KNOWN)}"
        raise UsageError("the format cannot be told by the file's suffix", where=str(path), remedy=remedy) from None


def _in_folder(folder: Path, told: str | None) -> Iterator[tuple[str, Path, str]]:
    if told in _FOLDERS or (told is None and any(folder.rglob("*.ann"))):
        yield folder.name, folder, told or "brat"
        return
    wanted = told or TXT
    suffixes = {suffix for suffix, name in _SUFFIXES.items() if name == ROWS.get(wanted, wanted)}
    named = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.suffix.lower() in suffixes)
    empty = True
    for name, path in named:
        if not path.is_file() or any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if not name.isprintable() and not encodes(name):
            raise DataError("the file's name is not UTF-8", where=ascii(name), remedy="Rename it")
        empty = False
        yield name, path, wanted
    if empty:
        there = ", ".join(sorted({path.suffix for path in folder.rglob("*") if path.is_file()})[:12]) or "no files"
        remedy = "Name a file of it, or the format of its files with --input-format"
        raise DataError(
            f"the folder has no {' or '.join(sorted(suffixes)) or wanted} file; there are: {there}", where=str(folder), remedy=remedy
        )


def _check_settings(settings: DetectionInput, file_format: str) -> None:
    """Raise ``UsageError`` for a setting that has no effect on files of *file_format*."""
    if settings.lines and file_format != TXT:
        raise UsageError("only text files are read line by line", where="--lines", remedy=f"Leave it out: the format is {file_format}")
    named = settings.named_fields
    if file_format == TXT and settings.locale is None and not named:
        raise UsageError("no locale is given, and a text file names none", where="--locale", remedy="Name it: --locale pl_PL")
    if named and file_format not in {*ROWS, *TABLES}:
        option = next(iter(named))
        raise UsageError(f"the format {file_format} has no fields to be named", where=option, remedy="Leave it out")


def _size(path: Path, name: str, file_format: str, settings: DetectionInput) -> int | None:
    if file_format == TXT and not settings.lines:
        return 1
    if path.is_dir() or file_format == "json" or file_format in _OTHERS:
        return None
    if file_format in {"parquet", "huggingface"}:
        return parquet_size(path)[0]
    try:
        with path.open("rb") as fh:
            lines, last = 0, b"\n"
            while block := fh.read(_BLOCK):
                lines += block.count(b"\n")
                last = block[-1:]
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", where=name, remedy="Check its permissions") from error
    return lines + (last != b"\n")


_OWN_COLUMNS = {"context", "spans", "meta"}  # a table that piiloom wrote, whose cells are to be unescaped
_MOST_COLUMNS = 40


class DocumentReader:
    """The documents of an input. ``done`` of ``total`` lines, rows or files were read so far; ``total`` is None if that is not known.

    The constructor raises what ``find_files`` raises.
    """

    def __init__(self, settings: DetectionInput) -> None:
        self._settings = settings
        self.files = find_files(settings)
        sizes = [file.size for file in self.files]
        self.total = None if None in sizes else sum(size or 0 for size in sizes)
        self.done = 0
        self.documents = 0
        self.refused = 0

    def read(self) -> Iterator[InputDocument | RefusedRow]:
        """Yield all documents in order, and what is none.

        Raises ``DataError`` if a file cannot be read, and at the end if there was no document.
        """
        first: RefusedRow | None = None
        before = 0
        for file in self.files:
            for found in self._of_file(file):
                self.done = before + (found.line or 1)
                if isinstance(found, RefusedRow):
                    self.refused += 1
                    first = first or found
                else:
                    self.documents += 1
                yield found
            before += file.size or 0
        self.done = before
        if not self.documents:
            raise self._nothing(first)

    def _of_file(self, file: TextFile) -> Iterator[InputDocument | RefusedRow]:
        maker = RowDocuments(file.name, self._settings)
        if file.format == TXT and not self._settings.lines:
            yield self._whole_file(file, maker)
            return
        for row in _rows(file, maker, self._settings):
            yield RefusedRow(file.name, row.line, row.reason, row.row) if isinstance(row, RowReject) else row

    def _whole_file(self, file: TextFile, maker: RowDocuments) -> InputDocument | RefusedRow:
        try:
            return maker.of_text(None, file.path.read_bytes().removeprefix(codecs.BOM_UTF8).decode("utf-8"))
        except UnicodeDecodeError as error:
            reason, line = "the file is not UTF-8 text", error.object.count(b"\n", 0, error.start) + 1
            cause: Exception = error
        except OSError as error:
            reason, line, cause = f"the file cannot be read ({error.strerror})", None, error
        except RowFault as fault:
            return RefusedRow(file.name, None, str(fault), "")
        if len(self.files) > 1:
            return RefusedRow(file.name, line, reason, "")
        raise DataError(reason, where=file.name if line is None else f"{file.name}:{line}", remedy="Convert it to UTF-8") from cause

    def _nothing(self, first: RefusedRow | None) -> DataError:
        path = self._settings.path
        if first is None:
            return DataError("there are no documents in it", where=str(path), remedy="Give an input with at least one document")
        what, remedy = "row of the input", "Name the fields with --text-field, --id-field …, or the format with --input-format"
        if TXT in {file.format for file in self.files}:
            what, remedy = "text of the input", "Give an input with at least one document"
        return DataError(f"no {what} can be read; the first fault: {first.reason}", where=first.where, remedy=remedy)


def _rows(file: TextFile, maker: RowDocuments, settings: DetectionInput) -> Iterator[InputDocument | RowReject]:
    tally = ReadTally()
    if file.format == TXT:
        return read_rows(numbered_lines(file.path), maker.of_text, tally)
    if file.format in ROWS:
        lines = array_rows(file.path) if ROWS[file.format] == "json" and _is_array(file) else numbered_lines(file.path)
        return read_rows(lines, lambda number, text: maker.of_row(number, parse_object(text)), tally)
    if file.format in TABLES:
        return _table_rows(file, maker, settings, tally)
    return _registered(file.format, file, maker, tally)


def _registered(name: str, file: TextFile, maker: RowDocuments, tally: ReadTally) -> Iterator[InputDocument | RowReject]:
    found = READABLE[name]
    assert isinstance(found, NativeShapedFormat)  # noqa: S101 - ``input_files.KNOWN`` has no others
    return found.read_with(file.path, ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True, all_mentions=True), tally, maker.of_row)


def _is_array(file: TextFile) -> bool:
    first = next(numbered_lines(file.path), (1, ""))[1]
    return first.lstrip().startswith("[")


def _table_rows(file: TextFile, maker: RowDocuments, settings: DetectionInput, tally: ReadTally) -> Iterator[InputDocument | RowReject]:
    if delimiter := TABLES[file.format]:
        rows = csv_rows(file.path, delimiter)
        header = csv_header(file.path, rows)
    else:
        header = parquet_columns(file.path)
    if not settings.named_fields and set(header) >= _OWN_COLUMNS:
        return _registered("csv" if delimiter else "parquet", file, maker, tally)
    _check_header(file, header, settings)
    if not delimiter:
        return read_rows(parquet_rows(file.path), lambda number, row: maker.of_row(number, _sound(row)), tally, shown=_shown_row)

    def made(number: int, row: TableRow) -> InputDocument:
        if row.fault is not None:
            raise RowFault(row.fault)
        if len(row.cells) != len(header):
            raise RowFault(f"the row has {len(row.cells)} cells, the header {len(header)}")
        return maker.of_row(number, {name: cell or None for name, cell in zip(header, row.cells, strict=True)})

    return read_rows(rows, made, tally, shown=lambda row: row.text)


def _check_header(file: TextFile, header: Sequence[str], settings: DetectionInput) -> None:
    """Raise ``DataError`` if a column that is needed is not there."""
    shown = ", ".join(map(repr, header[:_MOST_COLUMNS])) + (" …" if len(header) > _MOST_COLUMNS else "")
    for option, name in settings.named_fields.items():
        if name not in header and name.partition(".")[0] not in header:
            raise DataError(f"there is no column {name!r}; there are: {shown}", where=file.name, remedy=f"Name another with {option}")
    if settings.text_field is None and not set(TEXTS) & set(header):
        remedy = "Name the column of the texts with --text-field"
        raise DataError(f"there is no column {' and no '.join(map(repr, TEXTS))}; there are: {shown}", where=file.name, remedy=remedy)


def _sound(row: Json | RowFault) -> Json:
    if isinstance(row, RowFault):
        raise row
    return row


def _shown_row(row: Json | RowFault) -> str:
    return "" if isinstance(row, RowFault) else json.dumps(row, ensure_ascii=False, default=str)
