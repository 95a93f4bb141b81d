"""Find the files of an input, their formats, and how long they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from piiloom.corpus.formats.arrow_rows import parquet_size
from piiloom.corpus.formats.registry import READABLE, meant
from piiloom.corpus.formats.row_reading import NativeShapedFormat
from piiloom.detection.running.input_settings import InputSettings
from piiloom.foundation.errors import DataError, UsageError

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


class InputFile(NamedTuple):
    """A file to read. ``name`` is its path within the input.

    ``size`` is in lines or rows, and 1 for a file that is one document; None: unknown.
    """

    path: Path
    name: str
    format: str
    size: int | None


def find_files(settings: InputSettings) -> list[InputFile]:
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
    return [InputFile(place, name, file_format, _size(place, name, file_format, settings)) for name, place, file_format in found]


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


def _check(settings: InputSettings, file_format: str) -> None:
    """Raise ``UsageError`` for a setting that has no effect on files of *file_format*."""
    if settings.lines and file_format != TXT:
        raise UsageError("only text files are read line by line", where="--lines", remedy=f"Leave it out: the format is {file_format}")
    named = settings.named_fields
    if file_format == TXT and settings.locale is None and not named:
        raise UsageError("no locale is given, and a text file names none", where="--locale", remedy="Name it: --locale pl_PL")
    if named and file_format not in {*ROWS, *TABLES}:
        option = next(iter(named))
        raise UsageError(f"the format {file_format} has no fields to be named", where=option, remedy="Leave it out")


def _size(path: Path, name: str, file_format: str, settings: InputSettings) -> int | None:
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
