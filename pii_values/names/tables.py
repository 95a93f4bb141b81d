"""One table of a names index: names by number, found by binary search, listed by rank."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, overload

from pii_values.names.layout import RANKED, UNKNOWN, Opened

_LETTERS: Final = str.maketrans({"đ": "d", "ð": "d", "ø": "o", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe", "ß": "ss", "þ": "th", "ə": "e", "ɔ": "o", "ŋ": "n"})
_NO_LETTERS: Final = str.maketrans({"-": " ", "'": None, "’": None, "ʼ": None, "`": None, ".": None})


@lru_cache(maxsize=4096)
def plain_key(name: str) -> str:
    """*name* as it is compared where accents and capitals do not count: "Đặng" and "dang" are one, "Al-Amin" and "al amin" too."""
    text = name.casefold().translate(_LETTERS).translate(_NO_LETTERS)
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c) or not c.isascii() and ord(c) > 0x36F)
    return text


class Where(NamedTuple):
    """``share``: thousandths of the bearers who live in the country; ``rank`` among the names there, None where it is not listed."""

    country: str
    share: int
    rank: int | None


class Table:
    """The names of one kind. Numbers of names follow the order of the file."""

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
        """A name by its number."""
        return str(self._text[self._text_at[number] : self._text_at[number + 1]], "utf-8")

    def find(self, name: str) -> int | None:
        """The number of exactly this name (in a plain table: the first that differs in accents and capitals only)."""
        number = self._first_at_least(plain_key(name) if self.plain else name)
        if number == self._length:
            return None
        found = self.name(number)
        return number if (plain_key(found) == plain_key(name) if self.plain else found == name) else None

    def like(self, name: str) -> list[int]:
        """The numbers of all names that are the same but for accents and capitals; in other than plain tables the one in title case."""
        number = self.find(name if self.plain else name.strip().title())
        if number is None:
            return []
        found = [number]
        if self.plain:
            key = plain_key(name)
            while found[-1] + 1 < self._length and plain_key(self.name(found[-1] + 1)) == key:
                found.append(found[-1] + 1)
        return found

    def _first_at_least(self, key: str) -> int:
        low, high = 0, self._length
        while low < high:
            middle = (low + high) // 2
            there = self.name(middle)
            if (plain_key(there) if self.plain else there) < key:
                low = middle + 1
            else:
                high = middle
        return low

    def places(self, number: int) -> Iterator[Where]:
        """The countries of a name, in the order of their codes."""
        rank_at = self._ranks_at[number]
        for at in range(self._shares_at[number], self._shares_at[number + 1]):
            share = self._share[at]
            rank = None
            if share & RANKED:
                rank = self._rank[rank_at]
                rank_at += 1
            yield Where(self._countries[self._country[at]], share & ~RANKED, rank)

    def genders(self, number: int) -> tuple[int | None, int | None]:
        """Thousandths of the bearers who are female and male; None where that is not known."""
        if not self._gender:
            return None, None
        female, male = self._gender[2 * number], self._gender[2 * number + 1]
        return None if female == UNKNOWN else female, None if male == UNKNOWN else male

    def listed(self, of: str, country: str) -> Sequence[int]:
        """The numbers of the names of a gender class ("F", "M", "N") in a country, most frequent first."""
        start, length = self._lists.get((of, country), (0, 0))
        return self._listed[start : start + length]


class RankedNames(Sequence[str]):
    """Names in order of rank, read from the file as they are asked for."""

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
