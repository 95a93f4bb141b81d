"""Zip files: members are unpacked as streams to file names that we choose, never to names from the archive.

Refused with a ``DataError`` that names the member: absolute paths and paths with "..", links, encrypted and duplicate members, and
members that unpack to more than is allowed (zip bombs).
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

from piiloom.foundation.errors import DataError

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


def members_of(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
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
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")):
        raise DataError("the member's path leads out of the archive", where=where, remedy="Pack the archive again with relative paths")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise DataError("the member is a symbolic link", where=where, remedy="Pack the file itself")
    if info.flag_bits & _ENCRYPTED:
        raise DataError("the member is encrypted", where=where, remedy="Unpack it yourself and give the folder")


def unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, allowance: Allowance, name: str) -> None:
    """Unpack a member to the new file *target*.

    Raises ``DataError`` if *allowance* is exceeded, or for over 100 MB at a compression ratio above 200.
    """
    with target.open("xb") as out:
        for block in _blocks(archive, info, allowance, name):
            out.write(block)


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, name: str) -> bytes:
    """Return the bytes of a member. Raises ``DataError`` as ``unpack`` does."""
    return b"".join(_blocks(archive, info, allowance, name))


def _blocks(archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, name: str) -> Iterator[bytes]:
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
