"""Conventions of a locale for money, measures and numbers (``data/countries.yaml``), and of a country (``data/country_facts.yaml``)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, Text, load_data
from piiloom.pii_values.lexicons import Weighted, weighted
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
