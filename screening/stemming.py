"""A light stem: enough that a question cannot hide a value behind a plural or a tense.

Rules, in order, on a case-folded word: a possessive goes; "ies" and "ied" become "y"; a plural "s" goes (not of "ss" or
"us"), and the "e" before it after s, x, z, ch, sh; "ing" and "ed" go when a vowel stays among at least three letters
(not of "eed"), with the second of a doubled consonant; a final "e" goes. Words of up to three letters and words with a
digit stay as they are. Derived nouns ("teacher" of "teach") are other words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from piiloom.foundation.words import content_words

_POSSESSIVE = re.compile(r"['’]s?$")
_PLURAL = re.compile(r"(?<=[sxz])es$|(?<=[cs]h)es$|(?<![su])s$")
_TENSE = re.compile(r"(?<!e)(?:ing|ed)$")
_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """The stem of one word (any case); words that differ only in number, tense or accents share it."""
    plain = _POSSESSIVE.sub("", _without_accents(word.casefold()))
    if len(plain) <= 3 or any(c.isdigit() for c in plain):
        return plain
    if plain.endswith(("ies", "ied")) and len(plain) > 4:
        return plain[:-3] + "y"
    shorter = _PLURAL.sub("", plain)
    root = _TENSE.sub("", shorter)
    if root != shorter and len(root) >= 3 and _VOWEL.search(root):
        shorter = _DOUBLED.sub(r"\1", root)
    return shorter[:-1] if shorter.endswith("e") and len(shorter) > 3 else shorter


def content_stems(text: str) -> frozenset[str]:
    """The stems of the content words of *text* (function words left out)."""
    return frozenset(stem(word) for word in content_words(text))


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
