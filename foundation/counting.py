"""Numbers of things as people read them."""

from __future__ import annotations

import re

_ES = re.compile(r"(?:s|x|z|ch|sh)$")
_Y = re.compile(r"(?<=[^aeiou])y$")
_OF_THEIR_OWN = {"person": "people"}


def counted(number: int, noun: str) -> str:
    """*number* and *noun*, in the plural where it is not one: ``1 record``, ``1,234 records``. Of several words the last one changes."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of a regular English noun (and of those few others that we count)."""
    before, _, word = noun.rpartition(" ")
    many = _OF_THEIR_OWN.get(word) or (_Y.sub("ies", word) if _Y.search(word) else f"{word}{'es' if _ES.search(word) else 's'}")
    return f"{before} {many}" if before else many
