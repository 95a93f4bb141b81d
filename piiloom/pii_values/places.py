"""Cities with their regions, postcodes, streets and countries of a locale, and cities abroad."""

from __future__ import annotations

import random
from functools import cache

from piiloom.foundation.yaml_files import FileModel, Text, load_yaml
from piiloom.pii_values.countries import country_of, from_mask
from piiloom.pii_values.heritage import countries, profile
from piiloom.pii_values.lexicons import Fitted, Weighted, folder, has_topic, phrase, weighted
from piiloom.pii_values.regions import Region, regions


class _WorldFile(FileModel):
    cities: dict[str, list[Text]]


@cache
def _world(locale: str) -> Weighted[tuple[str, str]]:
    found = load_yaml(folder(locale) / "world.yaml", _WorldFile).cities
    own = profile(locale).country
    return weighted(((city, country), 1.0) for country, cities in found.items() if country != own for city in cities)


def draw_abroad(locale: str, rng: random.Random) -> tuple[str, str]:
    """A city outside the locale's country, and its country."""
    return _world(locale).draw(rng)


def draw_region_name(own: Region, locale: str, rng: random.Random, *, elsewhere: bool) -> str:
    """Draw the name of *own* or of a named area inside it; *elsewhere*: of any region of the locale instead."""
    region = regions(locale).draw(rng) if elsewhere else own
    if region.areas and rng.random() < 0.72:  # countries with few states would repeat them otherwise
        return region.areas[int(rng.random() * len(region.areas))]
    return region.name


def draw_city_region(own: Region, city: str, who: Fitted, rng: random.Random) -> str:
    """Draw a city with its region or country: "Austin, Texas", "Austin, TX", "Leeds, UK"."""
    dice = rng.random()
    if dice < 0.15:
        country = own.country if own.country and rng.random() < 0.5 else phrase("wording", "country", who, rng)
        return phrase("wording", "city_country", who, rng, {"city": city, "country": country})
    if own.short and dice < 0.55:
        return phrase("wording", "city_short", who, rng, {"city": city, "short": own.short})
    if own.name == city or (own.urban and own.country is None):  # parts of a city-state: only the country is larger
        country = own.country or phrase("wording", "country", who, rng)
        return phrase("wording", "city_country", who, rng, {"city": city, "country": country})
    return phrase("wording", "city_region", who, rng, {"city": city, "region": own.name})


def draw_area(own: Region, city: str, who: Fitted, rng: random.Random) -> str:
    """A part of a city or region: "rural Montana", "downtown Leeds", "Napa Valley"."""
    dice = rng.random()
    if own.areas and dice < 0.2:
        return own.areas[int(rng.random() * len(own.areas))]
    if dice < 0.6 and not own.urban and has_topic("wording", "area_of_region", who):
        return phrase("wording", "area_of_region", who, rng, {"region": own.name})
    return phrase("wording", "area_of_city", who, rng, {"city": city})


def draw_country(rng: random.Random, locale: str, *, home: str, origin: str) -> str:
    """Draw a country that a person would mention: mostly any, sometimes the family's (*origin*), seldom *home*."""
    dice = rng.random()
    if dice < 0.02:
        return home
    if dice < 0.3 and origin != home:
        return origin
    known = countries(locale)
    return known[int(rng.random() * len(known))]


def draw_street(who: Fitted, rng: random.Random) -> str:
    """A street by its name: "Maple Avenue"."""
    return phrase("streets", "street", who, rng, _numbers(who.locale, rng))


def draw_address(who: Fitted, rng: random.Random) -> str:
    """House number and street, as written in the locale: "418 Maple Street"."""
    return phrase("streets", "address", who, rng, _numbers(who.locale, rng))


def _numbers(locale: str, rng: random.Random) -> dict[str, str]:
    """Draw the texts for the number slots of addresses: house, letter, sub-number, floor, flat, and numbers in street names."""
    house = 1 + int(rng.random() ** 2 * country_of(locale).houses)
    return {
        "house": str(house),
        "letter": "abcd"[int(rng.random() * 4)],
        "sub": str(1 + int(rng.random() * 12)),
        "floor": f"{1 + int(rng.random() * 24):02d}",
        "flat": str(10 + int(rng.random() * 290)),
        "small": str(1 + int(rng.random() * 9)),
        "middle": str(2 + int(rng.random() * 88)),
    }


def draw_postcode(region: Region, locale: str, rng: random.Random) -> str:
    """Draw a postcode with a prefix of the region; the rest is random."""
    return rng.choice(region.post) + from_mask(country_of(locale).postcode, rng)


def home_country(locale: str) -> str:
    """The country that *locale* is spoken in."""
    return profile(locale).country
