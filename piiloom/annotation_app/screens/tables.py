"""Tables on the pages. The browser can save and copy them, so no cell may be a formula for a spreadsheet: names and texts are people's own.

A cell that a spreadsheet would compute begins with an apostrophe, on the screen too: what is saved is what is seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

_SIGNS: Final = "=+\\-@＝＋－＠"
# At the beginning, also behind blanks and control characters; and behind a semicolon or a tab, at which some spreadsheets split a line.
_RISKY: Final = re.compile(rf"(?:\A|(?<=[;\t\r\n]))(?=[\s\x00-\x1f]*[{_SIGNS}])|\A(?=[\t\r\n])")
# Numbers and the dash that stands for none are no formulas.
_HARMLESS: Final = re.compile(r"[+-]?\d[\d.,\s]*%?|[+-]")


def safe_cell(value: Any) -> Any:
    """Return *value* for a table: text that a spreadsheet would take for a formula begins with an apostrophe. Lists are gone through."""
    if isinstance(value, str):
        return value if _HARMLESS.fullmatch(value) else _RISKY.sub("'", value)
    if isinstance(value, list | tuple):
        return [safe_cell(one) for one in value]
    return value


def safe_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return *rows* with safe cells and column names, for a table or for a chart, whose data the browser can save as well."""
    return [{str(safe_cell(name)): safe_cell(value) for name, value in row.items()} for row in rows]


def show_table(rows: Sequence[Mapping[str, Any]], **settings: Any) -> Any:
    """Show *rows* in the width of the page, without an index; *settings* and the result are those of ``st.dataframe``."""
    return st.dataframe(safe_rows(rows), hide_index=True, width="stretch", **settings)
