"""Build the built-in index from Faker's reliable lists and our own (``data/names_index/own_*.yaml``, ``data/names.yaml``).

    python -m piiloom.pii_values.names.builtin [--check]

writes ``data/names_index/builtin.idx.gz``: an index as ``names.index`` describes it, packed with gzip. It is unpacked in 7 ms;
a smaller one of xz takes 30 ms. With --check the file is only compared. Equal inputs give equal bytes of the index.

The share of a name's bearers in a country is computed as if all lists were of equally many people. A list counts 1 for each of
its names, divided by the number of its countries. A list that only shows that a name occurs counts a tenth. Ranks follow Faker's
frequencies where it has them, else the order of the lists.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, load_data, load_yaml, read_document
from piiloom.pii_values.names.building import TableWriter, packed, save
from piiloom.pii_values.names.index import BUILTIN, plain_key
from piiloom.pii_values.names.korean import syllable
from piiloom.pii_values.names.pools import is_native, tidy
from piiloom.pii_values.names.regions import Gender, borne_by, country_name

ListedKind = Literal["first", "last", "first_native", "last_native"]
LARGEST: Final[Mapping[ListedKind, int]] = {
    "first": 400,
    "last": 450,
    "first_native": 100,
    "last_native": 150,
}  # most names taken from one list


@dataclass(slots=True)
class NameEntry:
    """The data of one name. ``weights``: sum of list weights by country; ``female``, ``male``: sum of list weights by gender."""

    weights: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    female: float = 0.0
    male: float = 0.0
    both: bool = False

    def shares(self) -> dict[str, int]:
        """Return the share of each country in thousandths, sorted by country code."""
        total = sum(self.weights.values())
        return {country: round(1000 * self.weights[country] / total) for country in sorted(self.weights)}

    def genders(self) -> tuple[int | None, int | None]:
        """Return the (female, male) shares in thousandths; (None, None) if the name is for any gender or nothing is known."""
        total = self.female + self.male
        if self.both or not total:
            return None, None
        female = round(1000 * self.female / total)
        return female or None, (1000 - female) or None


class Gathered:
    """A collector of name lists, which are added one by one; names of a country's first list get the highest ranks."""

    def __init__(self) -> None:
        self._entries: dict[ListedKind, dict[str, NameEntry]] = {"first": {}, "last": {}, "first_native": {}, "last_native": {}}
        self._ranked: dict[tuple[ListedKind, str, str | None], int] = {}

    def add(
        self, kind: ListedKind, country: str, gender: str | None, names: Mapping[str, float], *, weight: float = 1.0, ranked: bool = True
    ) -> None:
        """Add one list. *names* has frequencies in any unit, used for ranking only; entries that are no valid names are left out.

        *weight*: how much being in this list adds to a name's weights.
        """
        latin = kind in {"first", "last"}
        kept: dict[str, float] = {}
        for raw, often in names.items():
            name = tidy(raw) if latin else raw
            if name is not None:
                kept[name] = kept.get(name, 0.0) + often
        chosen = _largest(kept, LARGEST[kind]) if ranked else kept.items()
        for name, _ in chosen:
            entry = self._entries[kind].setdefault(name, NameEntry())
            entry.weights[country] = max(weight, entry.weights.get(country, 0.0))
            entry.female += weight if gender == "female" else 0.0
            entry.male += weight if gender == "male" else 0.0
            entry.both |= gender is None
            if ranked and country not in entry.ranks:
                place = self._ranked.get((kind, country, gender), 0) + 1
                self._ranked[kind, country, gender] = place
                entry.ranks[country] = place

    def countries(self) -> list[str]:
        """Return all countries with names, in ascending order."""
        return sorted({country for entries in self._entries.values() for entry in entries.values() for country in entry.weights})

    def entries(self, kind: ListedKind) -> Mapping[str, NameEntry]:
        """Return the entries of one kind, by name."""
        return self._entries[kind]


