"""The Streamlit component of the table: registered once when this module is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

import streamlit as st

from piiloom.foundation.yaml_files import data_folder

_FOLDER: Final = data_folder("annotation_app") / "record_table"
_table = st.components.v2.component(
    "piiloom_record_table",
    js=(_FOLDER / "table.js").read_text(encoding="utf-8"),
    css=(_FOLDER / "table.css").read_text(encoding="utf-8"),
    isolate_styles=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One record. ``name`` is what its link says (the question, or the beginning of the text); ``cells`` are by title of the column."""

    id: str
    name: str
    text: str
    cells: dict[str, str] = field(default_factory=dict)


def show_table(rows: Sequence[TableRow], columns: Sequence[str], *, key: str, on_open: Callable[[], None]) -> None:
    """Show *rows*. The id of a row that is opened arrives in ``st.session_state[key].open``; it comes from the browser, so check it."""
    _table(key=key, data={"rows": [asdict(row) for row in rows], "columns": list(columns)}, on_open_change=on_open)
