"""Prepare an input so that it can be read several times, in the same chunks each time.

Members of zip files are unpacked to a spool folder, and files in other encodings are converted to UTF-8 there. They stay until the run
is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from piiloom.foundation.errors import DataError
from piiloom.foundation.scratch_places import scratch_folder
from piiloom.surrogates.inputs.archives import Allowance, members_of, open_archive, unpack
from piiloom.surrogates.inputs.arrow_files import is_about_dataset
from piiloom.surrogates.inputs.brat_files import SUFFIX, annotations_of
from piiloom.surrogates.inputs.conll_files import conll_layout
from piiloom.surrogates.inputs.cutting import cuts
from piiloom.surrogates.inputs.decoding import encoding_of, to_utf8
from piiloom.surrogates.inputs.faults import cannot_read
from piiloom.surrogates.inputs.listing import Listed, format_of, list_files
from piiloom.surrogates.inputs.parquet_files import parquet_layout
from piiloom.surrogates.inputs.parts import CARRIED, BratLayout, Chunk, InputFile, ParquetLayout, Part, TableLayout
from piiloom.surrogates.inputs.settings import InputSettings
from piiloom.surrogates.inputs.table_layouts import table_layout

# Most parts in one chunk: small files share a chunk, but the message about it to a worker must not get long.
_MOST_PARTS: Final = 32
_HEAD: Final = 1024


class Source:
    """The files of an input. Call ``prepare`` first.

    ``skipped`` has the names of skipped files, ``archives`` the path of each zip file by its name. *spool* is an existing folder.
    """

    def __init__(self, settings: InputSettings, spool: Path) -> None:
        self.settings = settings
        self.files: list[InputFile] = []
        self.skipped: list[str] = []
        self.archives: dict[str, Path] = {}
        self._spool = spool
        self._allowance = Allowance(settings.max_unpacked)
        self._stamps: list[tuple[int, int]] = []
        self._companions: set[str] = set()  # files that are read with another one
        self._cuts: dict[int, list[int]] = {}

    def prepare(self) -> None:
        """List, unpack and convert all files and find their layouts. Raises ``DataError`` or ``UsageError`` if one cannot be read."""
        for listed in list_files(self.settings, self.skipped):
            try:
                if listed.format == "zip":
                    self._unpack(listed)
                else:
                    annotations = Path(annotations_of(str(listed.path)))
                    there = listed.format == "txt" and annotations.is_file() and not annotations.is_symlink()
                    self._add(listed, "", listed.path, annotations if there else None)
            except OSError as error:
                if error.filename is not None and not Path(error.filename).is_relative_to(self._spool):
                    raise cannot_read(listed.name, error) from error
                raise
        self.skipped = [name for name in self.skipped if name not in self._companions]

    @property
    def size(self) -> int:
        """Total bytes of all files as they are read: unpacked, and as UTF-8."""
        return sum(size for size, _ in self._stamps)

    def bytes_of(self, part: Part) -> int:
        """The bytes that *part* has of ``size``. Those of a Parquet file are shared out over its rows."""
        if not isinstance(part.file.layout, ParquetLayout):
            return part.end - part.start
        size, rows = self._stamps[part.file.number][0], max(part.file.size, 1)
        return size * part.end // rows - size * part.start // rows

    def _unpack(self, listed: Listed) -> None:
        self.archives[listed.name] = listed.path
        with open_archive(listed.path, listed.name) as archive:
            known = 0
            members = {info.filename: info for info in members_of(archive, listed.name)}
            for info in members.values():
                name = f"{listed.name}/{info.filename}"
                found = format_of(info.filename, self.settings.format)
                if found is None or found == "zip" or Path(info.filename).name.startswith("."):
                    self.skipped.append(name)
                    continue
                target = self._spool / f"member-{len(self.files):07}"
                unpack(archive, info, target, self._allowance, listed.name)
                notes = members.get(annotations_of(info.filename)) if found == "txt" else None
                if notes is not None:
                    unpack(archive, notes, target.with_suffix(SUFFIX), self._allowance, listed.name)
                self._add(Listed(name, target, found), listed.name, target, target.with_suffix(SUFFIX) if notes is not None else None)
                known += 1
        if not known:
            raise DataError("the archive has no file of a known format", where=listed.name)

    def _add(self, listed: Listed, archive: str, path: Path, annotations: Path | None) -> None:
        number, size = len(self.files), path.stat().st_size
        file = InputFile(number, listed.name, path, listed.format, size, archive=archive)
        if listed.format == "json" and is_about_dataset(listed.name, path):
            file = file._replace(format=CARRIED)
        elif listed.format in {"parquet", "arrow"}:
            layout, rows = parquet_layout(file, self.settings)
            file = file._replace(size=rows, layout=layout)
        elif listed.format != "docx":
            file = self._text_file(file, annotations)
        self.files.append(file)
        self._stamps.append(_stamp(file.path))

    def _text_file(self, file: InputFile, annotations: Path | None) -> InputFile:
        path = file.path
        with path.open("rb") as fh:
            encoding, bom = encoding_of(fh.read(_HEAD), file.format, self.settings.encoding, file.name)
        file = file._replace(encoding=encoding, bom=bom)
        if encoding != "utf-8":
            target = self._spool / f"utf8-{file.number:07}"
            file = file._replace(path=target, size=to_utf8(file, target))
            if file.archive:
                path.unlink()
        if annotations is not None:
            name = annotations_of(file.name)
            self._companions.add(name)
            if encoding != "utf-8":
                target = self._spool / f"utf8-{file.number:07}{SUFFIX}"
                to_utf8(InputFile(file.number, name, annotations, "brat", 0, encoding), target)
                annotations = target
            file = file._replace(format="brat", layout=BratLayout(name, annotations))
        if file.format == "conll":
            file = file._replace(layout=conll_layout(file.path, file.name, self.settings))
        if file.format in {"csv", "tsv"} and file.size:
            file = file._replace(layout=table_layout(file.path, file.name, file.format, self.settings))
        return file

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks of all files, in order. An empty file is one empty part. Raises ``DataError`` if a file has changed."""
        index, parts, size = 0, list[Part](), 0
        for file in self.files:
            if _stamp(file.path) != self._stamps[file.number]:
                raise DataError("the file has changed while it was read", where=file.name, remedy="Run again when nobody writes to it")
            for part in self._parts(file):
                if parts and (size >= self.settings.chunk_bytes or len(parts) == _MOST_PARTS):
                    yield Chunk(index, tuple(parts))
                    index, parts, size = index + 1, [], 0
                parts.append(part)
                size += self.settings.chunk_bytes if isinstance(file.layout, ParquetLayout) else part.end - part.start
        if parts:
            yield Chunk(index, tuple(parts))

    def _parts(self, file: InputFile) -> Iterator[Part]:
        start = 0
        for end in self._ends(file):
            yield Part(file, start, end)
            start = end
        if start == 0:
            yield Part(file, 0, 0)

    def _ends(self, file: InputFile) -> Iterator[int]:
        """Yield the ends of a file's parts. Tables and JSON arrays are searched only once; their ends are kept in memory."""
        known = self._cuts.get(file.number)
        if known is not None:
            yield from known
            return
        found: list[int] = []
        with file.path.open("rb") as fh:
            for end in cuts(fh, file, self.settings.chunk_bytes):
                found.append(end)
                yield end
        if isinstance(file.layout, TableLayout) or file.format == "json":
            self._cuts[file.number] = found


def words_of_name(name: str) -> str:
    """Return the file name *name* as words: "smith_JaneAnn.txt" is "smith Jane Ann txt"."""
    return re.sub(r"[\W_]+|(?<=[^\W\d_A-Z])(?=[A-Z])|%20", " ", name)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(f"the file is gone ({error.strerror})", where=path.name) from error
    return status.st_size, status.st_mtime_ns


@contextmanager
def open_source(settings: InputSettings) -> Iterator[Source]:
    """Open a prepared source with a temporary spool folder, for reading outside a run."""
    with scratch_folder("piiloom-unpacked-") as spool:
        source = Source(settings, spool)
        source.prepare()
        yield source
