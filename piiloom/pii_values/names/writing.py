"""Write a names index: rows are added in ascending order, then the file is written atomically."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from piiloom.foundation.whole_files import drafted
from piiloom.pii_values.names.index import CODES, HEAD, MAGIC, RANKED, UNKNOWN, VERSION

GenderClass = Literal["F", "M", "N"]
_MOST_COUNTRIES: Final = 256


class TableWriter:
    """Builds one table of an index.

    ``classed``: there are separate ranked lists for women and men. ``gendered``: shares of women and men are stored. ``plain``: names
    are sorted by ``index.plain_key`` instead of by their spelling.
    """

    def __init__(self, countries: Sequence[str], *, classed: bool, gendered: bool, plain: bool) -> None:
        self._numbers = {code: number for number, code in enumerate(countries)}
        self._classed = classed
        self._gendered = gendered
        self._plain = plain
        self._names = 0
        self._columns: dict[str, array[int]] = {name: array(code) for name, code in CODES.items()}
        self._text = bytearray()
        self._lists: dict[tuple[GenderClass, int], array[int]] = {}
        self._seen: dict[str, dict[str, None]] = {"": {}, "F": {}, "M": {}}  # countries in order of first appearance
        self._inner: dict[str, dict[str, None]] = {}  # and the gender classes of a country

    def add(self, name: str, shares: Mapping[str, int], ranks: Mapping[str, int], female: int | None, male: int | None) -> None:
        """Add a name: shares by country in thousandths, ranks in some of these countries, female and male shares in thousandths."""
        column = self._columns
        column["text_at"].append(len(self._text))
        column["shares_at"].append(len(column["country"]))
        column["ranks_at"].append(len(column["rank"]))
        self._text += name.encode()
        of = gender_class(female, male) if self._classed else "N"
        for country, share in shares.items():
            number, rank = self._numbers[country], ranks.get(country)
            column["country"].append(number)
            column["share"].append(share | RANKED if rank is not None else share)
            if rank is not None:
                column["rank"].append(rank)
                self._enlist(of, country, number, rank)
        if self._gendered:
            column["gender"].extend(UNKNOWN if share is None else share for share in (female, male))
        self._names += 1

    def _enlist(self, of: GenderClass, country: str, number: int, rank: int) -> None:
        self._lists.setdefault((of, number), array("Q")).append(rank << 32 | self._names)
        self._seen[""].setdefault(country)
        self._inner.setdefault(country, {}).setdefault(of)
        if of != "N":
            self._seen[of].setdefault(country)

    def finish(self, offset: int) -> tuple[dict[str, Any], list[bytes]]:
        """Return the table's part of the header and its sections as bytes; the first section begins at *offset* in the body."""
        column = self._columns
        column["text_at"].append(len(self._text))
        column["shares_at"].append(len(column["country"]))
        column["ranks_at"].append(len(column["rank"]))
        lists: list[list[Any]] = []
        for (of, number), keys in sorted(self._lists.items()):
            lists.append([of, number, len(column["listed"]), len(keys)])
            # Names of equal rank keep the order of the table, as in a stable sort.
            column["listed"].extend(key & 0xFFFFFFFF for key in sorted(keys))
        sections: dict[str, tuple[int, int]] = {}
        parts: list[bytes] = []
        for name in CODES:
            data = bytes(self._text) if name == "text" else column[name].tobytes()
            sections[name] = (offset, len(self._text) if name == "text" else len(column[name]))
            padded = data + bytes(-len(data) % 8)
            parts.append(padded)
            offset += len(padded)
        order: dict[str, list[Any]] = {"all": [[country, "".join(self._inner[country])] for country in self._seen[""]]}
        order |= {gender: list(self._seen[gender]) for gender in "FM"}
        return {"names": self._names, "plain": self._plain, "sections": sections, "lists": lists, "order": order}, parts


def gender_class(female: int | None, male: int | None) -> GenderClass:
    """Whether a name counts as female, male or neither; equal shares count as female, as in names-dataset."""
    if female is None and male is None:
        return "N"
    return "M" if female is None or (male is not None and male > female) else "F"


def packed(tables: Mapping[str, TableWriter], countries: Mapping[str, str], source: str) -> bytes:
    """Return the bytes of a whole index; *countries* are country names by code, in the order of their numbers."""
    if len(countries) > _MOST_COUNTRIES:
        raise ValueError("too many countries for this version of the file")
    described: dict[str, Any] = {}
    body: list[bytes] = []
    length = 0
    for name, table in tables.items():
        described[name], parts = table.finish(length)
        body += parts
        length += sum(map(len, parts))
    head = {"source": source, "countries": list(countries), "country_names": list(countries.values()), "tables": described}
    header = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-(HEAD.size + len(header)) % 8)
    checksum = 0
    for part in body:
        checksum = zlib.crc32(part, checksum)
    size = HEAD.size + len(header) + length
    return b"".join([HEAD.pack(MAGIC, VERSION, len(header), zlib.crc32(header), checksum, size), header, *body])


def save(data: bytes, path: Path) -> None:
    """Write *data* to *path*, whole or not at all. Raises ``OutputError``."""
    with drafted(path, "the names index", remedy="Name another file with --out.") as file:
        file.write(data)
