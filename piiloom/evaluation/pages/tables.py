"""Figures as text for people to read, and tables of them, for the terminal, Markdown and HTML.

A cell with text of the corpus or of the user is a ``Quoted``: the renderer must escape it, so that no markup in it takes effect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from piiloom.foundation.markdown import escaped, pipe_table

NOTHING = "–"
# Longer names of types are cut in labels, which stay on one line.
LABEL = 28
# Control characters and lone surrogates, which HTML cannot hold. One stands for one, so that offsets stay.
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Quoted(str):
    """Text that piiloom did not write, which must be escaped when it is rendered."""

    __slots__ = ()


def short(text: str, limit: int = 48) -> str:
    """Return *text*, cut to *limit* characters with "…" at the end if it is longer."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def printable(text: str) -> str:
    """Return *text* with U+FFFD in the place of characters that a page cannot hold."""
    return _UNSHOWN.sub("\ufffd", text)


def count(number: int | None) -> str:
    """``1,234``."""
    return NOTHING if number is None else f"{number:,}"


def as_percent(share: float | None) -> str:
    """``12.3%``, with two places below one percent."""
    if share is None:
        return NOTHING
    return f"{100 * share:.2f}%" if 0 < share < 0.00995 else f"{100 * share:.1f}%"


def as_decimal(value: float | None) -> str:
    """``0.581``."""
    return NOTHING if value is None else f"{value:.3f}"


def with_share(number: int, share: float | None) -> str:
    """``3 (1.5%)``."""
    return f"{count(number)} ({as_percent(share)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table with a note on how to read it. The first ``texts`` columns hold text, the others figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    texts: int = 1

    def markdown(self) -> str:
        """Return the table in Markdown with its title and note, its quoted cells escaped."""
        rows = [[escaped(cell) if isinstance(cell, Quoted) else cell for cell in row] for row in self.rows]
        parts = [f"## {self.title}", pipe_table(self.columns, rows, range(self.texts)), *([self.note] if self.note else [])]
        return "\n\n".join(parts)
