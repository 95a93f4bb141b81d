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

Decide which entries of a name list are real names that can be used in a text, and how they are written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice, product
from typing import Final, Literal

from piiloom.foundation.words import STOP_WORDS
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.names.index import NamesIndex, RankedNames, Script, Table, builtin
from piiloom.pii_values.names.regions import REGIONS, Gender, Region, region_of

# One to three parts of Latin letters, joined by a space, hyphen or apostrophe.
_PART: Final = r"’?[^\W\d_]+(?:[’'][^\W\d_]+)*"
_NAME: Final = re.compile(rf"{_PART}(?:[ -]{_PART}){{0,2}}")
_MC: Final = re.compile(r"\bMc([a-zà-ž])")
# No digit, no bracket, no Latin letter; a space, hyphen or apostrophe may stand inside.
_NATIVE: Final = re.compile(r"[^\W\d_\u0000-\u024f][^\d_()\u0000-\u001f\u0021-\u0026\u0028-\u002c\u002e-\u024f]*")


class _NoNames(FileModel):
    no_names: str


@cache
def _listed() -> frozenset[str]:
    listed = load_data("piiloom.pii_values", "names_index/no_names.yaml", _NoNames).no_names
    return frozenset(word.casefold() for word in listed.split())


@cache
def no_names() -> frozenset[str]:
    """Return words (case-folded) that occur in name lists and are no names: titles, honorifics, common words of our languages."""
    return STOP_WORDS | _listed()


@cache
def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN")


_PARTICLES: Final = frozenset("de den der het in ten ter te van von zu zur".split())


def tidy(raw: str) -> str | None:
    """Return the name as written in a text, None if *raw* is no name: "Mcbride" gives "McBride", "Dr. Lee" and "EDNA (2)" give None."""
    if raw.isascii() and raw.isalpha() and len(raw) > 1 and raw[0].isupper() and raw[1:].islower() and raw[:2] != "Mc":
        return None if raw.casefold() in no_names() else raw  # fast path for nearly all names
    name = unicodedata.normalize("NFC", raw.strip()).replace("‘", "’").replace("ʻ", "’").replace("`", "’")
    if len(name) < 2 or not _NAME.fullmatch(name) or not _well_spelled(name):
        return None
    words = name.split(" ")
    # Names of several words may contain stop words ("de", "la"), but no titles.
    if any(word.casefold() in _listed() for word in words) if len(words) > 1 else name.casefold() in no_names():
        return None
    return _MC.sub(lambda match: f"Mc{match.group(1).upper()}", name)


def _well_spelled(name: str) -> bool:
    """Whether *name* is in Latin letters, begins and ends with a capitalized word, and has no word in all capitals."""
    # "de la Cruz" may stand after a given name only, "Chia-ling" anywhere.
    words = name.split(" ")
    # Dutch and German particles are lower-case after a given name; the caller handles names without one.
    first = (words[0] in _PARTICLES and len(words) > 1) or words[0].lstrip("’'")[0].isupper()
    capitalised = first and words[-1].lstrip("’'")[0].isupper()
    shouted = any(len(part) > 1 and part.isupper() for part in re.split(r"[ -]", name))
    return capitalised and not shouted and all(_is_latin(letter) for letter in name if letter.isalpha())


def is_native(name: str) -> bool:
    """Whether *name* is a name in a non-Latin script, without Latin letters, digits or brackets."""
    return bool(_NATIVE.fullmatch(name)) and name not in no_names()


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
