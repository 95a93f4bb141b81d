"""One table of a names index: names by number, found by binary search, listed by rank."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, overload

from piiloom.pii_values.names.layout import RANKED, UNKNOWN, Opened

_PLAIN_LETTERS: Final = "đd ðd øo łl ıi æae œoe ßss þth əe ɔo ŋn".split()
_LETTERS: Final = str.maketrans({pair[0]: pair[1:] for pair in _PLAIN_LETTERS})
_NO_LETTERS: Final = str.maketrans({"-": " ", "'": None, "’": None, "ʼ": None, "`": None, ".": None})


@lru_cache(maxsize=4096)
def plain_key(name: str) -> str:
    """*name* as it is compared where accents and capitals do not count: "Đặng" and "dang" are one, "Al-Amin" and "al amin" too."""
    text = name.casefold().translate(_LETTERS).translate(_NO_LETTERS)
    if not text.isascii():
        # Marks above and below Latin letters go; the vowel signs of other scripts are more than accents.
        text = "".join(c for c in unicodedata.normalize("NFD", text) if not "\u0300" <= c <= "\u036f")
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
        number = self._first_alike(plain_key(name)) if self.plain else self._first_from(name.encode("utf-8", "surrogatepass"))
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

    def _first_from(self, key: bytes) -> int:
        """The first name that is not before *key*; UTF-8 sorts as the characters do."""
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
