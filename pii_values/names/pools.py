"""Pools of names to cast people from: by gender and country, ten groups of gender × UN region.

A pool is a tuple without repeats, any entry as likely as any other: no name part dominates, as it would with real frequencies.
Which countries a region is drawn from is up to the caller; ``countries`` gives those with enough names, and drawing evenly from
them keeps one large list from standing for its whole region. Countries that the index lacks (the large one has no Vietnam and
no Pacific island but Fiji) come from the built-in index. A pool is made when it is first asked for.

``english_only`` keeps, of each country's names, those in plain ASCII that are in use in an English-speaking country as well:
listed of the United States, the United Kingdom, Canada, Australia, Ireland or New Zealand. Joyce of Kenya and Daniel of Korea
stay, Wanjiru and Minjun go. Countries that are left with too few names drop out; each region keeps some.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import islice, product
from typing import Final, Literal

from pii_values.names.index import NamesIndex, Script, builtin
from pii_values.names.regions import REGIONS, Region, region_of
from pii_values.names.sensible import tidy
from pii_values.names.tables import RankedNames, Table

Gender = Literal["female", "male"]
GENDERS: Final[tuple[Gender, Gender]] = ("female", "male")
ENGLISH: Final = ("US", "GB", "CA", "AU", "IE", "NZ")
# A country is drawn from when each of its pools has so many names; with the English-only filter, and in a script of its own, fewer do.
_ENOUGH: Final = 40
_ENOUGH_FEW: Final = 15
_CLEAR: Final = 800  # thousandths of the bearers of a given name who must be of the gender
_NATIVE: Final = re.compile(r"[^\W\d_]{1,20}(?: [^\W\d_]+)?")


class NamePools:
    """Pools over an index. ``script``: "latin", or "native" for names in the script of their country where that is another one.

    ``largest``: names of higher rank than this in their country are left out.
    """

    def __init__(self, index: NamesIndex, *, script: Script = "latin", english_only: bool = False, largest: int = 1500) -> None:
        self._index = index
        self._script: Script = script
        self._english_only = english_only and script == "latin"
        self._largest = largest
        self._made: dict[tuple[str, str], tuple[str, ...]] = {}
        self._by_region: dict[Region, tuple[str, ...]] = {}

    def groups(self) -> tuple[tuple[Gender, Region], ...]:
        """The ten groups of gender × region, always in the same order."""
        return tuple(product(GENDERS, REGIONS))

    def countries(self, region: Region) -> tuple[str, ...]:
        """Alpha-2 codes of the countries of a region that have enough names, in ascending order; may be empty for native scripts."""
        if region not in self._by_region:
            enough = _ENOUGH_FEW if self._english_only or self._script == "native" else _ENOUGH
            known = sorted({*self._index.countries(), *self._small.countries()})
            self._by_region[region] = tuple(code for code in known if region_of(code) == region and self._smallest(code) >= enough)
        return self._by_region[region]

    def given(self, country: str, gender: Gender) -> tuple[str, ...]:
        """Given names that at least four in five bearers of which are of the gender; empty where none is known."""
        key = ("given " + gender, country)
        if key not in self._made:
            self._made[key] = self._pool("first", country, gender)
        return self._made[key]

    def family(self, country: str, gender: Gender | None = None) -> tuple[str, ...]:
        """Family names, of those that differ by gender (Novák, Nováková) the forms of *gender*; without one the forms of both."""
        key = (f"family {gender}", country)
        if key not in self._made:
            self._made[key] = self._pool("last", country, gender)
        return self._made[key]

    def _smallest(self, country: str) -> int:
        return min(min(len(self.given(country, gender)), len(self.family(country, gender))) for gender in GENDERS)

    @cached_property
    def _small(self) -> NamesIndex:
        return self._index if self._index.where == "built-in" else _builtin()

    def _pool(self, kind: Literal["first", "last"], country: str, gender: Gender | None) -> tuple[str, ...]:
        for index in dict.fromkeys((self._index, self._small)):
            found = self._of(index, kind, country, gender)
            if len(found) >= (_ENOUGH_FEW if self._english_only or self._script == "native" else _ENOUGH):
                return found
        return found

    def _of(self, index: NamesIndex, kind: Literal["first", "last"], country: str, gender: Gender | None) -> tuple[str, ...]:
        names: Sequence[str]
        if kind == "first":
            assert gender is not None  # noqa: S101 - given names are asked for by gender
            names = index.first_names(country, gender, script=self._script)
        else:
            names = index.last_names(country, gender, script=self._script)
        table = index.table(kind, self._script)
        if table is None or not isinstance(names, RankedNames):
            return ()
        numbers = islice(names.numbers, self._largest)
        if kind == "first":
            side = GENDERS.index(gender or "female")
            numbers = (number for number in numbers if (table.genders(number)[side] or 0) >= _CLEAR)
        if self._english_only:
            numbers = (number for number in numbers if _in_english_use(table, number))
        kept = (self._fit(table.name(number)) for number in numbers)
        return tuple(dict.fromkeys(name for name in kept if name is not None))

    def _fit(self, name: str) -> str | None:
        if self._script == "native":
            return name if _NATIVE.fullmatch(name) and not name.isascii() else None
        fitted = tidy(name)
        return fitted if fitted is not None and (fitted.isascii() or not self._english_only) else None


def _in_english_use(table: Table, number: int) -> bool:
    return any(place.country in ENGLISH for place in table.places(number))


@cache
def _builtin() -> NamesIndex:
    return builtin()
