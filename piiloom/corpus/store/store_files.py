"""The files of a store (log, copies, snapshots; names, locks, writing to disk), connections to one, and errors of DuckDB.

Snapshots are ``<store>.snapshots/<UTC time>Z.duckdb``; their names sort by time.

``copy_in_use`` copies a store while another process writes it, and detects inconsistent copies. Between checkpoints DuckDB only appends
to the write-ahead log and never changes a block that the current header refers to. A checkpoint shows in the header (which counts
checkpoints), in the log (which is truncated) or as a second log beside it. So the log is copied first, then the file. If none of the three
signs appeared meanwhile, log and file belong together. If the copied log ends in the middle of a commit, DuckDB replays it up to the
previous commit. The file is only read, without a lock.

DuckDB may quote stored data in a message ("could not convert string …"). So its class is reported with our own text for known
causes. Only messages about the statement itself, the schema and settings are shown. The original error is attached as the cause.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, TypeVar

import duckdb

from piiloom.foundation.errors import DataError, NotAStore, OutputError, PiiloomError, StoreError, StoreLocked, StoreTooNew


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


def copy_database(change: Callable[[str], object], source: str, name: str) -> None:
    """Copy the open database *source* into the one that is attached under *name*, which becomes a single file without a log."""
    change(f"COPY FROM DATABASE {identifier(source)} TO {name}")
    change(f"CHECKPOINT {name}")


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


T = TypeVar("T")
_HOLDER = re.compile(r"\(PID (\d+)\)")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Operating system messages for failed writes, as DuckDB quotes them, and what we say instead.
_CANNOT_WRITE = {
    "No space left on device": "the disk is full",
    "Disk quota exceeded": "the disk quota is used up",
    "File too large": "the file size limit is reached",
    "Read-only file system": "the file system is read-only",
    "Permission denied": "permission is denied",
    "No such file or directory": "the folder does not exist",
    "Not a directory": "a part of the path is not a folder",
    "Is a directory": "the path is a folder",
}
_INTERRUPTED = "Query interrupted"
# Our text for the classes of errors whose messages may quote data; the first class that fits counts.
_CAUSES: tuple[tuple[type[duckdb.Error], str], ...] = (
    (duckdb.ConstraintException, "a row breaks a rule of its table: a key occurs twice, or a value is missing"),
    (duckdb.OutOfRangeException, "a number is too large"),
    (duckdb.ConversionException, "a value is of another type than its column"),
    (duckdb.TransactionException, "another transaction changed the same rows, or an earlier statement of this one failed"),
    (duckdb.InternalException, "an internal error of DuckDB"),
    (duckdb.IOException, "a file cannot be read or written"),
    (duckdb.SerializationException, "stored data cannot be decoded"),
)
# Classes whose messages concern the statement, the schema or a setting; and how the messages about settings begin that other classes have.
_ABOUT_STATEMENTS = (duckdb.ParserException, duckdb.SyntaxException, duckdb.BinderException, duckdb.CatalogException)
_ABOUT_SETTINGS = re.compile(r"(could not (change|set) |cannot (change|set) |the following options were not recognized)", re.IGNORECASE)
# Offset of the magic bytes in a DuckDB file, and the bytes.
_MAGIC_AT, _MAGIC = 8, b"DUCK"


@contextmanager
def duckdb_errors(path: Path) -> Iterator[None]:
    """Turn DuckDB's errors inside the block into ``OutputError`` or ``StoreError`` about the store at *path*.

    An interrupted query raises ``KeyboardInterrupt``; any other ``RuntimeError`` passes through.
    """
    try:
        yield
    except (duckdb.Error, RuntimeError) as error:
        raise_if_interrupted(error)
        if isinstance(error, RuntimeError):
            raise
        raise translate(error, path) from error


def raise_if_interrupted(error: Exception) -> None:
    """Raise ``KeyboardInterrupt`` if *error* is what DuckDB raises when Ctrl-C interrupts a query."""
    if isinstance(error, duckdb.InterruptException) or (isinstance(error, RuntimeError) and str(error) == _INTERRUPTED):
        raise KeyboardInterrupt from error


def translate(error: duckdb.Error, path: Path) -> PiiloomError:
    """Return piiloom's error for one that DuckDB raised while the store at *path* was in use."""
    text = str(error)
    for said, meaning in _CANNOT_WRITE.items():
        if said in text:
            return OutputError(
                f"the store cannot be written: {meaning}",
                where=str(path),
                remedy="Nothing committed is lost. Free disk space or name another file with --store, then try again",
            )
    if isinstance(error, duckdb.FatalException):
        return StoreError(
            "DuckDB has closed the store after an earlier error",
            where=str(path),
            remedy="Open it again: everything committed is still there",
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return StoreError("DuckDB ran out of memory", where=str(path), remedy="Open the store with a higher memory_limit")
    cause = _message_without_data(error) or next((meaning for kind, meaning in _CAUSES if isinstance(error, kind)), None)
    return StoreError(f"DuckDB refused a statement ({type(error).__name__}{'' if cause is None else f': {cause}'})", where=str(path))


def _message_without_data(error: duckdb.Error) -> str | None:
    """Return the first line of DuckDB's message, without its class, if such messages never quote stored data; else None."""
    message = str(error).partition("\n")[0].partition(" Error: ")[2]
    return message if isinstance(error, _ABOUT_STATEMENTS) or _ABOUT_SETTINGS.match(message) else None


def opening_fault(error: duckdb.Error, path: Path) -> PiiloomError:
    """Return piiloom's error for one that DuckDB raised when opening *path*."""
    text = str(error)
    if is_store_locked(error):
        return _locked(holding_process(error), path, reads=is_read_elsewhere(error))
    if isinstance(error, duckdb.ConnectionException):
        return StoreLocked("this process has the store open already, with other settings", where=str(path), remedy="Close it there first")
    # a damaged catalogue raises CatalogException, too
    refused = _message_without_data(error) is not None and not isinstance(error, duckdb.CatalogException)
    if refused or any(said in text for said in _CANNOT_WRITE):
        return translate(error, path)
    if path.is_file() and not _is_duckdb_file(path):
        return not_a_store(path)
    if re.search(r"newer version|storage version|version number", text, re.IGNORECASE):
        return StoreTooNew("the file was written by a newer DuckDB", where=str(path), remedy="Upgrade piiloom and its duckdb package")
    wal = " (its write-ahead log is damaged)" if "WAL" in text else ""
    return StoreError(
        f"the file is damaged and cannot be opened{wal}", where=str(path), remedy=restore_hint(path) or "Restore it from a copy"
    )


def not_a_store(path: Path) -> NotAStore:
    """Return the error for an existing file at *path* that is not a DuckDB file."""
    what = "the file is not a piiloom store" if path.stat().st_size else "the file is empty, and not a piiloom store"
    return NotAStore(what, where=str(path), remedy="Nothing was changed. Name another file with --store")


def _is_duckdb_file(path: Path) -> bool:
    """Whether *path* has DuckDB's magic bytes.

    Call it only after DuckDB has failed to open the file. DuckDB's locks are POSIX locks, and closing any descriptor of a file
    releases all locks that this process holds on it.
    """
    try:
        with path.open("rb") as file:
            return file.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC
    except OSError:
        return True  # an unreadable file may still be a DuckDB file


def is_store_locked(error: BaseException) -> bool:
    """Whether DuckDB could not open a file because another process holds it."""
    return "Could not set lock" in str(error)


def holding_process(error: duckdb.Error) -> int | None:
    """Return the id of the process that holds the file, or None if DuckDB's message does not name it."""
    found = _HOLDER.search(str(error))
    return int(found.group(1)) if found else None


def is_read_elsewhere(error: BaseException) -> bool:
    """Whether DuckDB could not open a file for writing because others read it (its message then suggests read-only mode)."""
    return is_store_locked(error) and "read-only mode" in str(error)


def _locked(pid: int | None, path: Path, *, reads: bool) -> StoreLocked:
    command = holder_command(pid) if pid is not None else None
    holder = "another process" if pid is None else f"process {pid}" + (f" ({command})" if command else "")
    return StoreLocked(
        f"{holder} is reading the store" if reads else f"{holder} holds the store; DuckDB lets one process at a time write a file",
        where=str(path),
        remedy="Wait for it or stop it, or use another file with --store",
    )


def holder_command(pid: int) -> str | None:
    """Return the command line of process *pid* up to its first ``--option`` (the rest could be private); None if unknown.

    Reads ``/proc``; the result has at most 80 characters.
    """
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
    kept: list[str] = []
    for word in raw.decode("utf-8", "replace").split("\0"):
        if word.startswith("--"):
            break
        kept.append(word)
    command = " ".join(" ".join(kept).split())
    return command if len(command) <= 80 else command[:79] + "…"


def refuse_lone_surrogates(table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Raise ``DataError`` for the first row with text that UTF-8 cannot encode; the message identifies it by its first column.

    Called only after DuckDB has refused an insert, so that valid rows cost no check.
    """
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            if isinstance(value, str) and _LONE_SURROGATE.search(value):
                raise DataError(
                    f"the {column} holds a lone surrogate (half of a UTF-16 pair), which UTF-8 cannot store",
                    where=f"{table}, {columns[0]} {row[0]!a}",
                    remedy="Decode the text again, or replace the half character",
                )


# How long a writer waits for readers. Most finish in seconds, but one that prints into a pager may hold the file indefinitely.
PATIENCE_S = 10.0
_PAUSE_S = 0.05

Settings = dict[str, str | bool | int | float | list[str]]


def bounded(memory_limit: str, threads: int) -> Settings:
    """Return the settings of every connection: memory and thread limits, and nothing is read but the given file (no extensions)."""
    return {
        "memory_limit": memory_limit,
        "threads": str(threads),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",  # else DuckDB reads a Python variable in place of a missing table of that name
    }


def connect_to_write(target: str, settings: Settings) -> duckdb.DuckDBPyConnection:
    """Connect to the file *target* for writing. Retry for ``PATIENCE_S`` while other processes read it; raise DuckDB's own errors."""
    return patiently(lambda: duckdb.connect(target, config=settings), is_read_elsewhere, PATIENCE_S)


def patiently(work: Callable[[], T], passes: Callable[[BaseException], bool], patience_s: float) -> T:
    """Return the result of *work*. Retry for *patience_s* seconds while *passes* is true of its error: the cause may pass."""
    try:
        return work()
    except Exception as error:
        if not passes(error):
            raise
    # Loading tenacity takes a fifth of the time in which a command opens a store, and few have to wait.
    from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed  # noqa: PLC0415

    tries = Retrying(retry=retry_if_exception(passes), wait=wait_fixed(_PAUSE_S), stop=stop_after_delay(patience_s), reraise=True)
    return tries(work)


def hide_progress_bar(connection: duckdb.DuckDBPyConnection) -> None:
    """Turn off the progress bar, which DuckDB draws on standard output in interactive Python.

    In Jupyter without ipywidgets the bar is off already, and DuckDB refuses every statement that names the setting.
    """
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
