"""Helpers for copying a store file: SQL quoting, syncing to disk, and removing partial copies."""

from __future__ import annotations

import os
from pathlib import Path


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
