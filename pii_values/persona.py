"""One invented person whose facts agree with one another."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date

from foundation.errors import UsageError
from pii_values.career import PAY_SHARE, Education, LifeStage, draw_career
from pii_values.contacts import draw_email, draw_phone
from pii_values.dates import draw_birth_date
from pii_values.heritage import Heritage, heritages
from pii_values.lexicons import Gender, fitting
from pii_values.looks import draw_eyes, draw_hair, draw_height_cm, draw_weight_kg
from pii_values.occupations import Occupation, yearly_pay
from pii_values.organisations import draw_organisation
from pii_values.people import MaritalKind, attraction, draw_handle, draw_marital_status, draw_parenthood, kin_words, marital_kinds
from pii_values.places import Region, draw_postcode, draw_street, home_country, regions
from pii_values.sampling import Weighted, weighted

_GENDERS: Weighted[Gender] = weighted([("female", 0.485), ("male", 0.485), ("nonbinary", 0.03)])
_ASSIMILATED = 0.35  # share of people whose given name comes from the majority's list, not from their family's background
_WHOLE_LIFE = 105


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A person on the reference date (``dates.REFERENCE_DATE``).

    ``age`` is completed years, ``income`` a year's in local currency; ``occupation`` of a retired person is the last one;
    ``kin`` are all kin words that fit; ``place`` and ``job`` are the entries behind region and occupation.
    """

    locale: str
    given_name: str
    family_name: str
    gender: Gender
    birth_date: date
    age: int
    life_stage: LifeStage
    email: str
    phone: str
    username: str
    street_address: str
    city: str
    region: str
    postcode: str
    country: str
    nationality: str
    origin: str
    ethnicity: str
    languages: tuple[str, ...]
    gender_identity: str
    education: Education
    occupation: str
    employer: str
    income: int
    marital_kind: MaritalKind
    marital_status: str
    parent: bool
    kin: tuple[str, ...]
    conditions: tuple[str, ...]
    religion: str
    political: str
    philosophy: str
    orientation: str
    height_cm: int
    weight_kg: int
    hair: str
    eyes: str
    heritage: str
    place: Region
    job: Occupation

    @property
    def full_name(self) -> str:
        """Given and family name."""
        return f"{self.given_name} {self.family_name}"


def draw_persona(rng: random.Random, locale_code: str, *, min_age: int = 18, max_age: int = 90) -> Persona:
    """A person of *min_age* to *max_age* (years, inclusive; older people are rarer).

    Raises ``UsageError`` when the ages make no range within 0 to 105 or the locale has no values.
    """
    if not 0 <= min_age <= max_age <= _WHOLE_LIFE:
        raise UsageError(f"ages {min_age} to {max_age} are no range", remedy=f"Give 0 <= min_age <= max_age <= {_WHOLE_LIFE}.")
    # Between uniform and triangular: everyday writers are younger, but no age is rare.
    age = min_age + int((1 - (1 - rng.random()) ** 0.7) * (max_age - min_age + 1)) if max_age > min_age else min_age
    return draw_persona_of(rng, locale_code, age=age, gender=draw_gender(rng))


def draw_gender(rng: random.Random) -> Gender:
    """A gender, about as often as people have it."""
    return _GENDERS.draw(rng)


def draw_persona_of(
    rng: random.Random,
    locale: str,
    *,
    age: int,
    gender: Gender,
    heritage: Heritage | None = None,
    family_name: str | None = None,
    marital_kind: MaritalKind | None = None,
) -> Persona:
    """A person with some facts given, as relatives need it."""
    background = heritage or heritages(locale).draw(rng)
    birth = draw_birth_date(age, rng)
    given, family = _draw_name(background, locale, gender, rng)
    family = family_name or family
    place = regions(locale).draw(rng)
    career = draw_career(age, locale, place, rng)
    kind = marital_kind or marital_kinds(age).draw(rng)
    orientation = fitting("identity", "orientation", locale, age, gender).draw(rng).text
    parent = draw_parenthood(age, kind, rng)
    nationality, origin = background.nationalities.draw(rng)
    height = draw_height_cm(gender, rng)
    return Persona(
        locale=locale,
        given_name=given,
        family_name=family,
        gender=gender,
        birth_date=birth,
        age=age,
        life_stage=career.stage,
        email=draw_email(given, family, birth.year, rng),
        phone=draw_phone(locale, place, rng),
        username=draw_handle(given, family, birth.year, rng),
        street_address=draw_street(locale, rng),
        city=place.cities.draw(rng),
        region=place.name,
        postcode=draw_postcode(place, locale, rng),
        country=home_country(locale),
        nationality=nationality,
        origin=origin,
        ethnicity=background.ethnicities.draw(rng),
        languages=_draw_languages(background, rng),
        gender_identity=fitting("identity", f"gender_{gender}", locale).draw(rng).text,
        education=career.education,
        occupation=career.job.title,
        employer=draw_organisation("company", locale, place, rng),
        income=yearly_pay(career.job, locale, age, PAY_SHARE[career.stage], rng),
        marital_kind=kind,
        marital_status=draw_marital_status(kind, locale, age, rng),
        parent=parent,
        kin=tuple(e.text for e in kin_words(locale, age, gender, attraction(orientation), kind, parent).items),
        conditions=_draw_conditions(locale, age, gender, rng),
        religion=fitting("beliefs", background.religions.draw(rng), locale).draw(rng).text,
        political=fitting("beliefs", "political", locale).draw(rng).text,
        philosophy=fitting("beliefs", "philosophy", locale).draw(rng).text,
        orientation=orientation,
        height_cm=height,
        weight_kg=draw_weight_kg(height, rng),
        hair=draw_hair(locale, age, rng, dark=background.dark_features),
        eyes=draw_eyes(locale, age, rng, dark=background.dark_features),
        heritage=background.key,
        place=place,
        job=career.job,
    )


def _draw_name(background: Heritage, locale: str, gender: Gender, rng: random.Random) -> tuple[str, str]:
    """Given and family name, which never share a word."""
    given_from = heritages(locale).items[0] if rng.random() < _ASSIMILATED else background
    while True:
        given, family = given_from.given[gender].draw(rng), background.family.draw(rng)
        if given.casefold() != family.casefold():
            return given, family


def _draw_languages(background: Heritage, rng: random.Random) -> tuple[str, ...]:
    """One or two languages of the family's background, the first the one a person would mention."""
    first, second = background.languages.draw(rng), background.languages.draw(rng)
    return (first,) if first == second or rng.random() < 0.6 else (first, second)


def _draw_conditions(locale: str, age: int, gender: Gender, rng: random.Random) -> tuple[str, ...]:
    """One or two health conditions that fit age and gender."""
    choices = fitting("conditions", None, locale, age, gender)
    first, second = choices.draw(rng).text, choices.draw(rng).text
    return (first,) if first == second or rng.random() < 0.5 else (first, second)
