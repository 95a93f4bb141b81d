"""Pools of names to draw people from, by gender and country; gender × UN region makes ten groups.

A pool is a tuple without repeats, to be drawn from uniformly, so that no name dominates as it would with real frequencies.
``countries`` lists the countries of a region to draw from uniformly. A country is listed once per ten names in its smallest pool, at
most ten times, so that short lists are not overused and long ones do not dominate their region. Countries that the index lacks, or
for which it has few names (the large one has no Vietnam and no Pacific island but Fiji), come from the built-in index. A pool is
built on first use.

``english_only`` keeps only names in plain ASCII that are also in use in an English-speaking country: listed (in the large index:
among the 10,000 most frequent) in the United States, the United Kingdom, Canada, Australia, Ireland or New Zealand. Joyce of Kenya
and Daniel of Korea stay, Wanjiru and Minjun are removed. Countries with too few names left are dropped; each region keeps some.

``script="native"`` gives names in the native script of their country if it is not Latin and the built-in index has enough of them,
else Latin names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Final, Literal

from piiloom.pii_values.names.index import NamesIndex, RankedNames, Script, Table, builtin
from piiloom.pii_values.names.regions import REGIONS, Gender, Region, region_of
from piiloom.pii_values.names.sensible import is_native, tidy

NamePart = Literal["first", "last"]
GENDERS: Final[tuple[Gender, Gender]] = ("female", "male")
ENGLISH: Final = ("US", "GB", "CA", "AU", "IE", "NZ")
# Fewest names that each pool of a country must have; the limit is lower with ``english_only`` and for native scripts.
_ENOUGH: Final = 40
_ENOUGH_FEW: Final = 10
_NAMES_A_TURN: Final = 10
_MOST_TURNS: Final = 10
_CLEAR: Final = 800  # thousandths of the bearers of a given name who must be of the gender
_COMMON: Final = 10_000
_ONE_WORD: Final = re.compile(r"\S{1,20}")


class NamePools:
    """Name pools over an index. ``largest``: names with a rank number above this in their country are left out."""

    def __init__(self, index: NamesIndex, *, script: Script = "latin", english_only: bool = False, largest: int = 1500) -> None:
        self._index = index
        self._native = script == "native"
        self._english_only = english_only and not self._native
        self._enough = _ENOUGH_FEW if self._english_only else _ENOUGH
        self._largest = largest
        self._made: dict[tuple[NamePart, str, Gender | None], tuple[str, ...]] = {}
        self._sources: dict[str, tuple[NamesIndex, Script]] = {}
        self._by_region: dict[Region, tuple[str, ...]] = {}

    def groups(self) -> tuple[tuple[Gender, Region], ...]:
        """Return the ten (gender, region) groups, always in the same order."""
        return tuple(product(GENDERS, REGIONS))

    def countries(self, region: Region) -> tuple[str, ...]:
        """Return alpha-2 codes of the region's countries with enough names, to draw from uniformly; larger ones are listed repeatedly."""
        if region not in self._by_region:
            known = sorted({*self._index.countries(), *self._small.countries()})
            turns = {code: self._turns(code) for code in known if region_of(code) == region}
            self._by_region[region] = tuple(code for code, number in turns.items() for _ in range(number))
        return self._by_region[region]

    def given(self, country: str, gender: Gender) -> tuple[str, ...]:
        """Return the given names of which at least 80% of bearers have the gender; empty if none is known."""
        return self._pool("first", country, gender)

    def family(self, country: str, gender: Gender | None = None) -> tuple[str, ...]:
        """Return the family names; of names that differ by gender (Novák, Nováková), only the forms of *gender* if it is given."""
        index, script = self._source(country)
        if index.last_names(country, gender, script=script) is index.last_names(country, script=script):
            gender = None  # read once for both
        return self._pool("last", country, gender)

    def _pool(self, kind: NamePart, country: str, gender: Gender | None) -> tuple[str, ...]:
        key = (kind, country, gender)
        if key not in self._made:
            self._made[key] = tuple(dict.fromkeys(self._names(*self._source(country), kind, country, gender)))
        return self._made[key]

    @cached_property
    def _small(self) -> NamesIndex:
        return self._index if self._index.where == "built-in" else builtin()

    def _source(self, country: str) -> tuple[NamesIndex, Script]:
        """Return the index and script for a country: the first possible source with enough names, else the one with the most."""
        if country not in self._sources:
            possible: list[tuple[NamesIndex, Script]] = [(self._index, "latin")]
            if self._index is not self._small:
                possible.append((self._small, "latin"))
            if self._native:
                possible.insert(0, (self._small, "native"))
            first = 0
            if len(possible) > 1:
                sizes = [self._smallest(source, country) for source in possible]
                least = [_ENOUGH_FEW if script == "native" else self._enough for _, script in possible]
                first = next((at for at, size in enumerate(sizes) if size >= least[at]), sizes.index(max(sizes)))
            self._sources[country] = possible[first]
        return self._sources[country]

    def _turns(self, country: str) -> int:
        source = self._source(country)
        size = self._smallest(source, country)
        least = _ENOUGH_FEW if source[1] == "native" else self._enough
        return 0 if size < least else max(1, size // _NAMES_A_TURN)

    def _smallest(self, source: tuple[NamesIndex, Script], country: str) -> int:
        """Return the size of the smallest pool of a country, counted only up to the number that matters for ``_turns``."""
        limit = _NAMES_A_TURN * _MOST_TURNS
        pools: tuple[tuple[NamePart, Gender], ...] = tuple(product(("first", "last"), GENDERS))
        return min(self._size(*source, kind, country, gender, limit) for kind, gender in pools)

    def _size(self, index: NamesIndex, script: Script, kind: NamePart, country: str, gender: Gender, limit: int) -> int:
        table = index.table(kind, script)
        if table is not None and self._fit_all(table, script):
            return min(limit, len(self._numbers(index, script, kind, country, gender, limit)))
        return sum(1 for _ in islice(self._names(index, script, kind, country, gender), limit))

    def _names(self, index: NamesIndex, script: Script, kind: NamePart, country: str, gender: Gender | None) -> Iterator[str]:
        table = index.table(kind, script)
        if table is None:
            return
        numbers = self._numbers(index, script, kind, country, gender, self._largest)
        if self._fit_all(table, script):
            yield from table.names(numbers)
            return
        for number in numbers:
            if self._english_only and not _in_english_use(table, number):
                continue
            name = self._fit(table.name(number), script, table)
            if name is not None:
                yield name

    def _numbers(self, index: NamesIndex, script: Script, kind: NamePart, country: str, gender: Gender | None, most: int) -> Sequence[int]:
        """Return the numbers of the names of the largest ranks; of given names, those that are clearly of *gender*, at most *most*."""
        if kind == "last":
            names = index.last_names(country, gender, script=script)
            return names.numbers[: self._largest] if isinstance(names, RankedNames) else ()
        names = index.first_names(country, gender or "female", script=script)
        table = index.table(kind, script)
        if table is None or not isinstance(names, RankedNames):
            return ()
        side = GENDERS.index(gender or "female")
        return tuple(islice(table.clearly(names.numbers[: self._largest], side, _CLEAR), most))

    def _fit_all(self, table: Table, script: Script) -> bool:
        """Whether every name of *table* is taken as it is."""
        return table.plain and script == "latin" and not self._english_only

    def _fit(self, name: str, script: Script, table: Table) -> str | None:
        if script == "native":
            return name if is_native(name) and _ONE_WORD.fullmatch(name) else None
        # The names of the built-in index were tidied when it was built.
        fitted = name if table.plain else tidy(name)
        return fitted if fitted is not None and (fitted.isascii() or not self._english_only) else None


def _in_english_use(table: Table, number: int) -> bool:
    places = (place for place in table.places(number) if place.country in ENGLISH)
    return any(table.plain or (place.rank is not None and place.rank <= _COMMON) for place in places)


@lru_cache(maxsize=4)
def pools_of(index: NamesIndex, *, script: Script = "latin", english_only: bool = False) -> NamePools:
    """Return the (cached) pools over an open index, so that filling several corpora reuses pools that are built already."""
    return NamePools(index, script=script, english_only=english_only)
