"""Regions and cities of a country, with the cities' size classes; read from ``data/places/<country>.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, NamedTuple

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.kinds.files import PlacesFile
from piiloom.surrogates.seeds import below

Size = Literal["large", "middle", "small"]
SIZES: Final[tuple[Size, ...]] = ("large", "middle", "small")
_DEFAULT: Final = "ZZ"
_SHARES: Final = (45, 80, 100)  # cumulative percentages of people in large, middle and small cities


class Region(NamedTuple):
    """A state, province or county. ``post`` holds the prefixes of its postcodes."""

    name: str
    short: str | None
    post: tuple[str, ...]


class City(NamedTuple):
    """A city, town or village."""

    name: str
    size: Size
    region: Region


class Country(NamedTuple):
    """The places of one country.

    ``by_size`` has no empty class: one without cities gets those of another class. The keys of ``by_name`` are casefolded.
    """

    regions: tuple[Region, ...]
    cities: tuple[City, ...]
    by_size: Mapping[Size, tuple[City, ...]]
    by_name: Mapping[str, City]


@cache
def places_of(country: str) -> Country:
    """Return the places of *country* (ISO 3166 alpha-2), or made-up places if the country has no file; cached."""
    folder = files("piiloom.surrogates") / "data" / "places"
    source = folder / f"{country}.yaml"
    if not source.is_file():
        source = folder / f"{_DEFAULT}.yaml"
    read = load_yaml(source, PlacesFile)
    cities = tuple(_shared(read)) if read.locale else tuple(_own(read))
    regions = tuple(dict.fromkeys(city.region for city in cities))
    return Country(regions, cities, _by_size(cities), {city.name.casefold(): city for city in reversed(cities)})


def _own(read: PlacesFile) -> list[City]:
    found = []
    for name, entry in read.regions.items():
        region = Region(name, entry.short, tuple(entry.post))
        classes: tuple[tuple[Size, list[str]], ...] = (("large", entry.large), ("middle", entry.middle), ("small", entry.small))
        found += [City(city, size, region) for size, names in classes for city in names]
    return found


def _shared(read: PlacesFile) -> list[City]:
    """Return the cities that ``pii_values`` has for the file's locale."""
    from piiloom.pii_values.regions import regions  # noqa: PLC0415 - other countries do not need them

    large, middle = set(read.large), set(read.middle)
    found = []
    for known in regions(read.locale or "").items:
        region = Region(known.name, known.short, known.post)
        for city in known.cities.items:
            size: Size = "large" if city in large else "middle" if city in middle else "small"
            found.append(City(city, size, region))
    return found


def _by_size(cities: tuple[City, ...]) -> dict[Size, tuple[City, ...]]:
    found = {size: tuple(city for city in cities if city.size == size) for size in SIZES}
    stand_in: dict[Size, Size] = {"large": "middle", "middle": "small", "small": "middle"}
    return {size: found[size] or found[stand_in[size]] or cities for size in SIZES}


@cache
def city_names(country: str) -> tuple[str, ...]:
    """The names of all cities of *country*."""
    return tuple(dict.fromkeys(city.name for city in places_of(country).cities))


def draw_city(country: str, seed: int, size: Size | None = None) -> City:
    """Draw a city of *country*, from the class *size* if given, else from a class drawn by its share of people."""
    known = places_of(country).by_size
    if size is None:
        dice = below(seed, 100)
        size = SIZES[0] if dice < _SHARES[0] else SIZES[1] if dice < _SHARES[1] else SIZES[2]
    cities = known[size]
    return cities[(seed >> 32) % len(cities)]
