"""Birth dates that the text tells: from a known birth date, a known or stated age, or an age that must fit its article."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from piiloom.foundation.seeding import below, mix, pick
from piiloom.pii_values.rewriting.calendars import date_order
from piiloom.pii_values.rewriting.date_layouts import read_date
from piiloom.pii_values.rewriting.date_shifts import shifted_day
from piiloom.surrogates.day_order import LiteralDate, shown_part
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.fitting import Place, sounds
from piiloom.surrogates.kinds.amounts import UNITS, age_in, near_age, suited_age
from piiloom.surrogates.kinds.masked import DateMask
from piiloom.surrogates.numbered_values import DATING, NOBODY
from piiloom.surrogates.persona_assignment.persona import Persona
from piiloom.surrogates.planning import Plan
from piiloom.surrogates.requirements import Asked, asked_of_age
from piiloom.surrogates.stated_ages import child_follows, stated_age

_AGAIN: Final = 0x60
_YOUNGEST, _OLDEST_CHILD = 3, 14
_DAYS: Final = 28  # every month has as many
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
        if owner != NOBODY and mention.original and mention.kind in DATING
    ]
    known.sort(key=lambda one: one[0].kind)  # a birth date tells more than a year of birth
    dated: set[int] = set()
    for mention, owner in known:
        if mention.kind != "age" and owner not in dated:
            born = _born(plan.text, mention, people[owner][0], shift, anchor, language, country)
            if born is not None:
                people[owner][0].born, people[owner][0].told_birth = born, True
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


def _born(text: str, mention: Mention, person: Persona, shift: int, anchor: date, language: str, country: str) -> date | None:
    """Return the birth date that the original at *mention* tells, moved by *shift* days; what a mask shows stays. None if it tells none."""
    shown = shown_part(text, mention, language, country)
    if shown is not None:
        return shown.day_near(person.born, anchor)
    layout = read_date(mention.original, language, date_order(language, country), anchor)
    moved = shifted_day(layout, shift) if layout is not None and layout.precision not in {"weekday", "decade"} else None
    if layout is None or moved is None or layout.precision == "day":
        return moved
    seed = mix(person.seed, _AGAIN)
    return moved.replace(month=moved.month if layout.precision != "year" else 1 + below(seed, 12), day=1 + below(mix(seed, 1), _DAYS))


def tell_stated(plan: Plan, people: People, dates: Sequence[LiteralDate], language: str, country: str) -> set[int]:
    """Set the birth dates of people whose age or birth date, or a part of it, stands in the text and was not redacted; return them.

    Where a birth date is to be put in, it must agree with the age that the text states, and an age with the birth date (of *dates*).
    """
    told: set[int] = set()
    kinds = {(owner, mention.kind) for mention, owner in zip(plan.mentions, plan.owners, strict=True) if mention[2] in DATING}
    if kinds <= {(NOBODY, kind) for kind in DATING}:
        return told
    born = [one for one in dates if one.role == "birth"]
    for number, mention in enumerate(plan.mentions):
        owner = plan.owners[number]
        if mention[2] not in DATING or mention.original or owner == NOBODY or owner in told or plan.clusters[owner].corpus:
            continue
        if mention.kind != "age" and _tell_shown(people[owner][0], shown_part(plan.text, mention, language, country)):
            told.add(owner)
        elif (owner, "age") not in kinds:
            stated = stated_age(plan.text, plan.mentions, number)
            if stated is not None:
                _tell_age(people[owner][0], stated.number, "months" if stated.months else "")
                told.add(owner)
        elif born and not kinds & {(owner, "birth_date"), (owner, "birth_year")}:
            near = min(born, key=lambda one: abs(one.start - mention.start))
            if abs(near.start - mention.start) <= _NEAR and near.day < people[owner][0].anchor:
                people[owner][0].born = near.day
                told.add(owner)
    return told


def _tell_shown(person: Persona, shown: DateMask | None) -> bool:
    """Let *person* be born on a day that has what the text shows of it; return whether there is such a day."""
    day = shown.day_near(person.born, person.anchor) if shown is not None else None
    person.born = day or person.born
    return day is not None


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
