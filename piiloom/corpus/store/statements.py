"""Build SELECT statements. Table and column names are constants of the query modules; values are always passed as parameters."""

from __future__ import annotations

from collections.abc import Sequence


def select(columns: Sequence[str], table: str, rest: str = "") -> str:
    """Return ``SELECT columns FROM table rest``. No argument may contain a value from outside: nothing is escaped here."""
    return f"SELECT {', '.join(columns)} FROM {table} {rest}"  # noqa: S608 - see the docstring
