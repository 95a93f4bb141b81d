"""Words of people and of texts where Streamlit would read Markdown: labels, captions, messages."""

from __future__ import annotations

from typing import Final

import streamlit as st

from foundation.errors import PiiloomError

_MEANING: Final = frozenset("\\`*_{}[]<>()#+-.!|~$:^&=/@")


def plain(text: str) -> str:
    r"""*text* in one line, so that Markdown shows it as it is (``\`` before each sign that could mean something)."""
    return "".join(f"\\{sign}" if sign in _MEANING else sign for sign in " ".join(text.split()))


def tell(error: PiiloomError) -> None:
    """Show what went wrong; the error may quote a name or an id that somebody chose."""
    st.warning(plain(str(error)))
