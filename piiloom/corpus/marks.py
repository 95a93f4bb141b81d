"""Inline mention marks: ``[[v3|asthma]]`` in a reply means that *asthma* mentions value *v3*.

Marks give a text stage the offsets of mentions without a search, even if the same word mentions two values. They are stripped
before anything is stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MARK = re.compile(r"\[\[(v\d+)\|([^\[\]|]*)\]\]")
# Remains of a malformed mark; never acceptable in a finished text.
BROKEN_MARK = re.compile(r"\[\[\s*v\d+|\[\[|\]\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedMention:
    """A half-open code-point range of a marked text that mentions value ``value_id``."""

    value_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text without marks, and the ranges in it that were marked."""

    text: str
    mentions: tuple[MarkedMention, ...] = ()


def mark(value_id: str, surface: str) -> str:
    """Return *surface* wrapped in a mark for *value_id*."""
    return f"[[{value_id}|{surface}]]"


def strip_marks(marked: str) -> MarkedText:
    """Remove the marks from *marked* and return their ranges in the stripped text; an empty mark gives no mention."""
    pieces: list[str] = []
    mentions: list[MarkedMention] = []
    length = position = 0
    for found in MARK.finditer(marked):
        plain = marked[position : found.start()]
        surface = found.group(2)
        start = length + len(plain)
        pieces += [plain, surface]
        length = start + len(surface)
        if surface:
            mentions.append(MarkedMention(value_id=found.group(1), start=start, end=length))
        position = found.end()
    pieces.append(marked[position:])
    return MarkedText(text="".join(pieces), mentions=tuple(mentions))


def add_marks(text: MarkedText) -> str:
    """Insert the marks again: the inverse of ``strip_marks`` for disjoint mentions in text order."""
    pieces: list[str] = []
    position = 0
    for mention in text.mentions:
        pieces += [text.text[position : mention.start], mark(mention.value_id, text.text[mention.start : mention.end])]
        position = mention.end
    pieces.append(text.text[position:])
    return "".join(pieces)
