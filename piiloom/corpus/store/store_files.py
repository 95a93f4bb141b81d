"""The files of a store: its log, copies and snapshots; names, locks, and writing them to disk.

Snapshots are ``<store>.snapshots/<UTC time>Z.duckdb``; their names sort by time.

``copy_in_use`` copies a store while another process writes it, and detects inconsistent copies. Between checkpoints DuckDB only appends
to the write-ahead log and never changes a block that the current header refers to. A checkpoint shows in the header (which counts
checkpoints), in the log (which is truncated) or as a second log beside it. So the log is copied first, then the file. If none of the three
signs appeared meanwhile, log and file belong together. If the copied log ends in the middle of a commit, DuckDB replays it up to the
previous commit. The file is only read, without a lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from piiloom.foundation.errors import OutputError, StoreLocked


def log_of(path: Path) -> Path:
    """Return the path of DuckDB's write-ahead log for the store at *path*."""
    return path.with_name(f"{path.name}.wal")


def remove_files(partial: Path) -> None:
    """Delete the copy *partial* and its log, if they exist."""
    for leftover in (partial, log_of(partial)):
        leftover.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Call ``fsync`` on a file or folder. Syncing a folder makes new and renamed entries in it durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def text_literal(text: str) -> str:
    """Quote *text* as an SQL string literal, for statements that take no parameters."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Quote *name* as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def attached(change: Callable[[str], object], path: Path, name: str, *, read_only: bool = False) -> Iterator[None]:
    """Attach the store at *path* under *name* to the connection on which *change* runs a statement."""
    change(f"ATTACH {text_literal(str(path.absolute()))} AS {name}{' (READ_ONLY)' if read_only else ''}")
    try:
        yield
    finally:
        change(f"DETACH {name}")


@contextmanager
def locked(target: Path, path: Path) -> Iterator[None]:
    """Hold the POSIX lock that DuckDB uses, so that no process opens *target*, if it exists, while it is renamed or replaced.

    A process that opens the old file just before finds it locked, and gives up. Raises ``StoreLocked``, which names *path*.
    """
    if not target.exists():
        yield
        return
    with target.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise opened_meanwhile(path) from None
        yield


def opened_meanwhile(path: Path) -> StoreLocked:
    """Return the error for a store that another process has opened while it was being copied or replaced."""
    return StoreLocked(
        "another process has opened the store in the meantime", where=str(path), remedy="Nothing was changed. Try again when it has ended"
    )


_FORM = "%Y-%m-%dT%H%M%S.%f"
_SUFFIX = "Z.duckdb"


def snapshot_folder(path: Path) -> Path:
    """Return the snapshot folder of the store at *path*. If *path* is a symbolic link, it lies beside the link's target."""
    target = path.resolve()
    return target.with_name(f"{target.name}.snapshots")


def list_snapshots(path: Path) -> list[Path]:
    """The snapshots of the store at *path*, oldest first."""
    try:
        return sorted(entry for entry in snapshot_folder(path).iterdir() if snapshot_time(entry) is not None)
    except OSError:
        return []


def snapshot_time(snapshot: Path) -> datetime | None:
    """Return the time (UTC) in a snapshot's file name, or None if the file is not a snapshot."""
    if not snapshot.name.endswith(_SUFFIX):
        return None
    try:
        return datetime.strptime(snapshot.name.removesuffix(_SUFFIX), _FORM).replace(tzinfo=UTC)
    except ValueError:
        return None


def next_snapshot(path: Path, now: datetime) -> Path:
    """Return the path for a snapshot made *now*. It always sorts after the newest one, even if the clock was set back."""
    moment = now.astimezone(UTC).replace(microsecond=now.microsecond // 1000 * 1000)
    newest = max((made for made in map(snapshot_time, list_snapshots(path)) if made is not None), default=None)
    if newest is not None and newest >= moment:
        moment = newest + timedelta(milliseconds=1)
    return snapshot_folder(path) / f"{moment.strftime(_FORM)[:-3]}{_SUFFIX}"


def restore_hint(path: Path) -> str | None:
    """Return a sentence with the command that restores the newest snapshot of the store at *path*; None if there is none."""
    snapshots = list_snapshots(path)
    if not snapshots:
        return None
    command = f"piiloom annotate --restore {shlex.quote(str(snapshots[-1]))} --store {shlex.quote(str(path))}"
    return f"Get the newest of {len(snapshots)} snapshots back, the damaged file is kept: {command}"


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
            remove_files(target)
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
