"""What is usual in a country: one entry of ``data/countries.yaml``, or the documented default."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.kinds.files import CountriesFile, CountryEntry

_DEFAULT: Final = "ZZ"  # the entry for countries that the file does not know (ISO 3166 keeps this code free for users)


@cache
def _file() -> dict[str, CountryEntry]:
    return load_yaml(files("piiloom.surrogates") / "data" / "countries.yaml", CountriesFile).countries


def supported() -> tuple[str, ...]:
    """The countries with an entry of their own."""
    return tuple(country for country in _file() if country != _DEFAULT)


@cache
def facts_of(country: str) -> CountryEntry:
    """The entry of *country* (ISO 3166 alpha-2)."""
    known = _file()
    return known.get(country) or known[_DEFAULT]
