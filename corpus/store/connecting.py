"""Connecting to a store's file: with which settings, and to write it with some patience for those who only read it."""

from __future__ import annotations

import time

import duckdb

from piiloom.corpus.store.faults import is_read_elsewhere

# Commands that read are done in seconds; one that prints into a pager may take as long as it likes.
PATIENCE_S = 10.0
_PAUSE_S = 0.05

Settings = dict[str, str | bool | int | float | list[str]]


def bounded(memory_limit: str, threads: int) -> Settings:
    """The settings of every connection: how much DuckDB takes, and that it reads nothing but the file it is given."""
    return {
        "memory_limit": memory_limit,
        "threads": str(threads),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",  # a table that is missing is not a Python variable of that name
    }


def connect_to_write(target: str, settings: Settings) -> duckdb.DuckDBPyConnection:
    """Connect to the file *target*, waiting a moment where other processes only read it. Raises what DuckDB does."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return duckdb.connect(target, config=settings)
        except duckdb.Error as error:
            if not is_read_elsewhere(error) or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_S)
