"""A person who is cast for the mentions of one cluster; everything that is told of them agrees."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from piiloom.surrogates.mentions import Gender
from piiloom.surrogates.seeds import below, mix

_BIRTH: Final = 0xB1
_ADULT_DAYS: Final = (19 * 366, 79 * 365)  # age on the anchor, where nothing else is known: 19 to 78 years


class Persona:
    """``gender`` × ``region`` (a UN M49 region) is the group; ``origin`` the country whose names they bear, ``country`` where they live.

    Equal seeds give equal people. ``born`` is drawn when first asked for, unless the text gives an age or a birth date.
    """

    __slots__ = ("_born", "anchor", "country", "family", "gender", "given", "origin", "region", "seed", "value_id")

    def __init__(
        self,
        seed: int,
        gender: Gender,
        region: str,
        origin: str,
        country: str,
        given: str,
        family: str,
        anchor: date,
        *,
        born: date | None = None,
        value_id: str = "",
    ) -> None:
        self.seed = seed
        self.gender: Gender = gender
        self.region = region
        self.origin = origin
        self.country = country
        self.given = given
        self.family = family
        self.anchor = anchor
        self.value_id = value_id
        self._born = born

    @property
    def born(self) -> date:
        """The day of birth."""
        if self._born is None:
            youngest, oldest = _ADULT_DAYS
            self._born = self.anchor - timedelta(days=youngest + below(mix(self.seed, _BIRTH), oldest - youngest))
        return self._born

    @born.setter
    def born(self, day: date) -> None:
        """Take over what the text tells; to be done before anything that depends on it is drawn."""
        self._born = day

    @property
    def age(self) -> int:
        """Completed years on the anchor."""
        return self.anchor.year - self.born.year - ((self.anchor.month, self.anchor.day) < (self.born.month, self.born.day))
