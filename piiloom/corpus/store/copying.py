"""Helpers for copying and replacing a store file: SQL quoting, syncing to disk, locking, and removing partial copies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piiloom.foundation.errors import StoreLocked


def log_of(path: Path) -> Path:
    """Return the path of DuckDB's write-ahead log for the store at *path*."""
    return path.with_name(f"{path.name}.wal")


def remove(partial: Path) -> None:
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
