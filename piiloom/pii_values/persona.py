"""One invented person whose facts agree with one another."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.career import PAY_SHARE, Career, Education, LifeStage, WorkStatus
from piiloom.pii_values.contacts import draw_email, draw_phone
from piiloom.pii_values.creeds import Creed, one_of
from piiloom.pii_values.heritage import Heritage
from piiloom.pii_values.languages import PersonGender, gendered
from piiloom.pii_values.lexicons import phrase, topical
from piiloom.pii_values.looks import Body, draw_body
from piiloom.pii_values.occupations import Occupation, bare_title, former_title, told_title, yearly_pay
from piiloom.pii_values.organisations import draw_organisation
from piiloom.pii_values.people import Attraction, Child, MaritalKind, Ties, child_topics, draw_handle, draw_marital_status, kin_words
from piiloom.pii_values.places import draw_address, draw_postcode, home_country
from piiloom.pii_values.regions import Region


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
