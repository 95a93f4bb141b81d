"""What stands below the editor: the types of the record's spans as the guidelines have them, questions about it, its history.

A short record leaves most of a screen empty. Then they stand there open, side by side; below a long one they are closed, one below the
other, so that nothing is read for them at each edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.serving.services import Services
from piiloom.taxonomy.entity_types import EntityType

# Characters of question and context up to which a record is short: about twelve lines.
_SHORT: Final = 1_200
# Types to tell of, and passages of the guidelines for each of them.
_MOST_TYPES, _MOST_PASSAGES = 8, 2
_STYLE: Final = """<style>
.st-key-piiloom_below [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
.st-key-piiloom_below [data-testid="stColumn"] { min-width: min(22rem, 100%); }
.st-key-piiloom_below [data-testid="stMarkdownContainer"] p, .st-key-piiloom_below [data-testid="stText"] { font-size: 0.88rem; }
</style>"""


@dataclass(frozen=True, slots=True)
class Room:
    """The three places below the editor, and whether there is room to show their contents at once."""

    types: DeltaGenerator
    questions: DeltaGenerator
    history: DeltaGenerator
    is_open: bool


def room_below(document: Mapping[str, Any]) -> Room:
    """Return the places below the editor, which shows *document* (in its JSON form)."""
    if len(document["context"]) + len(document.get("question") or "") > _SHORT:
        return Room(st.container(), st.container(), st.container(), is_open=False)
    with st.container(key="piiloom_below"):
        st.html(_STYLE)
        types, questions, history = st.columns([4, 3, 4], gap="medium")
    return Room(types, questions, history, is_open=True)


def show_types(services: Services, record_id: str, document: Mapping[str, Any], *, is_open: bool) -> None:
    """Say of each type in *document* what counts as it, and what the guidelines say of it, in text order."""
    kinds = services.shared.taxonomy.types
    names = [name for name in dict.fromkeys(span["type"] for span in document["spans"]) if name in kinds][:_MOST_TYPES]
    if not names:
        return
    said = services.guidelines.passages(names)
    with st.expander("Guidelines of its types", expanded=is_open, key=f"types-{record_id}"):
        for name in names:
            st.markdown(_told(kinds[name], said[name][:_MOST_PASSAGES]))


def _told(kind: EntityType, passages: Sequence[str]) -> str:
    counts, others = ("; ".join(map(escape_markdown, some)) for some in (kind.counts, kind.does_not_count))
    lines = [f"**{escape_markdown(kind.name)}**: {escape_markdown(kind.definition)}"]
    lines += [f"Counts: {counts}."] if counts else []
    lines += [f"Does not count: {others}."] if others else []
    return "  \n".join([*lines, *passages])
