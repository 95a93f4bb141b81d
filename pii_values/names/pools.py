"""Pools of names to cast people from: by gender and country, ten groups of gender × UN region.

A pool is a tuple without repeats, any entry as likely as any other: no name part dominates, as it would with real frequencies.
``countries`` gives the countries of a region to draw from evenly; a country stands in it once for each ten names that its smallest
pool has, ten times at most, so that a short list is not drawn threadbare and a long one does not stand for its whole region.
Countries that the index lacks, or knows few names of (the large one has no Vietnam and no Pacific island but Fiji), come from the
built-in index. A pool is made when it is first asked for.

``english_only`` keeps, of each country's names, those in plain ASCII that are in use in an English-speaking country as well:
listed there (in the large index: among the 10,000 most frequent) in the United States, the United Kingdom, Canada, Australia,
Ireland or New Zealand. Joyce of Kenya and Daniel of Korea stay, Wanjiru and Minjun go. Countries that are left with too few names
drop out; each region keeps some.

``script="native"`` gives names in the script of their country where that is another than the Latin one and the built-in index has
enough of them; elsewhere the Latin names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Final, Literal

from piiloom.pii_values.names.index import NamesIndex, Script, builtin
from piiloom.pii_values.names.regions import REGIONS, Region, region_of
from piiloom.pii_values.names.sensible import is_native, tidy
from piiloom.pii_values.names.tables import RankedNames, Table

Gender = Literal["female", "male"]
Kind = Literal["first", "last"]
GENDERS: Final[tuple[Gender, Gender]] = ("female", "male")
ENGLISH: Final = ("US", "GB", "CA", "AU", "IE", "NZ")
# A country is drawn from when each of its pools has so many names; with the English-only filter, and in a script of its own, fewer do.
_ENOUGH: Final = 40
_ENOUGH_FEW: Final = 10
_NAMES_A_TURN: Final = 10
_MOST_TURNS: Final = 10
_CLEAR: Final = 800  # thousandths of the bearers of a given name who must be of the gender
_COMMON: Final = 10_000
_ONE_WORD: Final = re.compile(r"\S{1,20}")


class NamePools:
    """Pools over an index. ``largest``: names of higher rank than this in their country are left out."""

    def __init__(self, index: NamesIndex, *, script: Script = "latin", english_only: bool = False, largest: int = 1500) -> None:
        self._index = index
        self._native = script == "native"
        self._english_only = english_only and not self._native
        self._enough = _ENOUGH_FEW if self._english_only else _ENOUGH
        self._largest = largest
        self._made: dict[tuple[Kind, str, Gender | None], tuple[str, ...]] = {}
        self._sources: dict[str, tuple[NamesIndex, Script]] = {}
        self._by_region: dict[Region, tuple[str, ...]] = {}

    def groups(self) -> tuple[tuple[Gender, Region], ...]:
        """The ten groups of gender × region, always in the same order."""
        return tuple(product(GENDERS, REGIONS))

    def countries(self, region: Region) -> tuple[str, ...]:
        """Alpha-2 codes of the countries of a region that have enough names, to draw from evenly: larger ones stand there repeatedly."""
        if region not in self._by_region:
            known = sorted({*self._index.countries(), *self._small.countries()})
            turns = {code: self._turns(code) for code in known if region_of(code) == region}
            self._by_region[region] = tuple(code for code, number in turns.items() for _ in range(number))
        return self._by_region[region]

    def given(self, country: str, gender: Gender) -> tuple[str, ...]:
        """Given names that at least four in five bearers of which are of the gender; empty where none is known."""
        return self._pool("first", country, gender)

    def family(self, country: str, gender: Gender | None = None) -> tuple[str, ...]:
        """Family names, of those that differ by gender (Novák, Nováková) the forms of *gender*; without one the forms of both."""
        return self._pool("last", country, gender)

    def _pool(self, kind: Kind, country: str, gender: Gender | None) -> tuple[str, ...]:
        key = (kind, country, gender)
        if key not in self._made:
            self._made[key] = tuple(dict.fromkeys(self._names(*self._source(country), kind, country, gender)))
        return self._made[key]

    @cached_property
    def _small(self) -> NamesIndex:
        return self._index if self._index.where == "built-in" else builtin()

    def _source(self, country: str) -> tuple[NamesIndex, Script]:
        """Where the names of a country come from: the first of the possible sources that has enough, or else that has most."""
        if country not in self._sources:
            possible: list[tuple[NamesIndex, Script]] = [(self._index, "latin")]
            if self._index is not self._small:
                possible.append((self._small, "latin"))
            if self._native:
                possible.insert(0, (self._small, "native"))
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
        """How many names the smallest pool of a country has; not counted any further than it matters."""
        limit = _NAMES_A_TURN * _MOST_TURNS
        pools: tuple[tuple[Kind, Gender], ...] = tuple(product(("first", "last"), GENDERS))
        return min(sum(1 for _ in islice(self._names(*source, kind, country, gender), limit)) for kind, gender in pools)

    def _names(self, index: NamesIndex, script: Script, kind: Kind, country: str, gender: Gender | None) -> Iterator[str]:
        names: Sequence[str] = (
            index.first_names(country, gender or "female", script=script)
            if kind == "first"
            else index.last_names(country, gender, script=script)
        )
        table = index.table(kind, script)
        if table is None or not isinstance(names, RankedNames):
            return
        side = GENDERS.index(gender or "female")
        for number in islice(names.numbers, self._largest):
            if kind == "first" and (table.genders(number)[side] or 0) < _CLEAR:
                continue
            if self._english_only and not _in_english_use(table, number):
                continue
            name = self._fit(table.name(number), script, table)
            if name is not None:
                yield name

    def _fit(self, name: str, script: Script, table: Table) -> str | None:
        if script == "native":
            return name if is_native(name) and _ONE_WORD.fullmatch(name) else None
        # The names of the built-in index were tidied when it was made.
        fitted = name if table.plain else tidy(name)
        return fitted if fitted is not None and (fitted.isascii() or not self._english_only) else None


def _in_english_use(table: Table, number: int) -> bool:
    places = (place for place in table.places(number) if place.country in ENGLISH)
    return any(table.plain or (place.rank is not None and place.rank <= _COMMON) for place in places)


@lru_cache(maxsize=4)
def pools_of(index: NamesIndex, *, script: Script = "latin", english_only: bool = False) -> NamePools:
    """The pools over an index that is open, with whatever of them was made before: who fills one corpus after another shares them."""
    return NamePools(index, script=script, english_only=english_only)
