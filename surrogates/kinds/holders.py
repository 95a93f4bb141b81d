"""The holder of an id: the personal data that national ids encode, and seeded draws for their other digits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.folding import folded
from piiloom.surrogates.kinds.kind import salt_of
from piiloom.surrogates.seeds import below, mix, pick

_HOLDER: Final = salt_of("holder")
_ADULT: Final = (19 * 366, 79 * 365)


class Holder(NamedTuple):
    """The person whose id is drawn.

    All ids of a person are drawn from ``seed``; the *salt* of a draw keeps its result independent of the others. ``given`` and
    ``family`` are ASCII capitals, "" if they cannot be transliterated.
    """

    seed: int
    born: date
    female: bool
    given: str
    family: str
    anchor: date

    @property
    def since_2000(self) -> bool:
        """Whether the holder was born in 2000 or later."""
        return self.born.year >= 2000

    def sex_digit(self, since_2000: int, before: int) -> int:
        """Return the digit for sex and century: *since_2000* or *before* for men, by year of birth, and one more for women."""
        return (since_2000 if self.since_2000 else before) + self.female

    def number(self, salt: int, low: int, high: int) -> int:
        """Draw a number from *low* to *high*, both included."""
        return low + below(mix(self.seed, salt), high - low + 1)

    def digits(self, salt: int, count: int) -> str:
        """Draw *count* digits; at most nine, so that the draw has no noticeable bias."""
        return f"{below(mix(self.seed, salt), 10**count):0{count}d}"

    def one_of(self, salt: int, items: Sequence[str]) -> str:
        """Draw one of *items*; a string is a sequence of characters."""
        return pick(mix(self.seed, salt), items)

    def sexed(self, salt: int, low: int, high: int, *, male_odd: bool = True) -> int:
        """Draw a number from *low* to *high* that is odd for men and even for women, or the reverse with ``male_odd=False``."""
        number = self.number(salt, low, high)
        odd = self.female != male_odd
        return number if number % 2 == odd else number ^ 1 if low <= number ^ 1 <= high else number - 1 if number > low else number + 1


def holder_of(draw: Draw) -> Holder:
    """Return the holder for *draw*: its owner, or a made-up adult if it has none."""
    owner = draw.owner
    if owner is not None:
        return Holder(owner.seed, owner.born, owner.gender == "female", _capitals(owner.given), _capitals(owner.family), draw.anchor)
    seed = mix(draw.seed, _HOLDER)
    youngest, oldest = _ADULT
    born = draw.anchor - timedelta(days=youngest + below(seed, oldest - youngest))
    letters = "ABCDEFGHIKLMNOPRSTV"
    made_up = "".join(pick(mix(seed, at), letters if at % 2 else "AEIOU") for at in range(1, 9))
    return Holder(seed, born, bool(seed & 1), made_up[:4], made_up[3:], draw.anchor)


def _capitals(name: str) -> str:
    return folded(name).upper()
