"""The source of documents: the files of an input, a folder or an archive, in the same chunks at each reading.

Each folder is sorted by name. Hidden files and files of unknown formats are skipped and reported. Links must stay inside the input and
must not form a cycle.

Members of zip files are unpacked as streams to file names that we choose, never to names from the archive. Refused with a
``DataError`` that names the member: absolute paths and paths with "..", links, encrypted and duplicate members, and members that unpack to
more than is allowed (zip bombs). Unpacked members and files converted to UTF-8 stay in a spool folder until the run is over.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.whole_files import scratch_folder
from piiloom.surrogates.inputs.column_files import is_about_dataset, parquet_layout
from piiloom.surrogates.inputs.conll_files import conll_layout
from piiloom.surrogates.inputs.given_spans import SUFFIX, annotations_of
from piiloom.surrogates.inputs.parts import (
    CARRIED,
    FORMATS,
    UNDECODED,
    WHOLE_FILES,
    BratLayout,
    FilePart,
    ParquetLayout,
    PartChunk,
    SourceFile,
    SourceSettings,
    TableLayout,
    cannot_read,
)
from piiloom.surrogates.inputs.tables import table_layout
from piiloom.surrogates.inputs.text_files import cuts, encoding_of, to_utf8


def format_named(name: str, told: str | None) -> str | None:
    """Return the format by the suffix of *name*, or *told* (the user's setting) if the suffix is unknown.

    No suffix tells that a text or table is in CoNLL's columns, so there *told* decides.
    """
    if told == "conll" and FORMATS.get(Path(name).suffix.lower()) in {"txt", "tsv"}:
        return told
    return FORMATS.get(Path(name).suffix.lower(), told)


def list_files(settings: SourceSettings, skipped: list[str]) -> Iterator[SourceFile]:
    """Yield the files to read, with name, path and format (or "zip"), and append the names of skipped ones to *skipped*.

    Raises ``UsageError`` if there is nothing to read, and ``DataError`` for bad links, unreadable folders and names that are not UTF-8.
    """
    root = settings.path
    if root.is_file():
        known = format_named(root.name, settings.format)
        if known is None:
            remedy = f"The format follows from the suffix ({', '.join(FORMATS)}); give another with --input-format"
            raise UsageError("the file's format is not known", where=str(root), remedy=remedy)
        yield SourceFile(0, root.name, root, known, 0)
        return
    if not root.is_dir():
        raise UsageError("there is no such file or folder", where=str(root), remedy="Check the path")
    empty = True
    for name, path in _walk(root, "", root.resolve(), (root.resolve(),)):
        known = format_named(name, settings.format)
        if UNDECODED.search(name):
            raise DataError("the file's name is not UTF-8", where=ascii(name), remedy="Rename it")
        if known is None or path.name.startswith("."):
            skipped.append(name)
        else:
            empty = False
            yield SourceFile(0, name, path, known, 0)
    if empty:
        raise UsageError("the folder has no file of a known format", where=str(root), remedy=f"Known are {', '.join(FORMATS)}")


def _walk(folder: Path, prefix: str, root: Path, above: tuple[Path, ...]) -> Iterator[tuple[str, Path]]:
    try:
        with os.scandir(folder) as entries:
            names = sorted((entry.name, entry.is_symlink()) for entry in entries)
    except OSError as error:
        raise cannot_read(prefix or str(folder), error) from error
    for name, is_link in names:
        path, inner = folder / name, f"{prefix}{name}"
        real = _inside(path, inner, root) if is_link else path
        if real.is_dir():
            if name.startswith("."):
                continue
            target = real.resolve()
            if target in above:
                raise DataError("the link leads back to a folder that contains it", where=inner, remedy="Remove it")
            yield from _walk(path, f"{inner}/", root, (*above, target))
        elif real.is_file():
            yield inner, path


def _inside(link: Path, inner: str, root: Path) -> Path:
    try:
        real = link.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise DataError("the target of the link does not exist", where=inner, remedy="Remove it") from error
    if not real.is_relative_to(root):
        raise DataError("the link leads out of the input folder", where=inner, remedy="Put the file itself there, or remove the link")
    return real


_RATIO: Final = 200
_RATIO_MATTERS_FROM: Final = 100 * 10**6
_BLOCK: Final = 1 << 20
_ENCRYPTED: Final = 0x1


class Allowance:
    """Budget of bytes that may be unpacked from all archives of an input."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def take(self, size: int, where: str) -> None:
        """Use *size* bytes of the budget. Raises ``DataError`` when it is exceeded."""
        self.used += size
        if self.used > self.limit:
            raise DataError(
                f"the archives unpack to more than {self.limit:,} bytes",
                where=where,
                remedy="Allow more with --max-unpacked, if you trust the archive",
            )


@contextmanager
def open_archive(path: Path, name: str) -> Iterator[zipfile.ZipFile]:
    """Open a zip file. Raises ``DataError`` if it is damaged or no zip file; also for such errors while it is read in the block."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DataError(
            "the zip file is damaged, or its compression is not supported", where=name, remedy="Unpack it yourself and give the folder"
        ) from error


def archive_members(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """Return the files in *archive*, in its order, without folders. Raises ``DataError`` for a member that is refused (see above)."""
    found: list[zipfile.ZipInfo] = []
    taken: set[str] = set()
    for info in archive.infolist():
        where = f"{name}/{info.filename}"
        _check_path(info, where)
        if info.is_dir():
            continue
        if info.filename in taken:
            raise DataError("the archive has this member twice", where=where, remedy="Pack the archive again")
        taken.add(info.filename)
        found.append(info)
    return found


def _check_path(info: zipfile.ZipInfo, where: str) -> None:
    path = PurePosixPath(info.filename.replace("\\", "/"))
    leads_out = path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":"))
    for wrong, message, remedy in (
        (leads_out, "the member's path leads out of the archive", "Pack the archive again with relative paths"),
        (stat.S_ISLNK(info.external_attr >> 16), "the member is a symbolic link", "Pack the file itself"),
        (info.flag_bits & _ENCRYPTED, "the member is encrypted", "Unpack it yourself and give the folder"),
    ):
        if wrong:
            raise DataError(message, where=where, remedy=remedy)


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, name: str) -> bytes:
    """Return the bytes of a member. Raises ``DataError`` as ``unpacked`` does."""
    return b"".join(unpacked(archive, info, allowance, name))


def unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, name: str) -> Iterator[bytes]:
    """Yield the bytes of a member in blocks.

    Raises ``DataError`` if *allowance* is exceeded, or for over 100 MB at a compression ratio above 200.
    """
    where = f"{name}/{info.filename}"
    if allowance.used + info.file_size > allowance.limit:
        allowance.take(info.file_size, where)
    size = 0
    with archive.open(info) as packed:
        while block := packed.read(_BLOCK):
            size += len(block)
            allowance.take(len(block), where)
            if size > _RATIO_MATTERS_FROM and size > _RATIO * max(info.compress_size, 1):
                raise DataError(
                    f"the member unpacks to more than {_RATIO} times its size: a zip bomb?",
                    where=where,
                    remedy="Unpack it yourself and give the folder, if you trust the archive",
                )
            yield block


def copied_info(known: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """Return the description for writing a member that has the name, date, compression and attributes of *known*."""
    info = zipfile.ZipInfo(known.filename, known.date_time)
    info.compress_type, info.external_attr, info.create_system = known.compress_type, known.external_attr, known.create_system
    info.comment = known.comment
    return info


# Most parts in one chunk: small files share a chunk, but the message about it to a worker must not get long.
_MOST_PARTS: Final = 32
_HEAD: Final = 1024


class InputSource:
    """The files of an input. Call ``prepare`` first.

    ``skipped`` has the names of skipped files, ``archives`` the path of each zip file by its name. *spool* is an existing folder.
    """

    def __init__(self, settings: SourceSettings, spool: Path) -> None:
        self.settings = settings
        self.files: list[SourceFile] = []
        self.skipped: list[str] = []
        self.archives: dict[str, Path] = {}
        self._spool = spool
        self._allowance = Allowance(settings.max_unpacked)
        self._stamps: list[tuple[int, int]] = []
        self._companions: set[str] = set()  # files that are read with another one
        self._cuts: dict[int, list[int]] = {}

    def prepare(self) -> None:
        """List, unpack and convert all files and find their layouts. Raises ``DataError`` or ``UsageError`` if one cannot be read."""
        for file in list_files(self.settings, self.skipped):
            try:
                if file.format == "zip":
                    self._unpack(file)
                else:
                    annotations = Path(annotations_of(str(file.path)))
                    there = file.format == "txt" and annotations.is_file() and not annotations.is_symlink()
                    self._add(file, annotations if there else None)
            except OSError as error:
                if error.filename is not None and not Path(error.filename).is_relative_to(self._spool):
                    raise cannot_read(file.name, error) from error
                raise
        self.skipped = [name for name in self.skipped if name not in self._companions]

    @property
    def size(self) -> int:
        """Total bytes of all files as they are read: unpacked, and as UTF-8."""
        return sum(size for size, _ in self._stamps)

    def bytes_of(self, part: FilePart) -> int:
        """The bytes that *part* has of ``size``. Those of a Parquet file are shared out over its rows."""
        if not isinstance(part.file.layout, ParquetLayout):
            return part.end - part.start
        size, rows = self._stamps[part.file.number][0], max(part.file.size, 1)
        return size * part.end // rows - size * part.start // rows

    def _unpack(self, packed: SourceFile) -> None:
        self.archives[packed.name] = packed.path
        before = len(self.files)
        with open_archive(packed.path, packed.name) as archive:
            members = {info.filename: info for info in archive_members(archive, packed.name)}
            for member, info in members.items():
                name = f"{packed.name}/{member}"
                found = format_named(member, self.settings.format)
                if found is None or found == "zip" or Path(member).name.startswith("."):
                    self.skipped.append(name)
                    continue
                target = self._spool / f"member-{len(self.files):07}"
                notes = members.get(annotations_of(member)) if found == "txt" else None
                annotations = target.with_suffix(SUFFIX) if notes is not None else None
                for one, path in ((info, target), (notes, annotations)):
                    if one is not None and path is not None:
                        with path.open("xb") as out:
                            out.writelines(unpacked(archive, one, self._allowance, packed.name))
                self._add(SourceFile(0, name, target, found, 0, archive=packed.name), annotations)
        if len(self.files) == before:
            raise DataError("the archive has no file of a known format", where=packed.name)

    def _add(self, file: SourceFile, annotations: Path | None) -> None:
        if self.settings.group_by is not None and file.format not in {*WHOLE_FILES, "csv", "tsv"}:
            raise UsageError("only rows of tables (.csv, .tsv) are grouped", where=file.name, remedy="Leave --group-by out")
        file = file._replace(number=len(self.files), size=file.path.stat().st_size)
        if file.format == "json" and is_about_dataset(file.name, file.path):
            file = file._replace(format=CARRIED)
        elif file.format in {"parquet", "arrow"}:
            layout, rows = parquet_layout(file, self.settings)
            file = file._replace(size=rows, layout=layout)
        elif file.format != "docx":
            file = self._text_file(file, annotations)
        self.files.append(file)
        self._stamps.append(_stamp(file.path))

    def _text_file(self, file: SourceFile, annotations: Path | None) -> SourceFile:
        with file.path.open("rb") as fh:
            encoding, bom = encoding_of(fh.read(_HEAD), file.format, self.settings.encoding, file.name)
        original = file = file._replace(encoding=encoding, bom=bom)
        file = self._converted(file)
        if file.archive and file.path != original.path:
            original.path.unlink()
        if annotations is not None:
            notes = self._converted(original._replace(name=annotations_of(file.name), path=annotations, bom=b""), SUFFIX)
            self._companions.add(notes.name)
            file = file._replace(format="brat", layout=BratLayout(notes.name, notes.path))
        if file.format == "conll":
            file = file._replace(layout=conll_layout(file.path, file.name, self.settings))
        if file.format in {"csv", "tsv"} and file.size:
            file = file._replace(layout=table_layout(file.path, file.name, file.format, self.settings))
        return file

    def _converted(self, file: SourceFile, suffix: str = "") -> SourceFile:
        if file.encoding == "utf-8":
            return file
        target = self._spool / f"utf8-{file.number:07}{suffix}"
        return file._replace(path=target, size=to_utf8(file, target))

    def chunks(self) -> Iterator[PartChunk]:
        """Yield the chunks of all files, in order. An empty file is one empty part. Raises ``DataError`` if a file has changed."""
        index, parts, size = 0, list[FilePart](), 0
        for file in self.files:
            if _stamp(file.path) != self._stamps[file.number]:
                raise DataError("the file has changed while it was read", where=file.name, remedy="Run again when nobody writes to it")
            for part in self._parts(file):
                if parts and (size >= self.settings.chunk_bytes or len(parts) == _MOST_PARTS):
                    yield PartChunk(index, tuple(parts))
                    index, parts, size = index + 1, [], 0
                parts.append(part)
                size += self.settings.chunk_bytes if isinstance(file.layout, ParquetLayout) else part.end - part.start
        if parts:
            yield PartChunk(index, tuple(parts))

    def _parts(self, file: SourceFile) -> Iterator[FilePart]:
        start = 0
        for end in self._ends(file):
            yield FilePart(file, start, end)
            start = end
        if start == 0:
            yield FilePart(file, 0, 0)

    def _ends(self, file: SourceFile) -> Iterator[int]:
        """Yield the ends of a file's parts. Tables and JSON arrays are searched only once; their ends are kept in memory."""
        known = self._cuts.get(file.number)
        if known is not None:
            yield from known
            return
        if isinstance(file.layout, TableLayout) and file.layout.group is not None:  # a group is whole in one part
            yield file.size
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
def open_source(settings: SourceSettings) -> Iterator[InputSource]:
    """Open a prepared source with a temporary spool folder, for reading outside a run."""
    with scratch_folder("piiloom-unpacked-") as spool:
        source = InputSource(settings, spool)
        source.prepare()
        yield source
