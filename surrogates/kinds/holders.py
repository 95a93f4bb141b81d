"""Whose number is drawn: what national ids tell of a person, and the seeded digits they are filled up with."""

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
    """``seed`` is the person's: all numbers of one person are drawn from it. ``given`` and ``family`` are ASCII capitals."""

    seed: int
    born: date
    female: bool
    given: str
    family: str
    anchor: date

    @property
    def since_2000(self) -> bool:
        """Whether they were born in this century."""
        return self.born.year >= 2000

    def sex_digit(self, since_2000: int, before: int) -> int:
        """A digit of the sex and century: what men have who were born since 2000 or before; women have one more."""
        return (since_2000 if self.since_2000 else before) + self.female

    def number(self, salt: int, low: int, high: int) -> int:
        """A number from *low* to *high*."""
        return low + below(mix(self.seed, salt), high - low + 1)

    def digits(self, salt: int, count: int) -> str:
        """*count* digits."""
        return f"{below(mix(self.seed, salt), 10**count):0{count}d}"

    def one_of(self, salt: int, items: Sequence[str]) -> str:
        """One of *items*, or a character of a text."""
        return pick(mix(self.seed, salt), items)

    def sexed(self, salt: int, low: int, high: int, *, male_odd: bool = True) -> int:
        """A number from *low* to *high* (an even count of them) that is odd for men, or for women."""
        number = self.number(salt, low, high)
        odd = self.female != male_odd
        return number if number % 2 == odd else number ^ 1 if low <= number ^ 1 <= high else number - 1 if number > low else number + 1


def holder_of(draw: Draw) -> Holder:
    """The owner, or a made-up adult where there is none."""
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
