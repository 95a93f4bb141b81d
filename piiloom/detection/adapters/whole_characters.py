"""Texts as libraries can encode them: half of a surrogate pair, which JSON may hold, is no character of UTF-8."""

from __future__ import annotations

import re
from typing import Final

_HALF: Final = re.compile("[\ud800-\udfff]")


def with_whole_characters(text: str) -> str:
    """Return *text* with the replacement character in the place of each half of a pair, so that all offsets stay."""
    return _HALF.sub("\ufffd", text)
