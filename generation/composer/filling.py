"""Putting values into patterns: slots, articles, capitals.

``{occupation}`` becomes the marked value, ``{a:occupation}`` the same after "a" or "an", ``{A:occupation}`` after "A" or
"An". The spelling of a value is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

SLOT = re.compile(r"\{(?:(?P<article>[aA]):)?(?P<name>[a-z_]+)\}")
# Spoken with a consonant first although a vowel is written, and the other way round.
CONSONANT_SOUND = re.compile(r"(?:uni(?!n|m)|us[aeiu]|ur[aeio]|eu|ew|one\b|once\b|ut[ei]|ubi)", re.IGNORECASE)
VOWEL_SOUND = re.compile(r"(?:hour|honest|honou?r|heir|[FHLMNRSX](?:[A-Z0-9]+\b|-)|8|1[18](?!\d))")


def article(following: str) -> str:
    """Choose "a" or "an" for the word that *following* begins with, by its sound."""
    if VOWEL_SOUND.match(following):
        return "an"
    if CONSONANT_SOUND.match(following):
        return "a"
    return "an" if following[:1].casefold() in tuple("aeiouáéíóúäöü") else "a"


def slot_name(entity_type: str) -> str:
    """Name the slot of an entity type: spaces become underscores."""
    return entity_type.replace(" ", "_")


def fill(pattern: str, values: Mapping[str, str], wrap: Callable[[str, str], str]) -> str:
    """Replace the slots of an expanded *pattern*; ``wrap(slot, text)`` says how a value is written (marked or plain)."""

    def put(found: re.Match[str]) -> str:
        text = values[found["name"]]
        written = wrap(found["name"], text)
        if found["article"] is None:
            return written
        chosen = article(text)
        return f"{chosen.capitalize() if found['article'] == 'A' else chosen} {written}"

    return SLOT.sub(put, pattern)


def capitalised(sentence: str) -> str:
    """Begin *sentence* with a capital, unless it begins with a marked value."""
    return sentence if sentence.startswith("[[") else sentence[:1].upper() + sentence[1:]
