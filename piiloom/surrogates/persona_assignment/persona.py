"""A fictitious person who replaces the person of one cluster of mentions; all their values agree with each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

from piiloom.foundation.seeding import below, mix
from piiloom.surrogates.documents import Gender

_BIRTH: Final = 0xB1
_OTHERS: Final = 0x07
_ADULT_DAYS: Final = (19 * 366, 79 * 365)  # default range of the age on the anchor, in days: 19 to 78 years


@dataclass(slots=True, eq=False)
class FictitiousPerson:
    """A fictitious person. ``gender`` and ``region`` (a UN M49 region) make the group.

    ``origin`` is the country whose names they have, ``country`` the one they live in (ISO 3166 alpha-2). Equal seeds give equal
    people. ``born`` is drawn on first access, unless the text gives an age or a birth date. ``told_age`` is the first age that the text
    told before it was replaced, ``told_birth``: it told the birth date.
    """

    seed: int
    gender: Gender
    region: str
    origin: str
    country: str
    given: str
    family: str
    anchor: date
    _born: date | None = field(default=None, kw_only=True)
    value_id: str = field(default="", kw_only=True)
    told_age: int | None = field(default=None, kw_only=True)
    told_birth: bool = field(default=False, kw_only=True)

    def again(self, turn: int) -> FictitiousPerson:
        """Return this person with other choices: for a second phone number, address … of theirs."""
        return replace(self, seed=mix(self.seed, _OTHERS + turn), _born=self.born)

    @property
    def born(self) -> date:
        """The day of birth."""
        if self._born is None:
            self._born = adult_birth_date(self.anchor, mix(self.seed, _BIRTH))
        return self._born

    @born.setter
    def born(self, day: date) -> None:
        """Set the birth date known from the text. Do so before drawing any value that depends on it."""
        self._born = day

    @property
    def age(self) -> int:
        """Age in completed years on the anchor date."""
        return self.anchor.year - self.born.year - ((self.anchor.month, self.anchor.day) < (self.born.month, self.born.day))


def adult_birth_date(anchor: date, seed: int) -> date:
    """Draw the birth date of somebody of 19 to 78 years on *anchor*."""
    youngest, oldest = _ADULT_DAYS
    return anchor - timedelta(days=youngest + below(seed, oldest - youngest))
