"""For every subtype, how one value of a persona is drawn.

A drawer takes (persona, generator, attempt). Attempt 0 gives the persona's own fact where it has one; later attempts, made
when a value clashes with another one in the same text, give another value that fits the same person where there can be one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from pii_values import contacts, dates, documents, finance, looks, organisations, people, places, schooling
from pii_values.heritage import heritage_named, heritages
from pii_values.lexicons import fitting, topic_of
from pii_values.occupations import jobs_for
from pii_values.persona import Persona

Drawer = Callable[[Persona, random.Random, int], str]
_SAME_SYSTEM = 0.6  # share of medicines and procedures that belong to the body system of the persona's condition
_GLUED_AFTER = 4  # attempts after which handles are written so that the name is no word of its own


def job_title(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's job, then another one open to them."""
    return p.occupation if attempt == 0 else jobs_for(p.locale, p.education.level, p.age).draw(rng).title


def condition(p: Persona, rng: random.Random, attempt: int) -> str:
    """One of the persona's conditions, then any that fits age and gender."""
    if attempt == 0:
        return p.conditions[int(rng.random() * len(p.conditions))]
    return fitting("conditions", None, p.locale, p.age, p.gender).draw(rng).text


def treatment(lexicon: str) -> Drawer:
    """A medicine or procedure, more often than not one for the persona's condition."""

    def draw(p: Persona, rng: random.Random, attempt: int) -> str:
        topic = topic_of("conditions", p.locale)[p.conditions[0]] if attempt < 3 and rng.random() < _SAME_SYSTEM else None
        choices = fitting(lexicon, topic, p.locale, p.age, p.gender)
        return (choices if len(choices.items) > 4 else fitting(lexicon, None, p.locale, p.age, p.gender)).draw(rng).text

    return draw


def listed(lexicon: str, topic: str | None = None) -> Drawer:
    """Any entry of a lexicon that fits the persona's age and gender."""
    return lambda p, rng, _: fitting(lexicon, topic, p.locale, p.age, p.gender).draw(rng).text


def nationality(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's nationality, then one from any background of the locale."""
    return p.nationality if attempt == 0 else heritages(p.locale).draw(rng).nationalities.draw(rng)[0]


def ethnicity(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's ethnicity, then another of the same background."""
    return p.ethnicity if attempt == 0 else heritage_named(p.locale, p.heritage).ethnicities.draw(rng)


def language(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's languages in turn, then any."""
    if attempt < len(p.languages):
        return p.languages[attempt]
    return heritages(p.locale).draw(rng).languages.draw(rng)


def gender_identity(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's gender identity, then another of the same gender."""
    return p.gender_identity if attempt == 0 else fitting("identity", f"gender_{p.gender}", p.locale).draw(rng).text


def immigration(p: Persona, rng: random.Random, _: int) -> str:
    """A status that fits whether the persona comes from the country they live in."""
    topic = "immigration_citizen" if p.origin == p.country else "immigration_foreign"
    return fitting("identity", topic, p.locale).draw(rng).text


def debt(p: Persona, rng: random.Random, _: int) -> str:
    """A debt in proportion to the income."""
    return finance.written_amount(finance.draw_debt(p.income, rng), p.locale)


def savings(p: Persona, rng: random.Random, _: int) -> str:
    """Savings in proportion to income and age."""
    return finance.written_amount(finance.draw_savings(p.income, p.age, rng), p.locale)


_PARTS_OF_DECADE: Final = (("early", range(4)), ("mid", range(3, 8)), ("late", range(7, 10)))
_DECADES: Final = "_ teens twenties thirties forties fifties sixties seventies eighties nineties hundreds".split()


def age_group(p: Persona, rng: random.Random, _: int) -> str:
    """The part of a decade the age falls in: "early thirties", "mid-forties"; now and then the whole decade."""
    decade, year = divmod(max(10, p.age), 10)
    fits = [part for part, years in _PARTS_OF_DECADE if year in years]
    if p.age >= 30 and rng.random() < 0.15:
        return _DECADES[decade]
    part = fits[int(rng.random() * len(fits))]
    return f"mid-{_DECADES[decade]}" if part == "mid" else f"{part} {_DECADES[decade]}"


def degree(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's degree, then another of the same level."""
    return p.education.degree if attempt == 0 else schooling.draw_degree(p.education.level, p.job.field, p.locale, rng)


def student_status(p: Persona, rng: random.Random, attempt: int) -> str:
    """What the persona studies now, else what somebody of their age and level could."""
    if attempt == 0 and p.education.student_status is not None:
        return p.education.student_status
    return schooling.draw_student_status(p.age, p.education.level, p.job.field, p.locale, rng)


def school(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's school, then another one."""
    return p.education.school if attempt == 0 else organisations.draw_organisation("school", p.locale, p.place, rng)


def city(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's city, then another one of the locale."""
    return p.city if attempt == 0 else places.regions(p.locale).draw(rng).cities.draw(rng)


def organisation(kind: organisations.Kind) -> Drawer:
    """A company (first the employer), hospital, charity or club."""

    def draw(p: Persona, rng: random.Random, attempt: int) -> str:
        if kind == "company" and attempt == 0:
            return p.employer
        return organisations.draw_organisation(kind, p.locale, p.place, rng)

    return draw


def kin(p: Persona, rng: random.Random, _: int) -> str:
    """A kin word that fits age, marital status, orientation and children."""
    drawn_to = people.attraction(p.orientation)
    return people.kin_words(p.locale, p.age, p.gender, drawn_to, p.marital_kind, p.parent).draw(rng).text


def marital_status(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's status, then another word for it."""
    return p.marital_status if attempt == 0 else people.draw_marital_status(p.marital_kind, p.locale, p.age, rng)


def religion(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's religion, then another of the same background."""
    if attempt == 0:
        return p.religion
    family = heritage_named(p.locale, p.heritage).religions.draw(rng)
    return fitting("beliefs", family, p.locale).draw(rng).text


def own_or_listed(fact: Callable[[Persona], str], lexicon: str, topic: str) -> Drawer:
    """The persona's own fact, later any entry that fits."""
    other = listed(lexicon, topic)
    return lambda p, rng, attempt: fact(p) if attempt == 0 else other(p, rng, attempt)


def username(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's user name, then others made of the name."""
    if attempt == 0:
        return p.username
    if attempt < _GLUED_AFTER:
        return people.draw_handle(p.given_name, p.family_name, p.birth_date.year, rng)
    return people.draw_glued_handle(p.given_name, p.family_name, rng)


def email(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's address, then others made of the name."""
    if attempt == 0:
        return p.email
    if attempt < _GLUED_AFTER:
        return contacts.draw_email(p.given_name, p.family_name, p.birth_date.year, rng)
    return contacts.draw_glued_email(p.given_name, p.family_name, rng)


def licence(p: Persona, rng: random.Random, _: int) -> str:
    """A driving licence number of the persona."""
    return documents.draw_driving_licence(p, rng)


def date(p: Persona, rng: random.Random, _: int) -> str:
    """A day of the persona's life."""
    return dates.written_date(dates.draw_day(p.birth_date, rng), p.locale, rng)


def hair(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's hair, then other hair for the age."""
    return p.hair if attempt == 0 else looks.draw_hair(p.locale, p.age, rng, dark=heritage_named(p.locale, p.heritage).dark_features)


def eyes(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's eyes, then others."""
    return p.eyes if attempt == 0 else looks.draw_eyes(p.locale, p.age, rng, dark=heritage_named(p.locale, p.heritage).dark_features)
