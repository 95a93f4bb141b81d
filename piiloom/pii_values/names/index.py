"""The names index: its binary file, its tables, lookups by name, and the most frequent names of a country.

All numbers in the file are little-endian. The file begins with 32 bytes::

    magic "PIINAMES" · u32 version · u32 length of the header · u32 CRC-32 of the header · u32 CRC-32 of the body · u64 file length

Then the header (JSON, padded with spaces so that the body begins at a multiple of 8), then the body. The header has ``source``
(the data from which the index was made), ``countries`` (alpha-2 codes; a country's number is its place here), ``country_names`` and for
each table ("first", "last", and "first_native", "last_native" for names in their own script) the entries that ``Table`` reads:
``names`` (how many), ``plain`` (how they are sorted), ``sections`` (name → offset in the body, number of items), ``lists`` and
``order``. Sections of a table, for its names in ascending order:

=========== ====== =================================================================================================
text        u8     the names in UTF-8, one after another
text_at     u32    where each name begins in ``text``; one more than there are names, as in all ``…_at``
shares_at   u32    where the countries of each name begin in ``country`` and ``share``
country     u8     number of a country
share       u16    how many thousandths of the bearers of the name live there; the highest bit: the name has a rank there
ranks_at    u32    where the ranks of each name begin in ``rank``
rank        u16    the ranks, in the order of the countries that have one
gender      u16    thousandths of bearers who are female and male, two a name; 65535: not known
listed      u32    names (by number) in order of rank, list after list as in ``lists``
=========== ====== =================================================================================================
"""

from __future__ import annotations

import gzip
import json
import mmap
import os
import struct
import sys
import unicodedata
import zlib
from array import array
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, NamedTuple, overload

from piiloom.foundation.errors import DataError, UsageError

if TYPE_CHECKING:
    from piiloom.pii_values.names.regions import Borne

MAGIC: Final = b"PIINAMES"
VERSION: Final = 1
HEAD: Final = struct.Struct("<8sIIIIQ")
RANKED: Final = 0x8000
UNKNOWN: Final = 0xFFFF
CODES: Final[Mapping[str, Literal["B", "H", "I"]]] = {
    "text": "B",
    "text_at": "I",
    "shares_at": "I",
    "country": "B",
    "share": "H",
    "ranks_at": "I",
    "rank": "H",
    "gender": "H",
    "listed": "I",
}
_CHUNK: Final = 1 << 20
_BUILD: Final = "Build it again with `piiloom names build`."


class Opened:
    """The header and body of an index, memory-mapped or in memory. The body is checked once; pages are read on demand."""

    def __init__(self, header: Mapping[str, Any], body: memoryview) -> None:
        self.header = header
        self._body = body

    def section(self, table: Mapping[str, Any], name: str) -> memoryview:
        """Return one section of *table* as a memoryview of items of its type."""
        offset, items = table["sections"][name]
        code = CODES[name]
        return self._body[offset : offset + items * struct.calcsize(code)].cast(code)


def open_file(path: Path) -> Opened:
    """Memory-map an index; raises ``DataError`` if it is missing, truncated, damaged, of another version, or no index at all."""
    where = str(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD.size)
            version_checked(head, where)
            _, _, length, header_sum, body_sum, size = HEAD.unpack(head)
            if path.stat().st_size != size:
                raise DataError("the names index is cut short or has grown", where=where, remedy=_BUILD)
            header = file.read(length)
            if zlib.crc32(header) != header_sum or _checksum(file) != body_sum:
                raise DataError("the names index is damaged: its checksum is wrong", where=where, remedy=_BUILD)
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise DataError(f"the names index cannot be read: {error.strerror or 'not a file'}", where=where, remedy=_BUILD) from error
    return Opened(_parsed(header, where), mapped[HEAD.size + length :])


def open_bytes(data: bytes, where: str) -> Opened:
    """Open an index that is in memory; *where* names it in errors. Raises the same errors as ``open_file``."""
    version_checked(data[: HEAD.size], where)
    _, _, length, header_sum, body_sum, size = HEAD.unpack(data[: HEAD.size])
    view = memoryview(data)
    header, body = view[HEAD.size : HEAD.size + length], view[HEAD.size + length :]
    if len(data) != size or zlib.crc32(header) != header_sum or zlib.crc32(body) != body_sum:
        raise DataError("the names index is damaged: its checksum is wrong", where=where, remedy=_BUILD)
    return Opened(_parsed(bytes(header), where), body)


