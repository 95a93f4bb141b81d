"""One invented person whose facts agree with one another."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date

from foundation.errors import UsageError
from pii_values.career import PAY_SHARE, Career, Education, LifeStage, Work, draw_career
from pii_values.contacts import draw_email, draw_phone
from pii_values.creeds import Creed, creeds, pick
from pii_values.dates import draw_birth_date
from pii_values.heritage import Heritage, heritages
from pii_values.languages import Gender, gendered
from pii_values.lexicons import Fitted, Who, phrase, topical
from pii_values.looks import Body, draw_body
from pii_values.occupations import Occupation, bare_title, former_title, told_title, yearly_pay
from pii_values.organisations import draw_organisation
from pii_values.people import (
    Attraction,
    Child,
    MaritalKind,
    Ties,
    child_topics,
    draw_handle,
    draw_marital_status,
    draw_ties,
    kin_words,
)
from pii_values.places import Region, draw_address, draw_postcode, home_country, regions
from pii_values.sampling import Weighted, weighted

_GENDERS: Weighted[Gender] = weighted([("female", 0.485), ("male", 0.485), ("nonbinary", 0.03)])  # our estimate
_TRANS = 0.06  # share of people who are transgender: far above a census, as it is told more often than not being so
_ASSIMILATED = 0.35  # share of people whose given name comes from the majority's list, not from their family's background
_WHOLE_LIFE = 105


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A person on the reference date (``dates.REFERENCE_DATE``).

    ``age`` is completed years, ``income`` a year's in local currency; ``occupation`` of a retired person is the last one;
    ``place`` is the entry behind the region.
    """

    locale: str
    given_name: str
    family_name: str
    gender: Gender
    trans: bool
    birth_date: date
    age: int
    email: str
    phone: str
    username: str
    street_address: str
    city: str
    postcode: str
    nationality: str
    origin: str
    ethnicity: str
    languages: tuple[str, ...]
    gender_identity: str
    occupation: str
    employer: str
    income: int
    ties: Ties
    marital_status: str
    conditions: tuple[str, ...]
    body_system: str
    creed: Creed
    religion: str
    political: str
    philosophy: str
    orientation: str
    body: Body
    heritage: str
    place: Region
    career: Career

    @property
    def full_name(self) -> str:
        """Given and family name."""
        return f"{self.given_name} {self.family_name}"

    @property
    def education(self) -> Education:
        """What they have studied and study."""
        return self.career.education

    @property
    def job(self) -> Occupation:
        """The job behind the occupation."""
        return self.career.job

    @property
    def work(self) -> Work:
        """Whether and how they work."""
        return self.career.work

    @property
    def life_stage(self) -> LifeStage:
        """Where in life they stand."""
        return self.career.stage

    @property
    def region(self) -> str:
        """The name of their region."""
        return self.place.name

    @property
    def country(self) -> str:
        """The country they live in."""
        return home_country(self.locale)

    @property
    def marital_kind(self) -> MaritalKind:
        """Their marital status in one of a few words."""
        return self.ties.kind

    @property
    def children(self) -> tuple[Child, ...]:
        """Their children, oldest first."""
        return self.ties.children

    @property
    def drawn_to(self) -> Attraction:
        """Whom they are attracted to."""
        return self.ties.drawn_to

    @property
    def parent(self) -> bool:
        """Whether they have children."""
        return bool(self.children)

    @property
    def kin(self) -> tuple[str, ...]:
        """All kin words that fit."""
        children = child_topics(self.children)
        return tuple(e.text for e in kin_words(self.locale, self.age, self.gender, self.ties.partner, self.marital_kind, children).items)


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
    ties: Ties | None = None,
) -> Persona:
    """A person with some facts given, as relatives need it."""
    background = heritage or heritages(locale).draw(rng)
    who = Who(locale=locale, age=age, gender=gender)
    birth = draw_birth_date(age, rng)
    given, family = _draw_name(background, locale, gender, rng)
    family = family_name or family
    place = regions(locale).draw(rng)
    career = draw_career(who, place, rng)
    tied = ties or draw_ties(age, gender, rng)
    nationality, origin = background.nationalities.draw(rng)
    creed = creeds(locale, background.religions.draw(rng)).draw(rng)
    trans = gender != "nonbinary" and rng.random() < _TRANS
    body_system, conditions = _draw_conditions(who, rng)
    return Persona(
        locale=locale,
        given_name=given,
        family_name=family,
        gender=gender,
        trans=trans,
        birth_date=birth,
        age=age,
        email=draw_email(given, family, birth.year, rng),
        phone=draw_phone(locale, place, rng),
        username=draw_handle(given, family, birth.year, rng),
        street_address=draw_address(who, rng),
        city=place.cities.draw(rng),
        postcode=draw_postcode(place, locale, rng),
        nationality=gendered(nationality, gender),
        origin=origin,
        ethnicity=gendered(background.ethnicities.draw(rng), gender),
        languages=_draw_languages(background, rng),
        gender_identity=phrase("identity", "trans_adjective" if trans else "gender_adjective", who, rng),
        occupation=told_job(career, who, rng),
        employer=draw_organisation("company", who, place, rng),
        income=yearly_pay(career.job, locale, age, PAY_SHARE[career.stage], rng),
        ties=tied,
        marital_status=draw_marital_status(tied.kind, who, rng),
        conditions=conditions,
        body_system=body_system,
        creed=creed,
        religion=gendered(pick(creed.members, rng), gender),
        political=phrase("beliefs", "political", who, rng),
        philosophy=phrase("beliefs", "philosophy", who, rng),
        orientation=phrase("identity", f"orientation_{tied.drawn_to}", who, rng),
        body=draw_body(who, rng, dark=background.dark_features),
        heritage=background.key,
        place=place,
        career=career,
    )


def told_job(career: Career, who: Fitted, rng: random.Random) -> str:
    """The title of the job as its holder tells it; who has left it says so now and then."""
    if career.work in {"retired", "jobless"}:
        return former_title(bare_title(career.job, who, rng), career.work, who, rng)
    return told_title(career.job, who, rng)


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


def _draw_conditions(who: Fitted, rng: random.Random) -> tuple[str, tuple[str, ...]]:
    """One or two health conditions that fit age and gender, and the body system of the first."""
    (system, first), (_, second) = topical("conditions", who, rng), topical("conditions", who, rng)
    return system, (first,) if first == second or rng.random() < 0.5 else (first, second)
