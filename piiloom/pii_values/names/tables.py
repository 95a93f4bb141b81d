"""One table of a names index: names have numbers, are found by binary search, and are listed by rank."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple, overload

from piiloom.pii_values.names.layout import RANKED, UNKNOWN, Opened

_PLAIN_LETTERS: Final = "đd ðd øo łl ıi æae œoe ßss þth əe ɔo ŋn".split()
_LETTERS: Final = str.maketrans({pair[0]: pair[1:] for pair in _PLAIN_LETTERS})
_NO_LETTERS: Final = str.maketrans({"-": " ", "'": None, "’": None, "ʼ": None, "`": None, ".": None})

_NEITHER_KNOWN: Final = UNKNOWN << 16 | UNKNOWN


@lru_cache(maxsize=4096)
def plain_key(name: str) -> str:
    """Return *name* for comparison without accents and case: "Đặng" equals "dang", and "Al-Amin" equals "al amin"."""
    text = name.casefold().translate(_LETTERS).translate(_NO_LETTERS)
    if not text.isascii():
        # Remove the accents of Latin letters, but not the vowel signs of other scripts.
        text = "".join(c for c in unicodedata.normalize("NFD", text) if not "\u0300" <= c <= "\u036f")
    return text


class Where(NamedTuple):
    """A name in one country. ``share``: thousandths of its bearers who live there. ``rank``: its rank there, None if it is not listed."""

    country: str
    share: int
    rank: int | None


class Table:
    """The names of one kind. A name's number is its position in the file."""

    def __init__(self, opened: Opened, head: Mapping[str, Any], countries: Sequence[str]) -> None:
        self.plain: bool = head["plain"]
        self.order: Mapping[str, Any] = head["order"]
        self._length: int = head["names"]
        self._countries = countries
        part = {name: opened.section(head, name) for name in head["sections"]}
        self._text, self._text_at, self._gender = part["text"], part["text_at"], part["gender"]
        self.gendered = bool(self._gender)
        self._shares_at, self._country, self._share = part["shares_at"], part["country"], part["share"]
        self._ranks_at, self._rank = part["ranks_at"], part["rank"]
        self._listed = part["listed"]
        self._lists = {(of, countries[number]): (start, length) for of, number, start, length in head["lists"]}

    def __len__(self) -> int:
        return self._length

    def name(self, number: int) -> str:
        """Return the name with this number."""
        return str(self._text[self._text_at[number] : self._text_at[number + 1]], "utf-8")

    def names(self, numbers: Iterable[int]) -> list[str]:
        """Return the names with these numbers."""
        text, starts = self._text, self._text_at
        return [str(text[starts[number] : starts[number + 1]], "utf-8") for number in numbers]

    def find(self, name: str) -> int | None:
        """Return the number of exactly this name (in a plain table: of the first that is equal by ``plain_key``), None if unknown."""
        number = self._first_alike(plain_key(name)) if self.plain else self._first_from(name.encode("utf-8", "surrogatepass"))
        if number == self._length:
            return None
        found = self.name(number)
        return number if (plain_key(found) == plain_key(name) if self.plain else found == name) else None

    def like(self, name: str) -> list[int]:
        """Return the numbers of all names equal by ``plain_key``; in a table that is not plain, only that of the name in title case."""
        number = self.find(name if self.plain else name.strip().title())
        if number is None:
            return []
        found = [number]
        if self.plain:
            key = plain_key(name)
            while found[-1] + 1 < self._length and plain_key(self.name(found[-1] + 1)) == key:
                found.append(found[-1] + 1)
        return found

    def _first_from(self, key: bytes) -> int:
        """Return the number of the first name not less than *key*; UTF-8 bytes sort like code points."""
        text, starts = self._text, self._text_at
        low, high = 0, self._length
        while low < high:
            middle = (low + high) // 2
            if bytes(text[starts[middle] : starts[middle + 1]]) < key:
                low = middle + 1
            else:
                high = middle
        return low

    def _first_alike(self, key: str) -> int:
        low, high = 0, self._length
        while low < high:
            middle = (low + high) // 2
            if plain_key(self.name(middle)) < key:
                low = middle + 1
            else:
                high = middle
        return low

    def places(self, number: int) -> Iterator[Where]:
        """Yield the countries of a name, in the order in which the file has them."""
        rank_at = self._ranks_at[number]
        for at in range(self._shares_at[number], self._shares_at[number + 1]):
            share = self._share[at]
            rank = None
            if share & RANKED:
                rank = self._rank[rank_at]
                rank_at += 1
            yield Where(self._countries[self._country[at]], share & ~RANKED, rank)

    def genders(self, number: int) -> tuple[int | None, int | None]:
        """Return the (female, male) shares of the bearers in thousandths; None if unknown."""
        if not self._gender:
            return None, None
        female, male = self._gender[2 * number], self._gender[2 * number + 1]
        return None if female == UNKNOWN else female, None if male == UNKNOWN else male

    def clearly(self, numbers: Sequence[int], side: int, least: int) -> Iterator[int]:
        """Yield those of *numbers* whose bearers are at least *least* thousandths women (*side* 0) or men (1)."""
        shares = self._gender
        return (number for number in numbers if shares and least <= shares[2 * number + side] != UNKNOWN)

    def perhaps(self, numbers: Sequence[int], side: int) -> Sequence[int]:
        """Return those of *numbers* that have bearers who are women (*side* 0) or men (1), and those of which nothing is known.

        They are *numbers* itself if that is all of them.
        """
        never = self._never[side]
        return numbers if never.isdisjoint(numbers) else [number for number in numbers if number not in never]

    @cached_property
    def _never(self) -> tuple[frozenset[int], frozenset[int]]:
        """The names that no woman bears and those that no man bears. Few, since of most nothing is known."""
        shares = self._gender.cast("B").cast("I") if self._gender else ()  # the two of a name at once
        known = [number for number, both in enumerate(shares) if both != _NEITHER_KNOWN]
        female, male = (frozenset(n for n in known if self._gender[2 * n + side] in {0, UNKNOWN}) for side in (0, 1))
        return female, male

    def listed(self, of: str, country: str) -> Sequence[int]:
        """Return the numbers of the names of a gender class ("F", "M", "N") in a country, most frequent first."""
        start, length = self._lists.get((of, country), (0, 0))
        return self._listed[start : start + length]


class RankedNames(Sequence[str]):
    """A sequence of names in order of rank, read from the file on access."""

    def __init__(self, table: Table, numbers: Sequence[int]) -> None:
        self._table = table
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self._table.name(number) for number in self.numbers[at]]
        return self._table.name(self.numbers[at])
