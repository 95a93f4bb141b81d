"""Escaping of free text where Streamlit renders Markdown: labels, captions, messages."""

from __future__ import annotations

import re
from typing import Final

import streamlit as st

from piiloom.foundation.errors import PiiloomError

_MEANING: Final = frozenset("\\`*_{}[]<>()#+-.!|~$:^&=/@")
# What Streamlit replaces after the backslashes are gone: URLs, its own logo, arrows and dashes made of signs.
_FOUND_LATER: Final = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)|(?<=:)(?=streamlit:)|(?<=[-<>=~!])(?=[-<>=~])", re.IGNORECASE)
# Word joiner: invisible, allows no line break, and splits what would be replaced.
_JOINER: Final = "\u2060"


def escape_markdown(text: str) -> str:
    r"""Return *text* on one line, escaped so that Markdown shows it literally.

    Each sign that could mean something gets a backslash. Where that does not help, an invisible sign (U+2060) is inserted, so do not use
    this for text that somebody may want to copy.
    """
    parted = _FOUND_LATER.sub(_JOINER, " ".join(text.split()))
    return "".join(f"\\{sign}" if sign in _MEANING else sign for sign in parted)


def show_error(error: PiiloomError) -> None:
    """Show *error* as a warning. It is escaped, since it may quote a name or an id that somebody chose."""
    st.warning(escape_markdown(str(error)))
