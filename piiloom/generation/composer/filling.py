"""Fill values into the slots of patterns, with articles and capitals.

``{occupation}`` becomes the marked value, ``{a:occupation}`` the same after "a" or "an", ``{A:occupation}`` after "A" or
"An"; ``{occupation.job_title}`` likewise. In English, an "a" written out before a slot is adapted to the value as well.
``fill`` never changes the spelling of a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from piiloom.foundation.articles import article

SLOT = re.compile(r"\{(?:(?P<article>[aA]):)?(?P<name>[a-z_]+(?:\.[a-z_]+)?)\}")
# In an English bank the article may also be written out before the slot.
ENGLISH_SLOT = re.compile(r"(?:\b(?P<written>[aA])n? )?" + SLOT.pattern)


def slot_name(entity_type: str) -> str:
    """Return the slot name of an entity type: spaces become underscores."""
    return entity_type.replace(" ", "_")


def fill(pattern: str, values: Mapping[str, str], wrap: Callable[[str, str], str], locale: str = "en_US") -> str:
    """Replace the slots of an expanded *pattern*; ``wrap(slot, text)`` returns how a value is written (marked or plain).

    In an English *locale*, "a" or "an" right before a slot is adapted to the value. Raises ``KeyError`` for a slot without a value.
    """

    def put(found: re.Match[str]) -> str:
        text = values[found["name"]]
        written = wrap(found["name"], text)
        asked = found["article"] or found.groupdict().get("written")
        if asked is None:
            return written
        chosen = article(text, locale)
        return f"{chosen.capitalize() if asked == 'A' else chosen} {written}"

    return (ENGLISH_SLOT if locale.startswith("en") else SLOT).sub(put, pattern)


LEADING_MARK = re.compile(r"\[\[v\d+\|")


def capitalised(sentence: str, *, value_too: bool = False) -> str:
    """Capitalize the first letter of *sentence*; if it begins with a marked value, only with *value_too*."""
    leading = LEADING_MARK.match(sentence)
    if leading and not value_too:
        return sentence
    start = leading.end() if leading else 0
    raised = sentence[start : start + 1].upper()
    # "ß" and the like become two letters, which would change the value.
    return sentence if len(raised) != 1 else sentence[:start] + raised + sentence[start + 1 :]
