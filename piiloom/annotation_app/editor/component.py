"""The Streamlit components of the editor and of what all pages do in the browser: registered once when this module is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from piiloom.annotation_app.editor.assets import loader

_editor = st.components.v2.component("piiloom_editor", js=loader(), isolate_styles=True)
_page = st.components.v2.component("piiloom_page", js=loader("mountPage"), isolate_styles=True)


def mount(data: Mapping[str, Any], *, key: str, on_outbox: Callable[[], None], on_intent: Callable[[], None]) -> None:
    """Show the editor with *data*. Edits arrive in ``st.session_state[key].outbox``, navigation in ``st.session_state[key].intent``.

    The browser sends both values together. Either callback may come first, but the outbox must be delivered before the intent is followed.
    """
    _editor(key=key, data=dict(data), on_outbox_change=on_outbox, on_intent_change=on_intent)


def mount_page() -> None:
    """Have the browser do on this page what Streamlit lacks (see ``js/page_main.js``). Nothing of it takes room."""
    _page(key="piiloom_page", height=0)
