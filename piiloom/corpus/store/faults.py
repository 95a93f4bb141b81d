"""Translate DuckDB's errors into piiloom's: a file that cannot be written or opened, and the process that holds it.

DuckDB may quote stored data in a message ("could not convert string …"), so its messages are never shown to the user. They are
only searched for known phrases about files and causes. The original error stays attached as the cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from piiloom.corpus.store.snapshot_files import restore_hint
from piiloom.foundation.errors import DataError, NotAStore, OutputError, PiiloomError, StoreError, StoreLocked, StoreTooNew

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
    return StoreError(f"DuckDB refused a statement ({type(error).__name__})", where=str(path))


def opening_fault(error: duckdb.Error, path: Path) -> PiiloomError:
    """Return piiloom's error for one that DuckDB raised when opening *path*."""
    text = str(error)
    if is_locked(error):
        return _locked(holding_process(error), path, reads=is_read_elsewhere(error))
    if isinstance(error, duckdb.ConnectionException):
        return StoreLocked("this process has the store open already, with other settings", where=str(path), remedy="Close it there first")
    if any(said in text for said in _CANNOT_WRITE):
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


def is_locked(error: duckdb.Error) -> bool:
    """Whether DuckDB could not open a file because another process holds it."""
    return "Could not set lock" in str(error)


def holding_process(error: duckdb.Error) -> int | None:
    """Return the id of the process that holds the file, or None if DuckDB's message does not name it."""
    found = _HOLDER.search(str(error))
    return int(found.group(1)) if found else None


def is_read_elsewhere(error: duckdb.Error) -> bool:
    """Whether DuckDB could not open a file for writing because others read it (its message then suggests read-only mode)."""
    return is_locked(error) and "read-only mode" in str(error)


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
