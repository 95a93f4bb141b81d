"""A table of figures, for the terminal, Markdown and HTML.

A cell with text of the corpus or of the user is a ``Quoted``: the renderer must escape it, so that no markup in it takes effect.
"""

from __future__ import annotations

from dataclasses import dataclass

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table with a note on how to read it. The first ``texts`` columns hold text, the others figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""
    texts: int = 1
