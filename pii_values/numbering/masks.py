"""Masks of codes: what their free places stand for, and filling them from a random generator.

In a mask, "#" is a digit, "%" a digit from 1 to 9, "@" a capital letter, "&" a lower-case letter, "?" a capital letter or digit.
All other characters are literal.
"""

from __future__ import annotations

import random
import re
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


def drawn(mask: str, rng: random.Random) -> str:
    """Return *mask* with its free places filled; of the signs "#", "%" and "@" only, from left to right. A run of digits is one draw."""

    def place(found: re.Match[str]) -> str:
        match found[0][0]:
            case "#":
                return digits(len(found[0]), rng)
            case "%":
                return str(rng.randint(1, 9))
            case _:
                return LETTERS[int(rng.random() * len(LETTERS))]

    return _PLACES.sub(place, mask)


def one_drawn(masks: tuple[str, ...], rng: random.Random) -> str:
    """Fill all *masks* and return one of them: every call takes the same number of draws, whichever mask is chosen."""
    filled = [drawn(mask, rng) for mask in masks]
    return filled[int(rng.random() * len(filled))]
