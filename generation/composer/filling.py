"""Putting values into patterns: slots, articles, capitals.

``{occupation}`` becomes the marked value, ``{a:occupation}`` the same after "a" or "an", ``{A:occupation}`` after "A" or
"An"; ``{occupation.job_title}`` likewise. The spelling of a value is never touched.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

SLOT = re.compile(r"\{(?:(?P<article>[aA]):)?(?P<name>[a-z_]+(?:\.[a-z_]+)?)\}")
# Read letter by letter: a letter that stands alone (X-ray, U.S.), or two capitals at the start (MRI, MSc) …
SPELLED = re.compile(r"[A-Za-z](?![A-Za-z])|[A-Z][A-Z]")
VOWEL_LETTERS = frozenset("AEFHILMNORSX")
# … but these are read as words.
READ_AS_WORDS = re.compile(r"(?:FEMA|HIPAA|HUD|LASIK|LEED|MERS|NASA|NATO|NICU|SARS|SNAP|SWAT)\b")
# Spoken with a consonant first although a vowel is written, and the other way round; a number by how it is read.
CONSONANT_SOUND = re.compile(
    r"uni(?![nm]|dentif)|unanim|us[aeiu]|ur[aeiou]|ut[aeio]|uk[reu]|ugan|ubi|uv[eu]|uy|eu|ew|one\b|once\b", re.IGNORECASE
)
VOWEL_SOUND = re.compile(r"hour|honest|honou?r|heir|y(?![aeiou])|8|1[18](?!\d)", re.IGNORECASE)
FIRST_SOUNDED = re.compile(r"[^\W_]")


def article(following: str) -> str:
    """Choose "a" or "an" for the word that *following* begins with, by its sound; what is not spoken ("$") is passed over."""
    first = FIRST_SOUNDED.search(following)
    spoken = following[first.start() :] if first else ""
    if SPELLED.match(spoken) and not READ_AS_WORDS.match(spoken):
        return "an" if spoken[0].upper() in VOWEL_LETTERS else "a"
    if VOWEL_SOUND.match(spoken):
        return "an"
    if CONSONANT_SOUND.match(spoken):
        return "a"
    return "an" if unicodedata.normalize("NFD", spoken[:1]).casefold()[:1] in tuple("aeiou") else "a"


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
