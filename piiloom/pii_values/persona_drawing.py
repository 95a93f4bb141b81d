"""Draw a persona: the facts that others depend on."""

from __future__ import annotations

import random

from piiloom.foundation.errors import UsageError
from piiloom.pii_values.career import draw_career
from piiloom.pii_values.creeds import creeds
from piiloom.pii_values.dates import draw_birth_date
from piiloom.pii_values.heritage import Heritage, heritages
from piiloom.pii_values.languages import PersonGender, gendered
from piiloom.pii_values.lexicons import Who
from piiloom.pii_values.people import Ties, draw_ties
from piiloom.pii_values.persona import Persona
from piiloom.pii_values.regions import regions
from piiloom.pii_values.sampling import Weighted, weighted

_GENDERS: Weighted[PersonGender] = weighted([("female", 0.485), ("male", 0.485), ("nonbinary", 0.03)])  # our estimate
_TRANS = 0.06  # share of transgender people: far above census figures, since being transgender is mentioned more often than not being so
_ASSIMILATED = 0.35  # share of people whose given name comes from the majority's list, not from their family's background
_WHOLE_LIFE = 105


def draw_persona(
    rng: random.Random,
    locale_code: str,
    *,
    min_age: int = 18,
    max_age: int = 90,
    gender: PersonGender | None = None,
    heritage: Heritage | None = None,
) -> Persona:
    """Draw a person of *min_age* to *max_age* (years, inclusive; older people are rarer), of any gender and background if none is given.

    Raises ``UsageError`` if the ages are no range within 0 to 105, or if the locale has no values.
    """
    if not 0 <= min_age <= max_age <= _WHOLE_LIFE:
        raise UsageError(f"ages {min_age} to {max_age} are not a valid range", remedy=f"Give 0 <= min_age <= max_age <= {_WHOLE_LIFE}.")
    # A distribution between uniform and triangular: younger writers are more frequent, but no age is rare.
    age = min_age + int((1 - (1 - rng.random()) ** 0.7) * (max_age - min_age + 1)) if max_age > min_age else min_age
    return draw_persona_of(rng, locale_code, age=age, gender=gender or draw_gender(rng), heritage=heritage)


def draw_gender(rng: random.Random) -> PersonGender:
    """Draw a gender by its approximate share in the population."""
    return _GENDERS.draw(rng)


def draw_persona_of(
    rng: random.Random,
    locale: str,
    *,
    age: int,
    gender: PersonGender,
    heritage: Heritage | None = None,
    family_name: str | None = None,
    ties: Ties | None = None,
) -> Persona:
    """Draw a person with the given facts; all others are drawn. Used for relatives."""
    background = heritage or heritages(locale).draw(rng)
    birth = draw_birth_date(age, rng)
    given, family = _draw_name(background, locale, gender, rng)
    place = regions(locale).draw(rng)
    nationality, origin = background.nationalities.draw(rng)
    return Persona(
        seed=rng.getrandbits(63),
        locale=locale,
        given_name=given,
        family_name=family_name or family,
        gender=gender,
        trans=gender != "nonbinary" and rng.random() < _TRANS,
        birth_date=birth,
        age=age,
        nationality=gendered(nationality, gender),
        origin=origin,
        creed=creeds(locale, background.religions.draw(rng)).draw(rng),
        ties=ties or draw_ties(age, gender, rng),
        heritage=background,
        place=place,
        career=draw_career(Who(locale=locale, age=age, gender=gender), place, rng),
    )


def _draw_name(background: Heritage, locale: str, gender: PersonGender, rng: random.Random) -> tuple[str, str]:
    """Draw (given name, family name); the two are never the same word."""
    given_from = heritages(locale).items[0] if rng.random() < _ASSIMILATED else background
    while True:
        given, family = given_from.given[gender].draw(rng), background.family.draw(rng)
        if given.casefold() != family.casefold():
            return given, family
