"""The groups that a name belongs to: a gender by its first name, a UN region by its family name.

The first and the family name are those of nameparser (``pii_values.names.parsing``). The gender is the likelier one of the first name, the
region that of the country in which most bearers of the family name live. Nothing else counts: no title, no middle name, no form of the
family name. It is a guess about a name, never a fact about a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from piiloom.foundation.errors import UsageError
from piiloom.pii_values.names.classifying import female_share, shares_by_country
from piiloom.pii_values.names.index import NamesIndex, open_names
from piiloom.pii_values.names.parsing import parted
from piiloom.pii_values.names.regions import REGIONS, region_of

Axis = Literal["gender", "region"]
AXES: Final[dict[Axis, tuple[str, ...]]] = {"gender": ("male", "female"), "region": REGIONS}

# Why a name is in no group of an axis.
NO_FIRST, UNKNOWN_FIRST = "no_first_name", "unknown_first_name"
NO_LAST, UNKNOWN_LAST, NO_REGION = "no_last_name", "unknown_last_name", "country_without_region"
REASONS: Final[dict[Axis, tuple[str, ...]]] = {"gender": (NO_FIRST, UNKNOWN_FIRST), "region": (NO_LAST, UNKNOWN_LAST, NO_REGION)}

_CACHED: Final = 1 << 16
_EXACT: Final = 9  # decimals in which shares are compared: they are sums of thousandths


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The group of a name on one axis; None with the ``reason`` if it has none. ``tied``: another group was just as likely."""

    group: str | None
    reason: str | None = None
    tied: bool = False


class NameGroups:
    """Looks names up in an index (that of ``open_names`` when None). The answers for the latest 65,536 names are kept."""

    def __init__(self, index: NamesIndex | None = None) -> None:
        self._index = index if index is not None else open_names()
        self._cached = lru_cache(maxsize=_CACHED)(self._look_up)

    @property
    def source(self) -> str:
        """What the index was made of."""
        return self._index.source

    def of(self, name: str) -> dict[Axis, Membership]:
        """Return the groups of *name* by axis; never raises, whatever the text."""
        return self._cached(name)

    def _look_up(self, name: str) -> dict[Axis, Membership]:
        parts = parted(name)
        return {"gender": self._gender(parts.first), "region": self._region(parts.family)}

    def _gender(self, first: str) -> Membership:
        if not first:
            return Membership(group=None, reason=NO_FIRST)
        share = female_share(self._index, first)
        if share is None:
            return Membership(group=None, reason=UNKNOWN_FIRST)
        # As ``piiloom names classify`` has it, a name of as many women as men is female.
        return Membership(group="female" if share >= 0.5 else "male", tied=share == 0.5)

    def _region(self, family: str) -> Membership:
        if not family:
            return Membership(group=None, reason=NO_LAST)
        shares = {code: round(share, _EXACT) for code, share in shares_by_country(self._index, "last", family).items()}
        if not shares:
            return Membership(group=None, reason=UNKNOWN_LAST)
        likeliest = sorted(code for code, share in shares.items() if share == max(shares.values()))
        sums: dict[str | None, float] = {}
        for code, share in shares.items():
            sums[_region(code)] = sums.get(_region(code), 0.0) + share
        # Of countries that are equally likely, the one in the likelier region; then the first by code.
        country = max(likeliest, key=lambda code: round(sums[_region(code)], _EXACT))
        region = _region(country)
        tied = len({_region(code) for code in likeliest}) > 1
        return Membership(group=region, reason=None if region else NO_REGION, tied=tied)


def _region(country: str) -> str | None:
    try:
        return region_of(country)
    except UsageError:
        return None
