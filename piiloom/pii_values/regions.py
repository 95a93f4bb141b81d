"""The regions of a locale, with their cities, and what postcodes and phone numbers there begin with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, Text, load_yaml
from piiloom.pii_values.lexicons import Weighted, weighted


class _Region(FileModel):
    weight: float = Field(gt=0)
    post: list[str] = Field(min_length=1)
    phone: list[str] = Field(default=[])
    vehicle: str | None = None
    short: str | None = None
    country: str | None = None
    urban: bool = False
    cities: list[Text] = Field(min_length=2)
    areas: list[Text] = Field(default=[])


class _PlacesFile(FileModel):
    regions: dict[str, _Region]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A state, province, county or part of a country.

    ``phone``: area codes or reserved number blocks (see ``contacts``). ``short``: abbreviation. ``country``: the constituent country it
    lies in (Scotland), if any. ``areas``: names of its parts. ``urban``: the region is a city.
    """

    name: str
    post: tuple[str, ...]
    phone: tuple[str, ...]
    vehicle: str | None
    short: str | None
    country: str | None
    urban: bool
    cities: Weighted[str]
    areas: tuple[str, ...]


@cache
def regions(locale: str) -> Weighted[Region]:
    """Return the weighted regions of *locale*; raises ``UsageError`` if there are none."""
    source = files("piiloom.pii_values") / "data" / "places" / f"{locale}.yaml"
    if not source.is_file():
        raise UsageError(f"no places for locale {locale!r}", remedy="See taxonomy/locales.yaml for the locales that have values.")
    return weighted((_region(name, r), r.weight) for name, r in load_yaml(source, _PlacesFile).regions.items())


def _region(name: str, source: _Region) -> Region:
    # Larger cities come first in the file; the weight falls slowly, so that the largest one does not dominate.
    cities = weighted((city, 1.0 / (rank + 6)) for rank, city in enumerate(source.cities))
    return Region(
        name=name,
        post=tuple(source.post),
        phone=tuple(source.phone),
        vehicle=source.vehicle,
        short=source.short,
        country=source.country,
        urban=source.urban,
        cities=cities,
        areas=tuple(source.areas),
    )
