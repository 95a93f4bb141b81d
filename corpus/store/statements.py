"""How the query modules write a SELECT: names are constants of theirs, values are always parameters."""

from __future__ import annotations

from collections.abc import Sequence


def select(columns: Sequence[str], table: str, rest: str = "") -> str:
    """``SELECT columns FROM table rest``. None of the three may ever hold a value that came from outside."""
    return f"SELECT {', '.join(columns)} FROM {table} {rest}"  # noqa: S608 - see the docstring
