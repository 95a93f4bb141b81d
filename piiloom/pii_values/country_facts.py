"""What is usual in a country for money, addresses, papers and numbers: one entry of ``data/country_facts.yaml``."""

from __future__ import annotations

from functools import cache
from typing import Final, Literal

from pydantic import Field

from piiloom.foundation.yaml_files import FileModel, Text, load_data

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
