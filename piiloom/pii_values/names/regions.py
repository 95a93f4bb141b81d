"""UN M49 regions and short names of the countries of ISO 3166-1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, load_data

Gender = Literal["female", "male"]
Region = Literal["Africa", "Americas", "Asia", "Europe", "Oceania"]
REGIONS: Final[tuple[Region, ...]] = ("Africa", "Americas", "Asia", "Europe", "Oceania")


class _RegionsFile(FileModel):
    regions: dict[Region, dict[str, str]]


@cache
def _regions() -> Mapping[str, tuple[Region, str]]:
    """Return (region, country name) by alpha-2 code."""
    read = load_data("piiloom.pii_values", "names_index/regions.yaml", _RegionsFile)
    return {code: (region, name) for region, countries in read.regions.items() for code, name in countries.items()}


def region_of(country: str) -> Region:
    """Return the region of a country (alpha-2); raises ``UsageError`` for an unknown code or a territory without region (Antarctica)."""
    return _known(country)[0]


def country_name(country: str) -> str:
    """Return the short English name of a country (alpha-2); raises the same errors as ``region_of``."""
    return _known(country)[1]


def countries_of(region: Region) -> tuple[str, ...]:
    """Return the codes of the countries of a region, in ascending order."""
    return tuple(sorted(code for code, (its, _) in _regions().items() if its == region))


def _known(country: str) -> tuple[Region, str]:
    found = _regions().get(country)
    if found is None:
        raise UsageError(f"unknown country {country!r}", remedy="Give an ISO 3166-1 alpha-2 code such as NL.")
    return found


Borne = Literal["female", "male"]
_NONE: Final[tuple[tuple[int, ...], Mapping[str, Borne]]] = ((), {})


class _Endings(FileModel):
    countries: list[str]
    female: list[str]
    male: list[str]


class _GenderFile(FileModel):
    endings: list[_Endings]


@cache
def _endings() -> Mapping[str, tuple[tuple[int, ...], Mapping[str, Borne]]]:
    """Return by country the endings of family names with the gender that they tell, and the lengths of endings, longest first."""
    found: dict[str, tuple[tuple[int, ...], Mapping[str, Borne]]] = {}
    for entry in load_data("piiloom.pii_values", "names_index/family_genders.yaml", _GenderFile).endings:
        ends: dict[str, Borne] = {**dict.fromkeys(entry.male, "male"), **dict.fromkeys(entry.female, "female")}
        found |= dict.fromkeys(entry.countries, (tuple(sorted({*map(len, ends)}, reverse=True)), ends))
    return found


def borne_by(family: str, country: str) -> Borne | None:
    """Return the gender that bears this form of a family name in *country*; None if both do, or if it is unknown."""
    lengths, ends = _endings().get(country, _NONE)
    name = family.casefold()
    for length in lengths:
        if (gender := ends.get(name[-length:])) is not None:
            return gender
    return None


def differs(country: str) -> bool:
    """Whether family names differ by gender in *country*."""
    return country in _endings()
