"""Inline mention marks: ``[[v3|asthma]]`` in a reply says that *asthma* mentions value *v3*.

Marks are how a text stage learns offsets without searching: two mentions of one word stay apart. They are stripped
before anything is stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MARK = re.compile(r"\[\[(v\d+)\|([^\[\]|]*)\]\]")
# What a model leaves behind when it breaks a mark; never acceptable in a finished text.
BROKEN_MARK = re.compile(r"\[\[\s*v\d+|\[\[|\]\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A half-open code-point range of a marked text that mentions value ``value_id``."""

    value_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text without marks, and where the marks were."""

    text: str
    mentions: tuple[Mention, ...] = ()


def mark(value_id: str, surface: str) -> str:
    """*surface* wrapped as a mention of *value_id*."""
    return f"[[{value_id}|{surface}]]"


def strip_marks(marked: str) -> MarkedText:
    """Remove the marks of *marked* and keep where they stood; an empty mark vanishes without a mention."""
    pieces: list[str] = []
    mentions: list[Mention] = []
    length = position = 0
    for found in MARK.finditer(marked):
        plain = marked[position : found.start()]
        surface = found.group(2)
        start = length + len(plain)
        pieces += [plain, surface]
        length = start + len(surface)
        if surface:
            mentions.append(Mention(value_id=found.group(1), start=start, end=length))
        position = found.end()
    pieces.append(marked[position:])
    return MarkedText(text="".join(pieces), mentions=tuple(mentions))


def add_marks(text: MarkedText) -> str:
    """The inverse of ``strip_marks`` for disjoint mentions in text order."""
    pieces: list[str] = []
    position = 0
    for mention in text.mentions:
        pieces += [text.text[position : mention.start], mark(mention.value_id, text.text[mention.start : mention.end])]
        position = mention.end
    pieces.append(text.text[position:])
    return "".join(pieces)
