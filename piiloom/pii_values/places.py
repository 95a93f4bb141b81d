"""Cities with their regions, postcodes, streets and countries of a locale, and cities abroad.

What is usual in a country for money, addresses, papers and numbers: one entry of ``data/country_facts.yaml``.

Conventions of a locale for money, measures and numbers: one entry of ``data/countries.yaml``.

The regions of a locale, with their cities, and what postcodes and phone numbers there begin with.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, Text, load_data, load_yaml
from piiloom.pii_values.heritage import countries, profile
from piiloom.pii_values.lexicons import Fitted, Weighted, folder, has_topic, phrase, weighted
from piiloom.pii_values.numbering.holders import in_groups
from piiloom.pii_values.numbering.masks import fill_given

Order = Literal["dmy", "mdy", "ymd"]


class MoneyFacts(FileModel):
    """``forms`` hold {n}; ``scale``: local money for one US dollar, roughly; ``group`` and ``decimal`` signs."""

    forms: list[Text] = Field(min_length=1)
    scale: float = 1.0
    group: str = ","
    decimal: str = "."
    cents: bool = True


class CountryEntry(FileModel):
    """See the head of ``country_facts.yaml``."""

    order: Order = "dmy"
    money: MoneyFacts
    streets: str
    address: list[Text] = Field(min_length=1)
    full: list[Text] = Field(min_length=1)
    houses: int = 180
    postcode: list[Text] = Field(default=[])
    postcode_tail: str | None = None
    iban: str | None = None
    bank_account: list[Text] = Field(default=[])
    national_id: str | None = None
    tax_id: str | None = None
    passport: list[Text] = Field(min_length=1)
    driving_licence: list[Text] = Field(min_length=1)
    licence_plate: list[Text] = Field(min_length=1)


class CountriesFile(FileModel):
    """``country_facts.yaml``."""

    countries: dict[str, CountryEntry]


# Rules of national and tax ids for countries that have no entry in the file.
_ID_RULES: Final = {
    "BG": "eastern_european_ids:egn",
    "EE": "nordic_ids:isikukood",
    "HR": "eastern_european_ids:oib",
    "LT": "nordic_ids:isikukood",
    "LV": "nordic_ids:personas_kods",
    "NO": "nordic_ids:fodselsnummer",
    "RU": "eastern_european_ids:inn",
    "SI": "eastern_european_ids:emso",
    "SK": "eastern_european_ids:rodne_cislo",
    "UA": "eastern_european_ids:rnokpp",
}
_DEFAULT: Final = "ZZ"  # the entry for countries without one (ISO 3166 reserves this code for private use)


@cache
def _file() -> dict[str, CountryEntry]:
    return load_data("piiloom.pii_values", "country_facts.yaml", CountriesFile).countries


def supported() -> tuple[str, ...]:
    """Return the codes (ISO 3166 alpha-2) of the countries that have their own entry."""
    return tuple(country for country in _file() if country != _DEFAULT)


@cache
def facts_of(country: str) -> CountryEntry:
    """Return the entry of *country* (ISO 3166 alpha-2), or the default entry; cached."""
    known = _file()
    return known.get(country) or known[_DEFAULT]


def id_rule(country: str, *, tax: bool = False) -> str | None:
    """Return the rule of *country*'s national id, or of its tax id, for ``numbering.holders.rule_of``; None if no rule is known."""
    own = facts_of(country)
    return _ID_RULES.get(country) or (own.tax_id if tax else own.national_id)


Period = Literal["year", "month", "week", "hour"]
Height = Literal["imperial", "metric"]
Weight = Literal["pounds", "kilograms", "stone"]

# "@": letters that both British and Canadian postcodes end in
_MASK: Final = {"#": "0123456789", "%": "123456789", "@": "ABCEGHJLNPRSTVWXYZ"}


class CheckedId(FileModel):
    """A national id: the stdnum module that knows its check digits, its first characters as a mask, the number of check digits."""

    stdnum: str
    mask: str
    check: int


class _CountryRow(FileModel):
    group: str
    pairs: bool = False
    decimal: str
    exact: dict[str, float] = Field(min_length=1)
    unit: int
    short: dict[str, float] = Field(min_length=1)
    pay: float = Field(gt=0)
    periods: dict[Period, float]
    scores: tuple[int, int, int, int] | None = Field(default=None, strict=False)
    height: dict[Height, float]
    weight: dict[Weight, float]
    houses: int
    postcode: str
    national_id: CheckedId | None = None
    shapes: dict[str, dict[str, float]] = Field(default={})


class _CountriesFile(FileModel):
    locales: dict[str, _CountryRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Country:
    """The conventions of a locale's country; ``data/countries.yaml`` describes all fields.

    ``pairs``: digits above thousands are grouped in twos. ``unit``: the amount that ``{k}`` in short forms counts (1,000; a lakh).
    """

    group: str
    pairs: bool
    decimal: str
    exact: Weighted[str]
    unit: int
    short: Weighted[str]
    pay: float
    periods: Mapping[Period, float]
    scores: tuple[int, int, int, int]
    height: Weighted[Height]
    weight: Weighted[Weight]
    houses: int
    postcode: str
    national_id: CheckedId | None
    shapes: Mapping[str, Weighted[str]]


@cache
def country_of(locale: str) -> Country:
    """Return the conventions of the country of *locale*; raises ``UsageError`` for a locale without values."""
    known = load_data("piiloom.pii_values", "countries.yaml", _CountriesFile).locales
    found = known.get(locale)
    if found is None:
        raise UsageError(f"no values for locale {locale!r}", remedy=f"Known: {', '.join(known)}.")
    return Country(
        group=found.group,
        pairs=found.pairs,
        decimal=found.decimal,
        exact=weighted(found.exact.items()),
        unit=found.unit,
        short=weighted(found.short.items()),
        pay=found.pay,
        periods=found.periods,
        scores=found.scores or (300, 850, 690, 85),
        height=weighted(found.height.items()),
        weight=weighted(found.weight.items()),
        houses=found.houses,
        postcode=found.postcode,
        national_id=found.national_id,
        shapes={kind: weighted(shapes.items()) for kind, shapes in found.shapes.items()},
    )


def grouped(number: int, locale: str) -> str:
    """Format *number* with the digit grouping of *locale*: "52,400", "9,60,000"."""
    here = country_of(locale)
    return in_groups(number, here.group, pairs=here.pairs)


def decimal(number: float, places: int, locale: str) -> str:
    """Format *number* with at most *places* decimals and without trailing zeros: "1.84", "9.6", "48"."""
    text = f"{number:.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace(".", country_of(locale).decimal)


def from_mask(mask: str, rng: random.Random) -> str:
    """Draw a code from *mask*: "#" becomes a digit, "%" a digit from 1 to 9, "@" a letter."""
    return "".join(rng.choice(_MASK[c]) if c in _MASK else c for c in mask)


def shaped(kind: str, locale: str, rng: random.Random, **given: str) -> str:
    """Draw a code in one of the shapes that the locale's entry, else that of en_US, has for *kind*; ``{area}`` in it is *given* "area"."""
    return fill_given(country_of(locale).shapes.get(kind) or country_of("en_US").shapes[kind], rng, given)


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
