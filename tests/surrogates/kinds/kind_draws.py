"""Draws for the tests of kinds: many seeds, countries and owners."""

from __future__ import annotations

from datetime import date

from piiloom.foundation.seeding import mix
from piiloom.pii_values.countries import supported
from piiloom.surrogates.kinds.kind import Draw, FictitiousPerson

ANCHOR = date(2024, 5, 1)
LANGUAGES = {
    "NL": "nl", "BE": "nl", "DE": "de", "AT": "de", "CH": "de", "FR": "fr", "MA": "fr", "ES": "es", "MX": "es", "AR": "es",
    "CO": "es", "CL": "es",
    "PE": "es", "PT": "pt", "BR": "pt", "IT": "it", "SE": "sv", "DK": "da", "NO": "no",
}  # fmt: skip
GIVEN = ("Anna", "Łucja", "Søren", "Müller", "Иван", "Ng", "José", "O'Neil", "李", "مريم", "Aït", "Xu")
FAMILY = ("Smit", "Weiß", "Ångström", "Ó Briain", "Петров", "Li", "Núñez", "D'Angelo", "王", "خان", "de la Cruz", "Oe")


def persona(seed: int, country: str, *, born: date | None = None) -> FictitiousPerson:
    return FictitiousPerson(
        seed=mix(seed, 77),
        gender="female" if seed % 2 else "male",
        region="Europe",
        origin=country,
        country=country,
        given=GIVEN[seed % len(GIVEN)],
        family=FAMILY[seed // 3 % len(FAMILY)],
        anchor=ANCHOR,
        _born=born,
    )


def draw(seed: int, country: str = "US", language: str | None = None, **changes: object) -> Draw:
    made = Draw(seed=mix(seed, 5), country=country, language=language or LANGUAGES.get(country, "en"), anchor=ANCHOR, shift=31 + seed // 50)
    return made._replace(**changes)  # type: ignore[arg-type]


def owned(seed: int, country: str, **changes: object) -> Draw:
    return draw(seed, country, owner=persona(seed, country), **changes)


COUNTRIES = supported()
