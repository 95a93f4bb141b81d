"""Format counts of things for people."""

from __future__ import annotations

import re

_ES = re.compile(r"(?:s|x|z|ch|sh)$")
_Y = re.compile(r"(?<=[^aeiou])y$")
_OF_THEIR_OWN = {"person": "people"}


def counted(number: int, noun: str) -> str:
    """Return *number* and *noun*, plural unless it is 1: ``1 record``, ``1,234 records``. Only the last of several words is inflected."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a regular English noun, or of "person"."""
    before, _, word = noun.rpartition(" ")
    many = _OF_THEIR_OWN.get(word) or (_Y.sub("ies", word) if _Y.search(word) else f"{word}{'es' if _ES.search(word) else 's'}")
    return f"{before} {many}" if before else many