def version_checked(head: bytes, where: str) -> None:
    """Raise ``DataError`` unless *head* is the start of an index that this version of piiloom can read on this machine."""
    if len(head) < HEAD.size or not head.startswith(MAGIC):
        raise DataError("this is not a names index", where=where, remedy="Name a file that `piiloom names build` has made.")
    version = HEAD.unpack(head)[1]
    if version > VERSION:
        raise DataError(f"the names index has version {version}, newer than {VERSION}", where=where, remedy="Use a newer piiloom.")
    if version < VERSION:
        raise DataError(f"the names index has version {version}; this piiloom reads {VERSION}", where=where, remedy=_BUILD)
    if sys.byteorder != "little":
        raise DataError("the names index is little-endian, this machine is not", where=where, remedy="Use another machine.")


def _checksum(file: BinaryIO) -> int:
    # Read instead of mapped, so that pages read only for the checksum do not count as memory of this process.
    total = 0
    while chunk := file.read(_CHUNK):
        total = zlib.crc32(chunk, total)
    return total


def _parsed(header: bytes, where: str) -> dict[str, Any]:
    try:
        parsed = json.loads(header)
    except ValueError as error:
        raise DataError("the names index is damaged: its header is not JSON", where=where, remedy=_BUILD) from error
    if not isinstance(parsed, dict):
        raise DataError("the names index is damaged: its header is not an object", where=where, remedy=_BUILD)
    return parsed


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


Script = Literal["latin", "native"]
FILE: Final = "names-v1.idx"
BUILTIN: Final = "builtin.idx.gz"
VARIABLE: Final = "PIILOOM_NAMES"
_GENDERS: Final = {"M": "M", "MALE": "M", "F": "F", "FEMALE": "F"}
_SHOWN: Final = {"F": "Female", "M": "Male"}


