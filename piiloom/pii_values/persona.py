"""One invented person whose facts agree with one another.

Draw a persona: the facts that others depend on.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.dates import draw_birth_date
from piiloom.pii_values.heritage import Creed, Heritage, creeds, heritages, one_of
from piiloom.pii_values.lexicons import PersonGender, Weighted, Who, gendered, phrase, topical, weighted
from piiloom.pii_values.looks import Body, draw_body
from piiloom.pii_values.occupations import (
    PAY_SHARE,
    Career,
    Education,
    LifeStage,
    Occupation,
    WorkStatus,
    bare_title,
    draw_career,
    draw_organisation,
    former_title,
    told_title,
    yearly_pay,
)
from piiloom.pii_values.people import (
    Attraction,
    Child,
    MaritalKind,
    Ties,
    child_topics,
    draw_email,
    draw_handle,
    draw_marital_status,
    draw_phone,
    draw_ties,
    kin_words,
)
from piiloom.pii_values.places import draw_address, draw_postcode, home_country
from piiloom.pii_values.regions import Region, regions


@dataclass(frozen=True, kw_only=True)
class Persona:
    """A person on the reference date (``dates.REFERENCE_DATE``).

    Facts that others depend on are drawn at once (``persona_drawing``). All others are drawn on first access, each from its own
    random generator seeded by ``seed`` and the fact's name, so the order of access does not matter.
    ``age`` is in completed years; ``place`` is the data entry of the region.
    """

    seed: int
    locale: str
    given_name: str
    family_name: str
    gender: PersonGender
    trans: bool
    birth_date: date
    age: int
    nationality: str
    origin: str
    creed: Creed
    ties: Ties
    heritage: Heritage
    place: Region
    career: Career

    def _rng(self, fact: str) -> random.Random:
        return derive_rng("persona", self.seed, fact)

    @cached_property
    def email(self) -> str:
        """An address made from the name."""
        return draw_email(self.given_name, self.family_name, self.birth_date.year, self._rng("email"))

    @cached_property
    def phone(self) -> str:
        """A number of the region."""
        return draw_phone(self.locale, self.place, self._rng("phone"))

    @cached_property
    def username(self) -> str:
        """A handle made from the name."""
        return draw_handle(self.given_name, self.family_name, self.birth_date.year, self._rng("username"))

    @cached_property
    def street_address(self) -> str:
        """Street and house number."""
        return draw_address(self, self._rng("street_address"))

    @cached_property
    def city(self) -> str:
        """A city of the region."""
        return self.place.cities.draw(self._rng("city"))

    @cached_property
    def postcode(self) -> str:
        """A postcode of the region."""
        return draw_postcode(self.place, self.locale, self._rng("postcode"))

    @cached_property
    def ethnicity(self) -> str:
        """The word by which people of this background call themselves."""
        rng = self._rng("ethnicity")
        return gendered(self.heritage.ethnicities.draw(rng), self.gender)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """One or two languages of the family's background; the first one is the one a person would mention first."""
        rng = self._rng("languages")
        first, second = self.heritage.languages.draw(rng), self.heritage.languages.draw(rng)
        return (first,) if first == second or rng.random() < 0.6 else (first, second)

    @cached_property
    def gender_identity(self) -> str:
        """The gender as an adjective."""
        return phrase("identity", "trans_adjective" if self.trans else "gender_adjective", self, self._rng("gender_identity"))

    @cached_property
    def occupation(self) -> str:
        """The job title as the person tells it; for retired or jobless people that of the last job, sometimes marked as former."""
        rng = self._rng("occupation")
        if self.work in {"retired", "jobless"}:
            return former_title(bare_title(self.job, self, rng), self.work, self, rng)
        return told_title(self.job, self, rng)

    @cached_property
    def employer(self) -> str:
        """The company they work for."""
        return draw_organisation("company", self, self.place, self._rng("employer"))

    @cached_property
    def income(self) -> int:
        """The yearly income in local currency."""
        return yearly_pay(self.job, self.locale, self.age, PAY_SHARE[self.life_stage], self._rng("income"))

    @cached_property
    def marital_status(self) -> str:
        """Their marital status as they tell it."""
        return draw_marital_status(self.marital_kind, self, self._rng("marital_status"))

    @cached_property
    def _conditions(self) -> tuple[str, tuple[str, ...]]:
        rng = self._rng("conditions")
        (system, first), (_, second) = topical("conditions", self, rng), topical("conditions", self, rng)
        return system, (first,) if first == second or rng.random() < 0.5 else (first, second)

    @property
    def conditions(self) -> tuple[str, ...]:
        """One or two health conditions that fit age and gender."""
        return self._conditions[1]

    @property
    def body_system(self) -> str:
        """The body system of the first condition."""
        return self._conditions[0]

    @cached_property
    def religion(self) -> str:
        """What a member of their creed is called."""
        return gendered(one_of(self.creed.members, self._rng("religion")), self.gender)

    @cached_property
    def political(self) -> str:
        """Their political leaning."""
        return phrase("beliefs", "political", self, self._rng("political"))

    @cached_property
    def philosophy(self) -> str:
        """Their conviction on how to live."""
        return phrase("beliefs", "philosophy", self, self._rng("philosophy"))

    @cached_property
    def orientation(self) -> str:
        """A word for whom they are attracted to."""
        return phrase("identity", f"orientation_{self.drawn_to}", self, self._rng("orientation"))

    @cached_property
    def body(self) -> Body:
        """What they look like."""
        return draw_body(self, self._rng("body"), dark=self.heritage.dark_features)

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
    def work(self) -> WorkStatus:
        """Whether and how they work."""
        return self.career.work

    @property
    def life_stage(self) -> LifeStage:
        """Their stage of life."""
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
        """Their marital status as one of the ``MaritalKind`` literals."""
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
