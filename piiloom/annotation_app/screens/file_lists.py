"""Lists of downloadable files as HTML tables. Links in Streamlit's own tables are drawn, so the keyboard cannot reach them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

_STYLE = """<style>
.piiloom-files { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
.piiloom-files th { text-align: left; font-weight: 600; opacity: 0.75; }
.piiloom-files th, .piiloom-files td { padding: 0.35rem 0.9rem 0.35rem 0; border-bottom: 1px solid
  color-mix(in srgb, currentColor 18%, transparent); overflow-wrap: anywhere; }
.piiloom-files .n { padding-right: 1.6rem; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.piiloom-files a { color: inherit; text-underline-offset: 0.2em; }
.piiloom-files a:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
</style>"""


def show_files(columns: Sequence[str], rows: Sequence[tuple[str, str, Sequence[str | int]]]) -> None:
    """Show a table. Each row is (link text, URL, further cells); cells with integers are right-aligned."""
    head = "".join(f"<th{_kind(rows[0][2][n - 1]) if n else ''}>{escape(name)}</th>" for n, name in enumerate(columns))
    body = "".join(
        f'<tr><td><a href="{escape(link)}" download>{escape(words)}</a></td>{"".join(map(_cell, cells))}</tr>'
        for words, link, cells in rows
    )
    st.html(f'{_STYLE}<table class="piiloom-files"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')


def size_of(count: int) -> str:
    """Format a number of bytes as kB or MB."""
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{max(1, round(count / 1e3)):,} kB"


def _cell(value: str | int) -> str:
    return f"<td{_kind(value)}>{escape(f'{value:,}' if isinstance(value, int) else value)}</td>"


def _kind(value: str | int) -> str:
    return ' class="n"' if isinstance(value, int) else ""
