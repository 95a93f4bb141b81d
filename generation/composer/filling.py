"""Putting values into patterns: slots, articles, capitals.

``{occupation}`` becomes the marked value, ``{a:occupation}`` the same after "a" or "an", ``{A:occupation}`` after "A" or
"An"; ``{occupation.job_title}`` likewise. An "a" that an English bank writes out before a slot agrees with the value as well.
The spelling of a value is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from piiloom.foundation.articles import article

SLOT = re.compile(r"\{(?:(?P<article>[aA]):)?(?P<name>[a-z_]+(?:\.[a-z_]+)?)\}")
# In an English bank an article may also be written out; it agrees all the same.
ENGLISH_SLOT = re.compile(r"(?:\b(?P<written>[aA])n? )?" + SLOT.pattern)


def slot_name(entity_type: str) -> str:
    """Name the slot of an entity type: spaces become underscores."""
    return entity_type.replace(" ", "_")


def fill(pattern: str, values: Mapping[str, str], wrap: Callable[[str, str], str], locale: str = "en_US") -> str:
    """Replace the slots of an expanded *pattern*; ``wrap(slot, text)`` says how a value is written (marked or plain).

    An English "a" or "an" right before a slot agrees with the value; *locale* says whose English it is, or that it is none.
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
    """Begin *sentence* with a capital; a marked value that it begins with is left alone unless *value_too*."""
    leading = LEADING_MARK.match(sentence)
    if leading and not value_too:
        return sentence
    start = leading.end() if leading else 0
    raised = sentence[start : start + 1].upper()
    # "ß" and the like become two letters, which would be another value.
    return sentence if len(raised) != 1 else sentence[:start] + raised + sentence[start + 1 :]
