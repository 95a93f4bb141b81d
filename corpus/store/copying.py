"""What making a whole copy of a store file takes: names quoted for SQL, copies that are on disk, nothing left half made."""

from __future__ import annotations

import os
from pathlib import Path


def log_of(path: Path) -> Path:
    """Where DuckDB keeps the write-ahead log of the store at *path*."""
    return path.with_name(f"{path.name}.wal")


def remove(partial: Path) -> None:
    """Delete a copy that is not wanted, and its log; harmless when there is none."""
    for leftover in (partial, log_of(partial)):
        leftover.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def text_literal(text: str) -> str:
    """Write *text* as an SQL string, where a statement takes no parameter."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Write *name* as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
