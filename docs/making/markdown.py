"""Small pieces of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NOTICE = "<!-- Made from the code by `python -m docs.making`: change it there. -->"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of *heads* and *rows*, whose cells are Markdown; a bar inside a cell is escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"


def page(title: str, *parts: str) -> str:
    """A whole page: its title, the notice that it is made, and *parts* with an empty line between them."""
    return "\n\n".join((f"# {title}", NOTICE, *(part.strip("\n") for part in parts))) + "\n"
