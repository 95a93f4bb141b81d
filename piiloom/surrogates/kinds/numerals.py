"""Numbers in words, 0 to 120, in the languages of ``data/words/numerals.yaml``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.fitting import capitalised
from piiloom.surrogates.kinds.files import NumeralsFile

LARGEST: Final = 120
_SPACES: Final = re.compile(r"[\s-]+")


@cache
def _lists() -> dict[str, list[str]]:
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "numerals.yaml", NumeralsFile).numerals


@cache
def _by_word(language: str) -> dict[str, int]:
    return {_SPACES.sub(" ", word.casefold()): number for number, word in reversed(list(enumerate(_lists().get(language, []))))}


@cache
def _finder(language: str) -> re.Pattern[str]:
    """Return a pattern for any number in words, the longest first; it matches whole words, also in "seventy-year-old"."""
    words = sorted(_by_word(language), key=lambda word: (-len(word), word))
    return re.compile(rf"\b(?:{'|'.join(re.escape(word).replace(chr(92) + ' ', '[ -]') for word in words)})\b", re.IGNORECASE)


def number_words(language: str) -> list[str]:
    """Return the numbers of *language* in words, casefolded, the longest first; none if it has no words."""
    return sorted(map(str.casefold, _lists().get(language, [])), key=len, reverse=True)


def in_words(number: int, language: str) -> str | None:
    """Return *number* in words; None if it is not from 0 to 120 or the language has no words."""
    known = _lists().get(language)
    return known[number] if known and 0 <= number <= LARGEST else None


def other_word(text: str, language: str, change: Callable[[int], int]) -> str | None:
    """Replace the first number in words in *text* by *change* of it, keeping its capitals; the words reach from 0 to 120.

    *language* is tried first, then all others. Return None if there is no number in words.
    """
    for spoken in (language, *(known for known in _lists() if known != language)):
        if spoken not in _lists():
            continue
        found = _finder(spoken).search(text)
        if found is None:
            continue
        old = found.group()
        number = _by_word(spoken)[_SPACES.sub(" ", old.casefold())]
        new = in_words(_told(number, change(number)), spoken) or old
        new = new.upper() if old.isupper() else capitalised(new) if old[0].isupper() else new
        return text[: found.start()] + new + text[found.end() :]
    return None


def _told(old: int, wanted: int) -> int:
    """Return *wanted* limited to the numbers that have words; as far below the largest as it lies above where that is *old* itself."""
    limited = min(LARGEST, max(0, wanted))
    return limited if limited != old or wanted <= LARGEST else max(0, 2 * LARGEST - wanted)