def _largest(names: Mapping[str, float], limit: int) -> Sequence[tuple[str, float]]:
    """Return the *limit* most frequent names, most frequent first; of an (alphabetical) list without frequencies, evenly spaced ones."""
    ordered = sorted(names.items(), key=lambda item: -item[1])
    if len(ordered) > limit and ordered[0][1] == ordered[-1][1]:
        return [ordered[at * len(ordered) // limit] for at in range(limit)]
    return ordered[:limit]


_LONGEST_END: Final = 8


class _Script(FileModel):
    letters: dict[str, str]
    starts: dict[str, str] = Field(default={})
    ends: dict[str, str] = Field(default={})
    pairs: dict[str, str] = Field(default={})


class _File(FileModel):
    scripts: dict[str, _Script]


@cache
def _tables() -> _File:
    return load_data("piiloom.pii_values", "names_index/romanising.yaml", _File)


def romanised(name: str, table: str) -> str:
    """Return *name* in Latin letters, each part capitalized; raises ``UsageError`` for an unknown table or letter."""
    if table == "korean":
        return _korean(name)
    script = _tables().scripts.get(table)
    if script is None:
        raise UsageError(f"unknown romanisation table {table!r}", remedy=f"Known: korean, {', '.join(sorted(_tables().scripts))}.")
    plain = name.casefold()
    if table == "greek":  # stress and diaeresis are not written
        plain = "".join(c for c in unicodedata.normalize("NFD", plain) if not unicodedata.combining(c))
    return "-".join(_part(part, script).capitalize() for part in plain.split("-"))


def _part(text: str, script: _Script) -> str:
    end = next((text[-size:] for size in range(min(_LONGEST_END, len(text)), 1, -1) if text[-size:] in script.ends), "")
    text, tail = text[: len(text) - len(end)], script.ends.get(end, "")
    found, at = [], 0
    while at < len(text):
        pair, letter = text[at : at + 2], text[at]
        if at == 0 and pair in script.starts:
            found.append(script.starts[pair])
            at += 2
        elif at == 0 and letter in script.starts and pair not in script.pairs:
            found.append(script.starts[letter])
            at += 1
        elif pair in script.pairs:
            found.append(script.pairs[pair])
            at += 2
        elif letter in script.letters:
            found.append(script.letters[letter])
            at += 1
        else:
            raise UsageError(f"the letter U+{ord(letter):04X} is not in the table", remedy="Leave the name out or add the letter.")
    return "".join(found) + tail


def _korean(name: str) -> str:
    found = []
    for letter in name:
        written = syllable(letter)
        if written is None:
            raise UsageError(f"U+{ord(letter):04X} is not a Korean syllable", remedy="Leave the name out.")
        found.append(written)
    return "".join(found).capitalize()


_DATA: Final = files("piiloom.pii_values") / "data"
_FOLDER: Final = _DATA / "names_index"
_SOURCE: Final = "built-in: Faker (MIT) and lists of our own"
_UNRANKED: Final = 0.1  # weight of a list that only says that a name occurs


class _FakerList(FileModel):
    locale: str
    country: str = Field(pattern="^[A-Z]{2}$")
    given: bool = True
    family: bool = True
    romanise: str | None = None
    native: bool = False
    unranked: bool = False


class _Sources(FileModel):
    faker: list[_FakerList]
    heritages: dict[str, str]


class _OwnNames(FileModel):
    """``family_female`` and ``family_male``: forms that only women and only men bear."""

    countries: list[str] = Field(min_length=1)
    unranked: bool = False
    female: list[str] = Field(default=[])
    male: list[str] = Field(default=[])
    family: list[str] = Field(default=[])
    family_female: list[str] = Field(default=[])
    family_male: list[str] = Field(default=[])


class _OwnFile(FileModel):
    names: list[_OwnNames]


class _Heritage(NamedTuple):
    female: list[str]
    male: list[str]
    family: list[str]


def build_index() -> bytes:
    """Build the built-in index and return its bytes (not compressed)."""
    gathered = Gathered()
    sources = load_yaml(_FOLDER / "sources.yaml", _Sources)
    for source in sorted(_FOLDER.iterdir(), key=lambda entry: entry.name):
        if source.name.startswith("own_") and source.name.endswith(".yaml"):
            _take_own(load_yaml(source, _OwnFile).names, gathered)
    for key, names in _heritages(sources.heritages):
        _take_own([_OwnNames(countries=[key], female=names.female, male=names.male, family=names.family)], gathered)
    for entry in sources.faker:
        _take_faker(entry, gathered)
    return _written(gathered)


def _heritages(wanted: Mapping[str, str]) -> Iterator[tuple[str, _Heritage]]:
    # Read directly, since heritage.py would also read all of Faker's lists.
    data = read_document(_DATA / "names.yaml").data["heritages"]
    for key, country in wanted.items():
        yield country, _Heritage(data[key]["female"], data[key]["male"], data[key]["family"])


def _take_own(entries: Iterable[_OwnNames], gathered: Gathered) -> None:
    given: Gender
    for entry in entries:
        weight = (_UNRANKED if entry.unranked else 1.0) / len(entry.countries)
        for country in entry.countries:
            for given, names in (("female", entry.female), ("male", entry.male)):
                gathered.add("first", country, given, dict.fromkeys(names, 1.0), weight=weight, ranked=not entry.unranked)
            borne: Gender | None
            for borne, names in ((None, entry.family), ("female", entry.family_female), ("male", entry.family_male)):
                if entry.unranked:
                    gathered.add("last", country, borne, dict.fromkeys(names, 1.0), weight=weight, ranked=False)
                else:
                    _add_family(country, borne, dict.fromkeys(names, 1.0), gathered, weight=weight)


def _take_faker(entry: _FakerList, gathered: Gathered) -> None:
    provider = importlib.import_module(f"faker.providers.person.{entry.locale}").Provider
    own = vars(provider)
    weight = _UNRANKED if entry.unranked else 1.0
    if entry.given:
        for gender in ("female", "male"):
            _add_script("first", entry, gender, _weights(getattr(provider, f"first_names_{gender}")), gathered, weight)
    if not entry.family:
        return
    if {"last_names_female", "last_names_male"} <= set(own) and not isinstance(own["last_names_female"], property):
        female, male = _weights(own["last_names_female"]), _weights(own["last_names_male"])
        shared = {name: share for name, share in female.items() if name in male}
        _add_script("last", entry, "female", {n: w for n, w in female.items() if n not in shared}, gathered, weight)
        _add_script("last", entry, "male", {n: w for n, w in male.items() if n not in shared}, gathered, weight)
        _add_script("last", entry, None, shared, gathered, weight)
    else:
        given = {*provider.first_names_female, *provider.first_names_male} if not entry.given else set()
        names = own.get("unisex_last_names") or provider.last_names
        _add_script("last", entry, None, {n: w for n, w in _weights(names).items() if n not in given}, gathered, weight)


def _weights(names: object) -> dict[str, float]:
    if isinstance(names, Mapping):
        return {name: float(weight) for name, weight in names.items()}
    assert isinstance(names, (list, tuple))  # noqa: S101 - what Faker's providers hold
    return dict.fromkeys(names, 1.0)


def _add_script(
    kind: ListedKind, entry: _FakerList, gender: Gender | None, names: Mapping[str, float], gathered: Gathered, weight: float
) -> None:
    if entry.native or entry.romanise:
        native: ListedKind = "first_native" if kind == "first" else "last_native"
        own = {name.strip(): share for name, share in names.items() if is_native(name.strip())}
        gathered.add(native, entry.country, gender, own)
        if not entry.romanise:
            return
        names = {romanised(name, entry.romanise): share for name, share in own.items()}
    if kind == "first":
        gathered.add(kind, entry.country, gender, names, weight=weight, ranked=not entry.unranked)
    else:
        _add_family(entry.country, gender, names, gathered, weight=weight)


def _add_family(country: str, gender: Gender | None, names: Mapping[str, float], gathered: Gathered, *, weight: float) -> None:
    if gender is not None:
        gathered.add("last", country, gender, names, weight=weight)
        return
    for borne in (None, "female", "male"):
        fitting = {name: often for name, often in names.items() if borne_by(name, country) == borne}
        gathered.add("last", country, borne, fitting, weight=weight)


def _written(gathered: Gathered) -> bytes:
    countries = {code: country_name(code) for code in gathered.countries()}
    tables: dict[str, TableWriter] = {}
    for kind in ("first", "last", "first_native", "last_native"):
        table = TableWriter(list(countries), classed=kind.startswith("first"), gendered=True, plain=True)
        entries = gathered.entries(kind)
        for name in sorted(entries, key=lambda name: (plain_key(name), name)):
            entry = entries[name]
            table.add(name, entry.shares(), entry.ranks, *entry.genders())
        tables[kind] = table
    return packed(tables, countries, _SOURCE)


def main() -> int:
    """Write the file, or compare it with ``--check``; returns the exit code (1 if the file is not up to date)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the file is what the sources make")
    target = Path(str(_FOLDER / BUILTIN))
    data = build_index()
    if parser.parse_args().check:
        same = target.exists() and gzip.decompress(target.read_bytes()) == data
        sys.stdout.write("up to date\n" if same else "not what the sources make; run without --check\n")
        return 0 if same else 1
    small = gzip.compress(data, mtime=0)
    save(small, target)
    sys.stdout.write(f"{target.name}: {len(small):,} bytes, {len(data):,} unpacked\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
