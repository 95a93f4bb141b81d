"""Days of a document: dates left in the text, drawn days in the order that the text states, and birth dates that it tells.

Discharge comes after admission, and nobody is seen after their death. Drawn dates are of the time of the dates left in the text. Ages hold
as of the day of the admission or visit, else as of the last day; without any date, as of the anchor. A birth date follows from a known
birth date, a known or stated age, or an age that must fit its article.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from typing import Final, NamedTuple

from piiloom.foundation.seeding import below, mix, pick
from piiloom.foundation.words import any_of
from piiloom.pii_values.rewriting.calendars import calendar_of, date_order, year_follows
from piiloom.pii_values.rewriting.date_layouts import read_date
from piiloom.pii_values.rewriting.date_shifts import shifted_day
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.fitting import Requirement, sounds
from piiloom.surrogates.kinds.amounts import UNITS, age_in, near_age, suited_age
from piiloom.surrogates.kinds.dates import DateMask, mask_of, near_days, read_mask
from piiloom.surrogates.kinds.kind import FictitiousPerson
from piiloom.surrogates.planned_people import DATING, NOBODY
from piiloom.surrogates.planning import DocumentPlan, Requirements, asked_of_age
from piiloom.surrogates.time_cues import DayRole, child_follows, nearest_age, role_before, role_of, until

_MOST: Final = 40  # dates read in one document
_SEARCHED: Final = 60_000  # code points at the beginning of a document in which they are looked for
_YEAR: Final = re.compile(r"(?:19|20)\d\d(?!\d)")
_SHOWN_YEAR: Final = re.compile(r"\d{4}|\d\d")
_SOONEST: Final = date(1900, 1, 1)


class LiteralDate(NamedTuple):
    """A date at ``[start, end)`` and what it is the date of."""

    start: int
    end: int
    day: date
    role: DayRole


@cache
def _pattern(language: str) -> re.Pattern[str]:
    words = calendar_of(language)
    months = sorted({*words.months, *(short for forms in words.short_months for short in forms)}, key=lambda word: (-len(word), word))
    month = any_of(months)
    year = r"(?:19|20)\d\d(?!\d)"
    return re.compile(
        rf"(?<![\d./-])(?:\d{{1,2}}[-/.]\d{{1,2}}[-/.]{year}|{year}-\d\d-\d\d(?!\d)"
        rf"|\d{{1,2}}(?:er|\.|º)? (?:de )?(?:{month})\.? (?:de )?{year}|(?:{month})\.? \d{{1,2}}(?:st|nd|rd|th)?,? {year})",
        re.IGNORECASE,
    )


def shown_part(text: str, mention: Mention, language: str, country: str) -> DateMask | None:
    """Return what of the date at *mention* the text shows: "XX/XX/1984", or the year behind "[DATE], 1984"; None if it shows nothing."""
    mask = mask_of(mention.form, mention.original)
    follows = year_follows().match(text, mention.end) if not mention.original else None
    year = _SHOWN_YEAR.search(follows.group()) if follows else None
    told = f"XX/XX/{year.group()}" if year else mask
    return read_mask(told, language, country) if told else None


def literal_dates(text: str, language: str, country: str, anchor: date) -> list[LiteralDate]:
    """Return the days (with their year) that *text* tells outside placeholders, in text order; none after *anchor*."""
    found: list[LiteralDate] = []
    # A single digit is looked for in a twentieth of the time that two take, and many texts have none.
    century = ("0" in text and "20" in text) or ("9" in text and "19" in text)
    if not century or _YEAR.search(text, 0, _SEARCHED) is None:
        return found
    for match in _pattern(language).finditer(text, 0, _SEARCHED):
        layout = read_date(match.group(), language, date_order(language, country), anchor)
        if layout is not None and layout.precision == "day" and _SOONEST <= layout.when <= anchor:
            found.append(LiteralDate(match.start(), match.end(), layout.when, role_before(text, match.start(), 0)))
            if len(found) == _MOST:
                break
    return found


def time_of(dates: list[LiteralDate], anchor: date) -> date:
    """Return the day as of which a text with these *dates* was written: its admission or visit, else the last one but births."""
    for role in ("start", "visit"):
        told = [one.day for one in dates if one.role == role]
        if told:
            return told[0]
    return max((one.day for one in dates if one.role != "birth"), default=anchor)


DAYS: Final = frozenset({"date", "datetime"})
_OF_TIME: Final = DAYS | DATING
_STAY: Final = 21  # most days from a start to its end that are drawn
_AFTERWARDS: Final = 9  # most days from a death to what follows it
_AFTER_ALL: Final[Mapping[DayRole, int]] = {"end": 1, "death": 2, "later": 3}  # roles of days that follow others, in their order
_SALT: Final = 0xDA7E
_NO_DAYS: Final[Mapping[int, date]] = {}


class Days(NamedTuple):
    """The days of one document.

    ``by_value``: the day of each drawn date, by value number. ``present``: the day as of which ages hold. ``told``: dates that stand in
    the text. ``dating``: there are ages or birth dates without an original.
    """

    by_value: Mapping[int, date]
    present: date
    told: Sequence[LiteralDate]
    dating: bool = False


def planned_days(plan: DocumentPlan, value_seed: int, anchor: date, language: str, country: str) -> Days:
    """Return the days of all dates without an original in *plan*, near *anchor* or near the dates that the text tells."""
    firsts: dict[int, int] = {}
    dating = False
    for number, mention in enumerate(plan.mentions):
        if mention[2] in _OF_TIME and not mention[8]:
            if mention[2] in DATING:
                dating = True
            else:
                firsts.setdefault(plan.values[number], number)
    if not firsts and not dating:
        return Days(_NO_DAYS, anchor, ())
    told = literal_dates(plan.text, language, country, anchor)
    present = time_of(told, anchor) if told else anchor
    if len(firsts) + dating < 2 and present == anchor:
        return Days(_NO_DAYS, anchor, told, dating)
    text, mentions = plan.text, plan.mentions
    roles = {value: role_of(text, mentions[number], mentions[number - 1][1] if number else 0) for value, number in firsts.items()}
    _tell_ranges(plan, roles, firsts)
    ordered = any(roles.values())
    if not ordered and not dating and present == anchor:
        return Days(_NO_DAYS, anchor, told)  # each is drawn by itself, near the anchor
    days = {value: near_days(mix(value_seed, value), present) for value in firsts}
    shown = {value: part for value, number in firsts.items() if (part := shown_part(text, mentions[number], language, country)) is not None}
    _show(days, shown, anchor)
    _order_stays(days, roles, value_seed)
    _order_deaths(days, roles, value_seed)
    for after in _AFTER_ALL:
        _show_after(days, {value: part for value, part in shown.items() if roles[value] == after}, roles, anchor)
    return Days(days, _present(days, roles) if days and present == anchor else present, told, dating)


def _show(days: dict[int, date], shown: Mapping[int, DateMask], anchor: date) -> None:
    """Move the *days* of dates of which the text shows a part to days that have it."""
    for value, part in shown.items():
        days[value] = part.day_near(days[value], anchor) or days[value]


def _show_after(days: dict[int, date], shown: Mapping[int, DateMask], roles: Mapping[int, DayRole], anchor: date) -> None:
    """As ``_show``, for days of one role that follow others: not before these, where what the text shows allows it."""
    for value, part in shown.items():
        near, role = days[value], roles[value]
        others = [day for other, day in days.items() if other not in shown and _AFTER_ALL.get(roles[other], 0) < _AFTER_ALL[role]]
        before = max((day for day in others if role != "end" or day <= near), default=near)
        days[value] = (
            part.day_near(near, anchor, max(near, before)) or part.day_near(near, anchor, before) or part.day_near(near, anchor) or near
        )


def _tell_ranges(plan: DocumentPlan, roles: dict[int, DayRole], firsts: Mapping[int, int]) -> None:
    """Make start and end of two dates that a word or a dash joins ("[DATE] to [DATE]")."""
    for value, number in firsts.items():
        if roles[value] or not number:
            continue
        before = plan.values[number - 1]
        if (
            before not in firsts
            or any(plan.values[at] != before for at in range(firsts[before], number))
            or roles[before] not in {"", "start"}
        ):
            continue
        gap = plan.text[plan.mentions[number - 1].end : plan.mentions[number].start].strip().casefold()
        if gap in until():
            roles[before], roles[value] = "start", "end"


def _order_stays(days: dict[int, date], roles: Mapping[int, DayRole], seed: int) -> None:
    """Put each end some days after the start that belongs to it: the last one before it in the text that has no end yet."""
    waiting: list[int] = []
    ends: list[int] = []
    for value, role in roles.items():
        if role == "start":
            if ends:
                _stay(days, value, ends.pop(0), seed)
            else:
                waiting.append(value)
        elif role == "end":
            if waiting:
                _stay(days, waiting.pop(), value, seed)
            else:
                ends.append(value)


def _stay(days: dict[int, date], start: int, end: int, seed: int) -> None:
    days[end] = days[start] + timedelta(days=1 + below(mix(seed, _SALT + end), _STAY))


def _order_deaths(days: dict[int, date], roles: Mapping[int, DayRole], seed: int) -> None:
    """Put the first death after all that does not follow it, and the rest after the death."""
    deaths = [value for value, role in roles.items() if role == "death"]
    if not deaths:
        return
    before = [days[value] for value, role in roles.items() if role not in {"death", "later", "birth"}]
    died = max([*before, days[deaths[0]]])
    if died in before:
        died += timedelta(days=below(mix(seed, _SALT), _AFTERWARDS))
    days[deaths[0]] = died
    for value, role in roles.items():
        if role == "later" and days[value] < died:
            days[value] = died + timedelta(days=1 + below(mix(seed, _SALT + value), _AFTERWARDS))


def _present(days: Mapping[int, date], roles: Mapping[int, DayRole]) -> date:
    for wanted in ("start", "visit"):
        found: Sequence[date] = [day for value, day in days.items() if roles[value] == wanted]
        if found:
            return found[0]
    alive = [day for value, day in days.items() if roles[value] not in {"birth", "later"}]
    return max(alive or days.values())


_AGAIN: Final = 0x60
_YOUNGEST, _OLDEST_CHILD = 3, 14
_DAYS_OF_MONTH: Final = 28  # every month has as many
_NEAR: Final = 400  # code points between an age and the birth date in the text that is the same person's
Notable = Mapping[int, Requirement]


People = tuple[FictitiousPerson, ...]


def tell_known(
    plan: DocumentPlan, people: Sequence[People], notable: Notable, *, shift: int, anchor: date, language: str, country: str
) -> set[int]:
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


def _born(text: str, mention: Mention, person: FictitiousPerson, shift: int, anchor: date, language: str, country: str) -> date | None:
    """Return the birth date that the original at *mention* tells, moved by *shift* days; what a mask shows stays. None if it tells none."""
    shown = shown_part(text, mention, language, country)
    if shown is not None:
        return shown.day_near(person.born, anchor)
    layout = read_date(mention.original, language, date_order(language, country), anchor)
    moved = shifted_day(layout, shift) if layout is not None and layout.precision not in {"weekday", "decade"} else None
    if layout is None or moved is None or layout.precision == "day":
        return moved
    seed = mix(person.seed, _AGAIN)
    return moved.replace(
        month=moved.month if layout.precision != "year" else 1 + below(seed, 12), day=1 + below(mix(seed, 1), _DAYS_OF_MONTH)
    )


def tell_stated(plan: DocumentPlan, people: Sequence[People], dates: Sequence[LiteralDate], language: str, country: str) -> set[int]:
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
            stated = nearest_age(plan.text, plan.mentions, number)
            if stated is not None:
                _tell_age(people[owner][0], stated.number, "months" if stated.months else "")
                told.add(owner)
        elif born and not kinds & {(owner, "birth_date"), (owner, "birth_year")}:
            near = min(born, key=lambda one: abs(one.start - mention.start))
            if abs(near.start - mention.start) <= _NEAR and near.day < people[owner][0].anchor:
                people[owner][0].born = near.day
                told.add(owner)
    return told


def _tell_shown(person: FictitiousPerson, shown: DateMask | None) -> bool:
    """Let *person* be born on a day that has what the text shows of it; return whether there is such a day."""
    day = shown.day_near(person.born, person.anchor) if shown is not None else None
    person.born = day or person.born
    return day is not None


def tell_young(plan: DocumentPlan, people: Sequence[People], notable: Notable, fixed: Collection[int]) -> set[int]:
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


def suit_ages(plan: DocumentPlan, people: Sequence[People], notable: Notable, asked: Requirements, fixed: Collection[int]) -> None:
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


def _tell_age(person: FictitiousPerson, age: int, unit: str = "") -> None:
    """Let *person* be *age* years old, or as many of a *unit* of ``UNITS``."""
    days = int(age * 365.2425) + 1 + below(mix(person.seed, _AGAIN), 363) if not unit else round(age * UNITS[unit][0])
    person.born = person.anchor - timedelta(days=days)
