"""Masks of codes: what their free places stand for, and filling them from a random generator.

In a mask, "#" is a digit, "%" a digit from 1 to 9, "@" a capital letter, "&" a lower-case letter, "?" a capital letter or digit.
All other characters are literal.
"""

from __future__ import annotations

import random
import re
from functools import lru_cache
from typing import Final

from piiloom.pii_values.numbering.choices import digits

LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"  # I, O and Q are left out: most issuers do
ALPHABETS: Final = {
    "#": "0123456789",
    "%": "123456789",
    "@": LETTERS,
    "&": LETTERS.lower(),
    "?": "0123456789" + LETTERS,
}
_PLACES: Final = re.compile("#+|[%@]")


@lru_cache(maxsize=2048)
def _compiled(mask: str) -> tuple[str, tuple[int, ...]]:
    """Return a %-template, and for each free place the length of a run of digits, 0 for "%" or -1 for "@"."""
    places = [-1 if found[0] == "@" else 0 if found[0] == "%" else len(found) for found in _PLACES.findall(mask)]
    return _PLACES.sub("%s", mask), tuple(places)


def _place(size: int, rng: random.Random) -> str:
    if size > 0:
        return digits(size, rng)
    return LETTERS[int(rng.random() * len(LETTERS))] if size else str(rng.randint(1, 9))


def filled(mask: str, rng: random.Random) -> str:
    """Return *mask* with each free place filled by one of its ``ALPHABETS``."""
    return "".join(rng.choice(ALPHABETS[sign]) if sign in ALPHABETS else sign for sign in mask)


def drawn(mask: str, rng: random.Random) -> str:
    """Return *mask* with its free places filled; of the signs "#", "%" and "@" only, from left to right. A run of digits is one draw."""
    template, places = _compiled(mask)
    return template % tuple([_place(size, rng) for size in places])


def one_drawn(masks: tuple[str, ...], rng: random.Random) -> str:
    """Fill all *masks* and return one of them: every call takes the same number of draws, whichever mask is chosen."""
    filled = [drawn(mask, rng) for mask in masks]
    return filled[int(rng.random() * len(filled))]
