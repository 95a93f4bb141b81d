"""The names index: look up names, and list the most frequent names of a country."""

from __future__ import annotations

import gzip
import os
import zlib
from array import array
from collections.abc import Container, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from piiloom.foundation.errors import DataError, UsageError
from piiloom.pii_values.names.layout import Opened, open_bytes, open_file
from piiloom.pii_values.names.tables import RankedNames, Table, plain_key

if TYPE_CHECKING:
    from piiloom.pii_values.names.family_genders import Borne

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
        from piiloom.pii_values.names.family_genders import differs  # noqa: PLC0415 - it reads YAML, which opening an index should not do

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
        from piiloom.pii_values.names.family_genders import borne_by  # noqa: PLC0415 - as above

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
