"""Words of people and of texts where Streamlit would read Markdown: labels, captions, messages."""

from __future__ import annotations

import re
from typing import Final

import streamlit as st

from piiloom.foundation.errors import PiiloomError

_MEANING: Final = frozenset("\\`*_{}[]<>()#+-.!|~$:^&=/@")
# What Streamlit looks for once the backslashes are gone: addresses (links), its own logo, arrows and dashes made of signs.
_FOUND_LATER: Final = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)|(?<=:)(?=streamlit:)|(?<=[-<>=~!])(?=[-<>=~])", re.IGNORECASE)
# Shows nothing, allows no line to break there, and parts what would be found.
_JOINER: Final = "\u2060"


def plain(text: str) -> str:
    r"""*text* in one line, so that Markdown shows it as it is (``\`` before each sign that could mean something).

    Where a backslash does not help there is an invisible sign (U+2060): what somebody may want to copy is no case for this.
    """
    parted = _FOUND_LATER.sub(_JOINER, " ".join(text.split()))
    return "".join(f"\\{sign}" if sign in _MEANING else sign for sign in parted)


def tell(error: PiiloomError) -> None:
    """Show what went wrong; the error may quote a name or an id that somebody chose."""
    st.warning(plain(str(error)))
