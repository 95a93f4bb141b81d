"""Country-specific formats: one entry of ``data/countries.yaml`` per country, or the default entry."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.kinds.files import CountriesFile, CountryEntry

_DEFAULT: Final = "ZZ"  # the entry for countries without one (ISO 3166 reserves this code for private use)


@cache
def _file() -> dict[str, CountryEntry]:
    return load_yaml(files("piiloom.surrogates") / "data" / "countries.yaml", CountriesFile).countries


def supported() -> tuple[str, ...]:
    """Return the codes (ISO 3166 alpha-2) of the countries that have their own entry."""
    return tuple(country for country in _file() if country != _DEFAULT)


@cache
def facts_of(country: str) -> CountryEntry:
    """Return the entry of *country* (ISO 3166 alpha-2), or the default entry; cached."""
    known = _file()
    return known.get(country) or known[_DEFAULT]
