"""A light stemmer for English, so that a question cannot contain a value in another number or tense unnoticed.

Rules, in order, on a case-folded word: remove a possessive; replace "ies" and "ied" by "y"; remove a plural "s" (not in "ss"
or "us"), with the "e" before it after s, x, z, ch, sh; remove "ing" and "ed" (not in "eed") if at least three letters with a
vowel remain, and then the second of a doubled consonant; remove a final "e". Words of up to three letters and words with a
digit stay unchanged. Derived nouns ("teacher" from "teach") are not reduced.
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
    """Return the stem of one word (any case). Words that differ only in number, tense or accents have the same stem."""
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
    """Return the stems of the content words of *text*; function words are left out."""
    return frozenset(stem(word) for word in content_words(text))


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
