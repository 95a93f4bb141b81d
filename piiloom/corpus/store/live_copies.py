"""Copy a store's file while another process writes it, and detect inconsistent copies.

Between checkpoints DuckDB only appends to the write-ahead log and never changes a block that the current header refers to. A
checkpoint shows in the header (which counts checkpoints), in the log (which is truncated) or as a second log beside it. So the log
is copied first, then the file. If none of the three signs appeared meanwhile, log and file belong together. If the copied log ends
in the middle of a commit, DuckDB replays it up to the previous commit. The file is only read, without a lock.
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

# Size of DuckDB's main header and its two database headers. The latter are written alternately, each with a checkpoint number.
_HEADERS = 3 * 4096
_PIECE = 1 << 20
_PREFIX = "piiloom-reading-"
# Suffixes of the files beside the log while a checkpoint is in progress.
_UNDER_WAY = (".checkpoint", ".recovery")


@contextmanager
def folder_for_copies() -> Iterator[Path]:
    """Create a private temporary folder and delete it at the end of the block. Also delete folders left by killed processes.

    Raises ``OutputError`` if it cannot be created.
    """
    try:
        parent = Path(tempfile.gettempdir())
        _sweep(parent)
        folder = tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise OutputError(
            f"no folder for a temporary copy of the store can be made ({error.strerror})",
            where="TMPDIR",
            remedy="Set TMPDIR to a folder with free disk space",
        ) from error
    with folder as name:
        yield Path(name)


def copy_in_use(path: Path, target: Path) -> bool:
    """Copy the store at *path* and its log to *target*. Return whether the copy is consistent; if not, it is deleted.

    Raises ``OutputError`` if there is no room, and ``OSError`` if the store cannot be read.
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
        and os.fstat(file.fileno()).st_ino == source.stat().st_ino  # the file has not been replaced
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
        f"there is no disk space for a temporary copy of the store ({cause})",
        where=str(folder),
        remedy="Set TMPDIR to a folder with free disk space, or wait for the process that uses the store",
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _sweep(parent: Path) -> None:
    """Delete the temporary folders of processes that no longer run."""
    for folder in parent.glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not _is_alive(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    with suppress(PermissionError):  # then the process exists but belongs to another user
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True
