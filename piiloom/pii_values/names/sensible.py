"""Decide which entries of a name list are real names that can be used in a text, and how they are written."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from piiloom.foundation.words import STOP_WORDS
from piiloom.foundation.yaml_files import FileModel, load_data

# One to three parts of Latin letters, joined by a space, hyphen or apostrophe.
_PART: Final = r"’?[^\W\d_]+(?:[’'][^\W\d_]+)*"
_NAME: Final = re.compile(rf"{_PART}(?:[ -]{_PART}){{0,2}}")
_MC: Final = re.compile(r"\bMc([a-zà-ž])")
# No digit, no bracket, no Latin letter; a space, hyphen or apostrophe may stand inside.
_NATIVE: Final = re.compile(r"[^\W\d_\u0000-\u024f][^\d_()\u0000-\u001f\u0021-\u0026\u0028-\u002c\u002e-\u024f]*")


class _NoNames(FileModel):
    no_names: str


@cache
def _listed() -> frozenset[str]:
    listed = load_data("piiloom.pii_values", "names_index/no_names.yaml", _NoNames).no_names
    return frozenset(word.casefold() for word in listed.split())


@cache
def no_names() -> frozenset[str]:
    """Return words (case-folded) that occur in name lists and are no names: titles, honorifics, common words of our languages."""
    return STOP_WORDS | _listed()


@cache
def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN")


_PARTICLES: Final = frozenset("de den der het in ten ter te van von zu zur".split())


def tidy(raw: str) -> str | None:
    """Return the name as written in a text, None if *raw* is no name: "Mcbride" gives "McBride", "Dr. Lee" and "EDNA (2)" give None."""
    if raw.isascii() and raw.isalpha() and len(raw) > 1 and raw[0].isupper() and raw[1:].islower() and raw[:2] != "Mc":
        return None if raw.casefold() in no_names() else raw  # fast path for nearly all names
    name = unicodedata.normalize("NFC", raw.strip()).replace("‘", "’").replace("ʻ", "’").replace("`", "’")
    if len(name) < 2 or not _NAME.fullmatch(name) or not _well_spelled(name):
        return None
    words = name.split(" ")
    # Names of several words may contain stop words ("de", "la"), but no titles.
    if any(word.casefold() in _listed() for word in words) if len(words) > 1 else name.casefold() in no_names():
        return None
    return _MC.sub(lambda match: f"Mc{match.group(1).upper()}", name)


def _well_spelled(name: str) -> bool:
    """Whether *name* is in Latin letters, begins and ends with a capitalized word, and has no word in all capitals."""
    # "de la Cruz" may stand after a given name only, "Chia-ling" anywhere.
    words = name.split(" ")
    # Dutch and German particles are lower-case after a given name; the caller handles names without one.
    first = (words[0] in _PARTICLES and len(words) > 1) or words[0].lstrip("’'")[0].isupper()
    capitalised = first and words[-1].lstrip("’'")[0].isupper()
    shouted = any(len(part) > 1 and part.isupper() for part in re.split(r"[ -]", name))
    return capitalised and not shouted and all(_is_latin(letter) for letter in name if letter.isalpha())


def is_native(name: str) -> bool:
    """Whether *name* is a name in a non-Latin script, without Latin letters, digits or brackets."""
    return bool(_NATIVE.fullmatch(name)) and name not in no_names()