class NamesIndex:
    """An open index. ``source`` says what data it was built from, ``where`` from which file it was opened. It is thread-safe."""

    def __init__(self, opened: Opened, where: str) -> None:
        head = opened.header
        self.where = where
        self.source: str = head["source"]
        self._names: Mapping[str, str] = dict(zip(head["countries"], head["country_names"], strict=True))
        self._tables = {name: Table(opened, table, head["countries"]) for name, table in head["tables"].items()}
        self.first = self._tables["first"]
        self.last = self._tables["last"]
        self._lists: dict[tuple[str, str, str], Sequence[str]] = {}
        self._by_end: dict[tuple[Table, str], list[Borne | None]] = {}

    def countries(self) -> tuple[str, ...]:
        """Return the alpha-2 codes of all countries with names, in ascending order."""
        return tuple(sorted(self._names))

    def table(self, kind: Literal["first", "last"], script: Script = "latin") -> Table | None:
        """Return the table of first or last names in a script; None if the index has none."""
        return self._tables.get(kind if script == "latin" else f"{kind}_native")

    def first_names(self, country: str, gender: str, *, script: Script = "latin") -> Sequence[str]:
        """Return the first names of a country borne mostly by women ("female", "F") or men ("male", "M"), most frequent first."""
        return self._list("first", _gender(gender) or "N", country, script)

    def last_names(self, country: str, gender: str | None = None, *, script: Script = "latin") -> Sequence[str]:
        """Return the family names of a country, most frequent first; with *gender*, only its form of names that differ by gender.

        They are the same object with and without *gender* if no name differs.
        """
        from piiloom.pii_values.names.regions import differs  # noqa: PLC0415 - it reads YAML, which opening an index should not do

        names = self._list("last", "N", country, script)
        table = self.table("last", script)
        wanted = _gender(gender)
        if wanted is None or table is None or not isinstance(names, RankedNames) or not (table.gendered or differs(country)):
            return names
        key = (f"last {script}", wanted, country)
        if key not in self._lists:
            borne = table.perhaps(names.numbers, "FM".index(wanted))
            if differs(country):
                borne = self._borne_by(wanted, table, names.numbers, frozenset(borne), country)
            self._lists[key] = names if borne is names.numbers else RankedNames(table, array("I", borne))
        return self._lists[key]

    def _borne_by(self, gender: str, table: Table, numbers: Sequence[int], perhaps: Container[int], country: str) -> list[int]:
        """Return the family names that *gender* ("F", "M") bears, by their endings if these decide, else those in *perhaps*."""
        from piiloom.pii_values.names.regions import borne_by  # noqa: PLC0415 - as above

        key = (table, country)
        if key not in self._by_end:  # read once for both genders
            self._by_end[key] = [borne_by(name, country) for name in table.names(numbers)]
        told, shown = self._by_end[key], _SHOWN[gender].lower()
        return [number for number, by_end in zip(numbers, told, strict=True) if (by_end == shown if by_end else number in perhaps)]

    def _list(self, kind: Literal["first", "last"], of: str, country: str, script: Script) -> Sequence[str]:
        key = (f"{kind} {script}", of, country)
        if key not in self._lists:
            table = self.table(kind, script)
            self._lists[key] = RankedNames(table, table.listed(of, country)) if table else ()
        return self._lists[key]

    def most_frequent(self, country: str, n: int, *, family: bool = False, gender: str | None = None) -> Any:
        """Return the *n* most frequent names of *country*, as ``top_names`` has them. Raises ``UsageError`` for an unknown country."""
        if country not in self.countries():
            raise UsageError(f"the index has no names of {country!r}", remedy=f"It has {', '.join(self.countries())}.")
        return self.top_names(n, not family, country, gender)[country]

    def top_names(
        self, n: int = 100, use_first_names: bool = True, country_alpha2: str | None = None, gender: str | None = None
    ) -> dict[str, Any]:
        """Return the *n* most frequent names by country: ``{"NL": {"M": […], "F": […]}}``, for last names ``{"NL": […]}``.

        Results and order (including that of keys) are those of ``NameDataset.get_top_names``. Raises ``UsageError`` where that
        method raises ``ValueError``.
        """
        if n <= 0:
            raise UsageError("the number of names must be positive")
        if not use_first_names and gender is not None:
            raise UsageError("last names have no gender", remedy="Leave the gender out.")
        wanted = _gender(gender)
        table = self.first if use_first_names else self.last
        pairs = [(c, wanted) for c in table.order[wanted]] if wanted else [(c, genders) for c, genders in table.order["all"]]
        found: dict[str, Any] = {}
        for country, genders in pairs:
            if country_alpha2 in {None, country}:
                lists = {of: RankedNames(table, table.listed(of, country))[:n] for of in genders}
                if use_first_names:
                    lists.pop("N", None)
                found[country] = lists if use_first_names else lists["N"]
        return found

    def search(self, name: str) -> dict[str, Any]:
        """Return countries, genders and ranks of *name* as a first and as a last name, in the form of ``NameDataset.search``."""
        key = name.strip().title()
        return {"first_name": self._described(self.first, key), "last_name": self._described(self.last, key)}

    def _described(self, table: Table, key: str) -> dict[str, Any] | None:
        number = table.find(key)
        if table.plain and number is not None:
            # Among the forms that differ in accents and case only, take the one asked for.
            number = next((at for at in table.like(key) if table.name(at).title() == key), number)
        if number is None:
            return None
        places = list(table.places(number))
        ranked = [place for place in places if place.rank is not None]
        unranked = [place for place in places if place.rank is None]
        female, male = table.genders(number)
        return {
            "country": {self._names[place.country]: place.share / 1000 for place in places},
            "gender": {_SHOWN[of]: share / 1000 for of, share in (("F", female), ("M", male)) if share is not None},
            "rank": {self._names[place.country]: place.rank for place in (*ranked, *unranked)},
        }


def _gender(text: str | None) -> str | None:
    if text is None:
        return None
    found = _GENDERS.get(text.upper())
    if found is None:
        raise UsageError(f"unknown gender {text!r}", remedy="Known: female (F), male (M).")
    return found


def user_file() -> Path:
    """Return the path to which ``piiloom names build`` writes the user's index."""
    base = os.environ.get("XDG_DATA_HOME") or ""
    # By the XDG specification, relative paths are ignored.
    folder = Path(base) if base.startswith("/") else Path("~/.local/share").expanduser()
    return folder / "piiloom" / FILE


@cache
def builtin() -> NamesIndex:
    """Return the small index that comes with piiloom, unpacked once per process; docs/names.md describes its sources."""
    source = files("piiloom.pii_values") / "data" / "names_index" / BUILTIN
    try:
        data = gzip.decompress(source.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataError("the built-in names index cannot be read", where=BUILTIN, remedy="Install piiloom again.") from error
    return NamesIndex(open_bytes(data, BUILTIN), "built-in")


def open_names(path: Path | None = None) -> NamesIndex:
    """Open an index: the file *path*, else that in $PIILOOM_NAMES, else the user's own if it exists, else the built-in one.

    Raises ``DataError`` if the file is not a usable index.
    """
    if path is None:
        named = os.environ.get(VARIABLE)
        path = Path(named) if named else user_file()
        if not named and not path.exists():
            return builtin()
    return NamesIndex(open_file(path), str(path))


__all__ = ["FILE", "VARIABLE", "NamesIndex", "Script", "builtin", "open_names", "plain_key", "user_file"]
