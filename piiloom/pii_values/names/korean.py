"""Korean syllables in Latin letters by the Revised Romanization of 2000, without the sound changes between syllables, as in names."""

from __future__ import annotations

from typing import Final

_FIRST: Final = 0xAC00
_SYLLABLES: Final = 11172
_INITIALS: Final = "g kk n d tt r m b pp s ss  j jj ch k t p h".split(" ")
_VOWELS: Final = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(" ")
_FINALS: Final = " k k k n n n t l k m l l l p l m p p t t ng t t k t p t".split(" ")


def syllable(letter: str) -> str | None:
    """Return a syllable in lower-case Latin letters; None if *letter* is no Korean syllable."""
    number = ord(letter) - _FIRST
    if not 0 <= number < _SYLLABLES:
        return None
    return _INITIALS[number // 588] + _VOWELS[number // 28 % 21] + _FINALS[number % 28]
