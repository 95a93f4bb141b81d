"""Build the large names index from the ``names-dataset`` package, on this machine and for its user only (docs/names.md says why).

The package keeps two pickles: 1.9 GB when both are loaded. They are read one after the other here, which takes half of that.

Write a names index: rows are added in ascending order, then the file is written atomically.
"""

from __future__ import annotations

import gc
import gzip
import importlib.util
import io
import json
import pickle
import zlib
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final, Literal, Protocol

from piiloom.foundation.errors import DataError, UsageError, how_to_install
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


PEAK_MB: Final = 1400  # measured: CPython 3.11, names-dataset 3.3.1
Step = Literal["first", "last", "writing"]
BuildWatch = Callable[[Step, str, float], None]
_PICKLES: Final = {"first": "v3/first_names.pkl.gz", "last": "v3/last_names.pkl.gz"}
_THOUSAND: Final = 1000


class _Entry(Protocol):
    def __getitem__(self, key: str) -> dict[str, Any]: ...


def build_index(out: Path, *, countries: Collection[str] | None = None, watch: BuildWatch = lambda *_: None) -> int:
    """Write the index of ``names-dataset`` to *out* and return its size in bytes; with *countries* (alpha-2), only of these.

    *watch* is called with the step, what it does ("reading", "packing") and its progress (0 to 1). Raises ``UsageError`` if the
    package is missing or lacks a country, ``DataError`` if its data have an unexpected form, ``OutputError`` if *out* cannot be
    written; no partial file is left.
    """
    folder = _package()
    known, names = _countries()
    wanted = sorted(known if countries is None else {code.upper() for code in countries})
    if unknown := sorted(set(wanted) - set(known)):
        raise UsageError(f"names-dataset has no names of {', '.join(unknown)}", remedy=f"It has {', '.join(sorted(known))}.")
    tables = {}
    for step in ("first", "last"):
        table = TableWriter(wanted, classed=step == "first", gendered=step == "first", plain=False)
        _fill(table, _loaded(folder / _PICKLES[step], step, watch), frozenset(wanted), None if countries is None else wanted, step, watch)
        tables[step] = table
        gc.collect()
    watch("writing", "writing", 0.0)
    data = packed(tables, {code: names[code] for code in wanted}, f"names-dataset {version('names-dataset')}")
    del tables
    save(data, out)
    watch("writing", "writing", 1.0)
    return len(data)


def _package() -> Path:
    spec = importlib.util.find_spec("names_dataset")
    if spec is None or spec.origin is None:
        remedy = f"Read docs/names.md on where its data come from; then: {how_to_install('names')}"
        raise UsageError("the package names-dataset is not installed", remedy=remedy)
    return Path(spec.origin).parent


def _countries() -> tuple[frozenset[str], Mapping[str, str]]:
    """Return the codes of the 105 countries of the package, and country names by code as the package shows them."""
    import pycountry  # noqa: PLC0415 - it comes with names-dataset, which most never install

    names = {country.alpha_2: country.name for country in pycountry.countries}
    return frozenset(_CODES.split()), names


# The countries of names-dataset 3.3.1; any other country in the data is an error, rather than dropped.
_CODES: Final = (
    "AE AF AL AO AR AT AZ BD BE BF BG BH BI BN BO BR BW CA CH CL CM CN CO CR CY CZ DE DJ DK DZ EC EE EG ES ET FI FJ FR GB GE GH GR GT HK "
    "HN HR HT HU ID IE IL IN IQ IR IS IT JM JO JP KH KR KW KZ LB LT LU LY MA MD MO MT MU MV MX MY NA NG NL NO OM PA PE PH PL PR PS PT QA "
    "RS RU SA SD SE SG SI SV SY TM TN TR TW US UY YE ZA"
)


class _Counted(io.RawIOBase):
    """A file wrapper that reports how much of the file was read."""

    def __init__(self, file: IO[bytes], size: int, tell: Callable[[float], None]) -> None:
        self._file, self._size, self._tell, self._read = file, size, tell, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._read += len(data)
        self._tell(self._read / self._size)
        return len(data)


def _loaded(path: Path, step: Step, watch: BuildWatch) -> dict[str, _Entry]:
    try:
        size = path.stat().st_size
        with path.open("rb") as raw, _without_collector():
            counted = io.BufferedReader(_Counted(raw, size, lambda share: watch(step, "reading", share)), 1 << 18)
            with gzip.GzipFile(fileobj=counted) as file:
                # Safe as importing the installed package, which would unpickle the same data.
                loaded = pickle.load(file)  # noqa: S301
    except (OSError, EOFError, pickle.UnpicklingError) as error:
        raise DataError(f"names-dataset cannot be read: {type(error).__name__}", where=path.name, remedy="Install it again.") from error
    if not isinstance(loaded, dict):
        raise DataError("names-dataset holds something else than expected", where=path.name, remedy="Install version 3.3.1.")
    return loaded


@contextmanager
def _without_collector() -> Any:
    # The data are millions of small dicts without garbage; garbage collection would take longer than reading them.
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _fill(
    table: TableWriter, entries: dict[str, _Entry], known: frozenset[str], only: Collection[str] | None, step: Step, watch: BuildWatch
) -> None:
    total = len(entries)
    for done, name in enumerate(sorted(entries)):
        entry = entries[name]
        shares = {country: _thousandths(share, step) for country, share in sorted(entry["country"].items())}
        ranks = entry["rank"]
        if only is not None:
            shares = {country: share for country, share in shares.items() if country in known}
            ranks = {country: rank for country, rank in ranks.items() if country in known}
        if not (shares.keys() <= known and ranks.keys() <= shares.keys()):
            raise DataError("names-dataset names a country that it should not have", where=step, remedy="Install version 3.3.1.")
        if shares or only is None:
            gender = {of: _thousandths(share, step) for of, share in entry["gender"].items()}
            table.add(name, shares, ranks, gender.get("F"), gender.get("M"))
        if done % 50_000 == 0:
            watch(step, "packing", done / total)
    watch(step, "packing", 1.0)


def _thousandths(share: float, step: Step) -> int:
    number = round(share * _THOUSAND)
    if number / _THOUSAND != share:
        raise DataError("names-dataset has shares of more than three decimals", where=step, remedy="Install version 3.3.1.")
    return number
