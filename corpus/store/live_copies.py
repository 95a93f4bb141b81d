"""Copying the file of a store while another process writes it, and telling a whole copy from a torn one.

Between two checkpoints DuckDB only appends to the log, and writes to no block of the file that the current header reaches; what a
checkpoint does shows in the header (it counts checkpoints), in the log (it is cut off) or in a second log beside it. So the log is
copied first, then the file; where none of the three has changed meanwhile, both belong together, and a log that was caught in the
midst of a commit is read up to the commit before it. The file is only read: no lock is taken, and none is asked for.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from piiloom.corpus.store.copying import log_of, remove
from piiloom.foundation.errors import OutputError

# DuckDB's main header and its two database headers, written in turn, each with the number of its checkpoint.
_HEADERS = 3 * 4096
_PIECE = 1 << 20
_PREFIX = "piiloom-reading-"
# What stands beside the log while a checkpoint is under way.
_UNDER_WAY = (".checkpoint", ".recovery")


@contextmanager
def folder_for_copies() -> Iterator[Path]:
    """Give a private folder for temporary files that goes with all that is in it; also those of processes that were killed go."""
    try:
        parent = Path(tempfile.gettempdir())
        _sweep(parent)
        folder = tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise OutputError(
            f"no folder for a copy to read can be made ({error.strerror})", where="TMPDIR", remedy="Set TMPDIR to a folder with room"
        ) from error
    with folder as name:
        yield Path(name)


def copy_in_use(path: Path, target: Path) -> bool:
    """Copy the store at *path* and its log to *target*; whether the copy is whole. A torn one is deleted.

    Raises ``OutputError`` where there is no room, and ``OSError`` where the store cannot be read.
    """
    source = path.resolve()
    whole = False
    try:
        with source.open("rb") as file:
            whole = _copy(source, file, target)
    finally:
        if not whole:
            remove(target)
    return whole


def _copy(source: Path, file: BinaryIO, target: Path) -> bool:
    headers = _headers(file)
    if _checkpoint_under_way(source):
        return False
    _need_room(target.parent, os.fstat(file.fileno()).st_size + _size(log_of(source)))
    has_log = _copy_log(log_of(source), log_of(target))
    with target.open("xb") as copy:
        file.seek(0)
        _pour(file, copy)
    return (
        not _checkpoint_under_way(source)
        and (not has_log or _begins_with(log_of(source), log_of(target)))
        and _headers(file) == headers
        and os.fstat(file.fileno()).st_ino == source.stat().st_ino  # nobody has put another file in its place
    )


def _headers(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(_HEADERS)


def _checkpoint_under_way(source: Path) -> bool:
    log = log_of(source)
    return any(log.with_name(f"{log.name}{ending}").exists() for ending in _UNDER_WAY)


def _copy_log(log: Path, target: Path) -> bool:
    try:
        with log.open("rb") as file, target.open("xb") as copy:
            _pour(file, copy)
    except FileNotFoundError:
        return False
    return True


def _begins_with(log: Path, copied: Path) -> bool:
    """Whether *log* still begins with what was copied of it."""
    try:
        with log.open("rb") as now, copied.open("rb") as then:
            while piece := then.read(_PIECE):
                if now.read(len(piece)) != piece:
                    return False
    except FileNotFoundError:
        return False
    return True


def _pour(source: BinaryIO, target: BinaryIO) -> None:
    try:
        shutil.copyfileobj(source, target, _PIECE)
        target.flush()
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise _no_room(Path(target.name).parent, str(error.strerror)) from error
        raise


def _need_room(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size + _PIECE:
        raise _no_room(folder.parent, f"it takes {size / 1e6:,.1f} MB and {free / 1e6:,.1f} MB are free")


def _no_room(folder: Path, cause: str) -> OutputError:
    return OutputError(
        f"there is no room for a copy of the store to read ({cause})",
        where=str(folder),
        remedy="Set TMPDIR to a folder with room, or wait for the process that uses the store",
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _sweep(parent: Path) -> None:
    """Delete the folders of processes that are gone."""
    for folder in parent.glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not _is_alive(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    with suppress(PermissionError):  # then it is somebody else's, and alive
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True
