"""Regions, cities, postcodes, streets and countries of a locale."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import Field

from foundation.errors import UsageError
from foundation.yaml_files import load_yaml
from pii_values.heritage import countries, profile
from pii_values.lexicons import FileModel, Text, fitting
from pii_values.sampling import Weighted, weighted

_GB_UNIT = "ABDEFGHJLNPQRSTUWXYZ"  # letters of the last part of a British postcode
_CA_LETTERS = "ABCEGHJKLMNPRSTVWXYZ"  # letters of a Canadian postal code


class _Region(FileModel):
    weight: float = Field(gt=0)
    post: list[str] = Field(min_length=1)
    phone: list[str] = Field(default_factory=list)
    vehicle: str | None = None
    cities: list[Text] = Field(min_length=2)
    areas: list[Text] = Field(default_factory=list)


class _PlacesFile(FileModel):
    regions: dict[str, _Region]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A state, province or part of a country. ``phone`` are area codes or reserved number blocks (see ``contacts``)."""

    name: str
    post: tuple[str, ...]
    phone: tuple[str, ...]
    vehicle: str | None
    cities: Weighted[str]
    areas: tuple[str, ...]


@cache
def regions(locale: str) -> Weighted[Region]:
    """The regions of *locale*; raises ``UsageError`` when there are none."""
    source = files("pii_values") / "data" / "places" / f"{locale}.yaml"
    if not source.is_file():
        raise UsageError(f"no places for locale {locale!r}", remedy="See taxonomy/data/locales.yaml for the locales that have values.")
    return weighted((_region(name, r), r.weight) for name, r in load_yaml(source, _PlacesFile).regions.items())


def _region(name: str, source: _Region) -> Region:
    # Larger cities come first in the file; the weight falls gently, so that the largest one does not drown the others.
    cities = weighted((city, 1.0 / (rank + 6)) for rank, city in enumerate(source.cities))
    return Region(
        name=name,
        post=tuple(source.post),
        phone=tuple(source.phone),
        vehicle=source.vehicle,
        cities=cities,
        areas=tuple(source.areas),
    )


def draw_region_name(own: Region, locale: str, rng: random.Random, *, elsewhere: bool) -> str:
    """The region, or a named area inside it; ``elsewhere``: of any region of the locale."""
    region = regions(locale).draw(rng) if elsewhere else own
    if region.areas and rng.random() < 0.72:  # countries with few states would repeat them otherwise
        return region.areas[int(rng.random() * len(region.areas))]
    return region.name


def draw_country(rng: random.Random, *, home: str, origin: str) -> str:
    """A country somebody would mention: mostly any in the world, sometimes the family's or the own one."""
    dice = rng.random()
    if dice < 0.02:
        return home
    if dice < 0.3 and origin != home:
        return origin
    known = countries()
    return known[int(rng.random() * len(known))]


def draw_street(locale: str, rng: random.Random) -> str:
    """House number and street, as written in *locale*: "418 Maple Street"."""
    number = 1 + int(rng.random() ** 2 * (2400 if locale in {"en_US", "en_CA"} else 240))
    if locale == "en_IN":
        area = fitting("organisations", "indian_area", locale).draw(rng).text
        kind = fitting("organisations", "indian_kind", locale).draw(rng).text
        block = f"{number}/{1 + int(rng.random() * 12)}" if rng.random() < 0.4 else str(number)
        return f"{block} {area} {kind}"
    name = fitting("organisations", "street_name", locale).draw(rng).text
    kind = fitting("organisations", "street_kind", locale).draw(rng).text
    letter = rng.choice("abc") if locale != "en_US" and rng.random() < 0.08 else ""
    return f"{number}{letter} {name} {kind}"


def draw_postcode(region: Region, locale: str, rng: random.Random) -> str:
    """A postcode whose prefix belongs to the region; the rest is free."""
    prefix = rng.choice(region.post)
    if locale == "en_GB":
        return f"{prefix}{rng.randint(1, 19)} {rng.randint(1, 9)}{rng.choice(_GB_UNIT)}{rng.choice(_GB_UNIT)}"
    if locale == "en_CA":
        middle = f"{rng.randint(1, 9)}{rng.choice(_CA_LETTERS)}"
        return f"{prefix}{middle} {rng.randint(1, 9)}{rng.choice(_CA_LETTERS)}{rng.randint(1, 9)}"
    length = {"en_US": 5, "en_AU": 4, "en_IN": 6}[locale]
    return prefix + "".join(rng.choice(string.digits) for _ in range(length - len(prefix)))


def home_country(locale: str) -> str:
    """The country that *locale* is spoken in."""
    return profile(locale).country
