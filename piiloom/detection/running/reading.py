"""Find the files of an input, their formats, and how long they are."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.comma_separated import TableRow, csv_header, csv_rows
from piiloom.corpus.formats.native_rows import RowFault, array_rows, numbered_lines, parse_object, read_rows
from piiloom.corpus.formats.parquet import parquet_columns, parquet_rows, parquet_size
from piiloom.corpus.formats.registry import READABLE, meant
from piiloom.corpus.formats.row_reading import NativeShapedFormat
from piiloom.detection.running.chunks import InputDocument, RefusedRow
from piiloom.detection.running.input_settings import DetectionInput
from piiloom.detection.running.row_documents import TEXTS, RowDocuments
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy

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


class SourceFile(NamedTuple):
    """A file to read. ``name`` is its path within the input.

    ``size`` is in lines or rows, and 1 for a file that is one document; None: unknown.
    """

    path: Path
    name: str
    format: str
    size: int | None


def find_files(settings: DetectionInput) -> list[SourceFile]:
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
        _check(settings, file_format)
    return [SourceFile(place, name, file_format, _size(place, name, file_format, settings)) for name, place, file_format in found]


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
        if not name.isprintable() and not _is_unicode(name):
            raise DataError("the file's name is not UTF-8", where=ascii(name), remedy="Rename it")
        empty = False
        yield name, path, wanted
    if empty:
        there = ", ".join(sorted({path.suffix for path in folder.rglob("*") if path.is_file()})[:12]) or "no files"
        remedy = "Name a file of it, or the format of its files with --input-format"
        raise DataError(
            f"the folder has no {' or '.join(sorted(suffixes)) or wanted} file; there are: {there}", where=str(folder), remedy=remedy
        )


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _check(settings: DetectionInput, file_format: str) -> None:
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
_MOST_SHOWN = 40


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

    def _of_file(self, file: SourceFile) -> Iterator[InputDocument | RefusedRow]:
        maker = RowDocuments(file.name, self._settings)
        if file.format == TXT and not self._settings.lines:
            yield self._whole_file(file, maker)
            return
        for row in _rows(file, maker, self._settings):
            yield RefusedRow(file.name, row.line, row.reason, row.row) if isinstance(row, RowReject) else row

    def _whole_file(self, file: SourceFile, maker: RowDocuments) -> InputDocument | RefusedRow:
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


def _rows(file: SourceFile, maker: RowDocuments, settings: DetectionInput) -> Iterator[InputDocument | RowReject]:
    tally = ReadTally()
    if file.format == TXT:
        return read_rows(numbered_lines(file.path), maker.of_text, tally)
    if file.format in ROWS:
        lines = array_rows(file.path) if ROWS[file.format] == "json" and _is_array(file) else numbered_lines(file.path)
        return read_rows(lines, lambda number, text: maker.of_row(number, parse_object(text)), tally)
    if file.format in TABLES:
        return _table_rows(file, maker, settings, tally)
    return _registered(file.format, file, maker, tally)


def _registered(name: str, file: SourceFile, maker: RowDocuments, tally: ReadTally) -> Iterator[InputDocument | RowReject]:
    found = READABLE[name]
    assert isinstance(found, NativeShapedFormat)  # noqa: S101 - ``input_files.KNOWN`` has no others
    return found.read_with(file.path, ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True, all_mentions=True), tally, maker.of_row)


def _is_array(file: SourceFile) -> bool:
    first = next(numbered_lines(file.path), (1, ""))[1]
    return first.lstrip().startswith("[")


def _table_rows(file: SourceFile, maker: RowDocuments, settings: DetectionInput, tally: ReadTally) -> Iterator[InputDocument | RowReject]:
    if delimiter := TABLES[file.format]:
        rows = csv_rows(file.path, delimiter)
        header = csv_header(file.path, rows)
    else:
        header = parquet_columns(file.path)
    if not settings.named_fields and set(header) >= _OWN_COLUMNS:
        return _registered("csv" if delimiter else "parquet", file, maker, tally)
    _check_header(file, header, settings)
    if not delimiter:
        return read_rows(parquet_rows(file.path), lambda number, row: maker.of_row(number, _sound(row)), tally, shown=_shown)

    def made(number: int, row: TableRow) -> InputDocument:
        if row.fault is not None:
            raise RowFault(row.fault)
        if len(row.cells) != len(header):
            raise RowFault(f"the row has {len(row.cells)} cells, the header {len(header)}")
        return maker.of_row(number, {name: cell or None for name, cell in zip(header, row.cells, strict=True)})

    return read_rows(rows, made, tally, shown=lambda row: row.text)


def _check_header(file: SourceFile, header: Sequence[str], settings: DetectionInput) -> None:
    """Raise ``DataError`` if a column that is needed is not there."""
    shown = ", ".join(map(repr, header[:_MOST_SHOWN])) + (" …" if len(header) > _MOST_SHOWN else "")
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


def _shown(row: Json | RowFault) -> str:
    return "" if isinstance(row, RowFault) else json.dumps(row, ensure_ascii=False, default=str)
