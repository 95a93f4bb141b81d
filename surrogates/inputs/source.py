"""Prepare an input so that it can be read several times, in the same chunks each time.

Members of zip files are unpacked to a spool folder, and files in other encodings are converted to UTF-8 there. They stay until the run
is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from piiloom.foundation.errors import DataError
from piiloom.foundation.scratch_places import scratch_folder
from piiloom.surrogates.inputs.archives import Allowance, members_of, open_archive, unpack
from piiloom.surrogates.inputs.cutting import cuts
from piiloom.surrogates.inputs.decoding import encoding_of, to_utf8
from piiloom.surrogates.inputs.faults import cannot_read
from piiloom.surrogates.inputs.listing import Listed, format_of, list_files
from piiloom.surrogates.inputs.parquet_files import parquet_layout
from piiloom.surrogates.inputs.parts import Chunk, InputFile, ParquetLayout, Part, TableLayout
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
        self._cuts: dict[int, list[int]] = {}

    def prepare(self) -> None:
        """List, unpack and convert all files and find their layouts. Raises ``DataError`` or ``UsageError`` if one cannot be read."""
        for listed in list_files(self.settings, self.skipped):
            try:
                if listed.format == "zip":
                    self._unpack(listed)
                else:
                    self._add(listed, "", listed.path)
            except OSError as error:
                if error.filename is not None and not Path(error.filename).is_relative_to(self._spool):
                    raise cannot_read(listed.name, error) from error
                raise

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
            for info in members_of(archive, listed.name):
                name = f"{listed.name}/{info.filename}"
                found = format_of(info.filename, self.settings.format)
                if found is None or found == "zip" or Path(info.filename).name.startswith("."):
                    self.skipped.append(name)
                    continue
                target = self._spool / f"member-{len(self.files):07}"
                unpack(archive, info, target, self._allowance, listed.name)
                self._add(Listed(name, target, found), listed.name, target)
                known += 1
        if not known:
            raise DataError("the archive has no file of a known format", where=listed.name)

    def _add(self, listed: Listed, archive: str, path: Path) -> None:
        number, size = len(self.files), path.stat().st_size
        if listed.format == "parquet":
            layout, rows = parquet_layout(path, listed.name, self.settings)
            file = InputFile(number, listed.name, path, "parquet", rows, archive=archive, layout=layout)
        else:
            with path.open("rb") as fh:
                encoding, bom = encoding_of(fh.read(_HEAD), listed.format, self.settings.encoding, listed.name)
            file = InputFile(number, listed.name, path, listed.format, size, encoding, bom, archive)
            if encoding != "utf-8":
                target = self._spool / f"utf8-{number:07}"
                file = file._replace(path=target, size=to_utf8(file, target))
                if archive:
                    path.unlink()
            if listed.format in {"csv", "tsv"} and file.size:
                file = file._replace(layout=table_layout(file.path, file.name, file.format, self.settings))
        self.files.append(file)
        self._stamps.append(_stamp(file.path))

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
