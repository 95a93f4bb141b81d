"""Connect to a store's file: the DuckDB settings, and retries when a writer has to wait for readers."""

from __future__ import annotations

import time

import duckdb

from piiloom.corpus.store.faults import is_read_elsewhere

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
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return duckdb.connect(target, config=settings)
        except duckdb.Error as error:
            if not is_read_elsewhere(error) or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_S)
