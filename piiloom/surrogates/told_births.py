"""Birth dates that the text tells: from a known birth date, a known or stated age, or an age that must fit its article."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from piiloom.surrogates.articles import sounds
from piiloom.surrogates.fitting import Place
from piiloom.surrogates.kinds.ages import UNITS, age_in, near_age, suited_age
from piiloom.surrogates.kinds.calendars import date_order
from piiloom.surrogates.kinds.date_parsing import parse
from piiloom.surrogates.literal_dates import LiteralDate
from piiloom.surrogates.persona_assignment.persona import Persona
from piiloom.surrogates.planned_people import DATING, NOBODY
from piiloom.surrogates.planning import Plan
from piiloom.surrogates.requirements import Asked, asked_of_age
from piiloom.surrogates.seeds import below, mix, pick
from piiloom.surrogates.stated_ages import child_follows, stated_age

_AGAIN: Final = 0x60
_YOUNGEST, _OLDEST_CHILD = 3, 14
_NEAR: Final = 400  # code points between an age and the birth date in the text that is the same person's
People = Sequence[tuple[Persona, ...]]
Notable = Mapping[int, Place]


def tell_known(plan: Plan, people: People, notable: Notable, *, shift: int, anchor: date, language: str, country: str) -> set[int]:
    """Set the birth dates of people whose birth date or age is known from originals; return the owners whose birth date is known.

    Other ages of the person keep their distance from the first one.
    """
    known = [
        (mention, owner)
        for mention, owner in zip(plan.mentions, plan.owners, strict=True)
        if owner != NOBODY and mention.original and mention.kind in {"age", "birth_date"}
    ]
    dated: set[int] = set()
    for mention, owner in known:
        if mention.kind == "birth_date" and owner not in dated:
            layout = parse(mention.original, language, date_order(language, country), anchor)
            if layout is not None and layout.precision == "day":
                people[owner][0].born, people[owner][0].told_birth = layout.when + timedelta(days=shift), True
                dated.add(owner)
    for mention, owner in known:
        person = people[owner][0]
        if mention.kind != "age" or owner in dated or person.told_age is not None:
            continue
        years = age_in(mention.original, language)
        if years is not None:
            person.told_age = years
            _tell_age(person, near_age(years, mix(person.seed, _AGAIN), asked_of_age(plan, notable, owner)))
    return dated


def tell_stated(plan: Plan, people: People, dates: Sequence[LiteralDate]) -> set[int]:
    """Set the birth dates of people whose age or birth date stands in the text and was not redacted; return them.

    Where a birth date is to be put in, it must agree with the age that the text states, and an age with the birth date (of *dates*).
    """
    told: set[int] = set()
    kinds: dict[int, set[str]] = {}
    for mention, owner in zip(plan.mentions, plan.owners, strict=True):
        if mention[2] in DATING and owner != NOBODY:
            kinds.setdefault(owner, set()).add(mention.kind)
    if not kinds:
        return told
    born = [one for one in dates if one.role == "birth"]
    for number, mention in enumerate(plan.mentions):
        owner = plan.owners[number]
        if mention[2] not in DATING or mention.original or owner == NOBODY or owner in told or plan.clusters[owner].corpus:
            continue
        if "age" not in kinds[owner]:
            stated = stated_age(plan.text, plan.mentions, number)
            if stated is not None:
                _tell_age(people[owner][0], stated.number, "months" if stated.months else "")
                told.add(owner)
        elif kinds[owner] == {"age"} and born:
            near = min(born, key=lambda one: abs(one.start - mention.start))
            if abs(near.start - mention.start) <= _NEAR and near.day < people[owner][0].anchor:
                people[owner][0].born = near.day
                told.add(owner)
    return told


def tell_young(plan: Plan, people: People, notable: Notable, fixed: Collection[int]) -> set[int]:
    """Make children of people whose age the text gives in months, weeks or days, or before a word for a child; return them.

    Left alone: people whose birth date the text tells (*fixed*), and people shared across the corpus.
    """
    told: set[int] = set()
    for number, mention in enumerate(plan.mentions):
        owner = plan.owners[number]
        if mention[2] != "age" or mention.original or owner == NOBODY or owner in fixed or owner in told or plan.clusters[owner].corpus:
            continue
        person = people[owner][0]
        unit = mention.form if mention.form in UNITS else ""
        if unit or child_follows(plan.text, mention.end):
            ages = range(1, UNITS[unit][1] + 1) if unit else range(_YOUNGEST, _OLDEST_CHILD + 1)
            sound = asked_of_age(plan, notable, owner)
            _tell_age(person, pick(mix(person.seed, _AGAIN + 1), [age for age in ages if sounds(str(age), sound)]), unit)
            told.add(owner)
    return told


def suit_ages(plan: Plan, people: People, notable: Notable, asked: Asked, fixed: Collection[int]) -> None:
    """Choose ages that fit their article ("an <AGE>-year-old").

    Left alone: people whose birth date the text tells (*fixed*), and people shared across the corpus, who have one age everywhere.
    """
    for owner in {owner for _, owner in asked if owner != NOBODY}:
        sound = asked_of_age(plan, notable, owner)
        if not sound or owner in fixed or plan.clusters[owner].corpus:
            continue
        person = people[owner][0]
        age = suited_age(person.age, mix(person.seed, _AGAIN), sound)
        if age != person.age:
            _tell_age(person, age)


def _tell_age(person: Persona, age: int, unit: str = "") -> None:
    """Let *person* be *age* years old, or as many of a *unit* of ``UNITS``."""
    days = int(age * 365.2425) + 1 + below(mix(person.seed, _AGAIN), 363) if not unit else round(age * UNITS[unit][0])
    person.born = person.anchor - timedelta(days=days)
