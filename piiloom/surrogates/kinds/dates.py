"""Dates, years, months, weekdays and holidays; birth dates agree with their owner.

If there is an original, it moves by ``draw.shift`` (see ``date_shifts``), or keeps its form if it cannot be read. If there is none, the
date is drawn from the 900 days before ``draw.anchor``. ``draw.form`` may request a format or precision: day_month, day_and_month,
day_slash_month, month_year, numeric, iso, year, month, weekday, datetime or expiry (of a card), or a part of a date that further
placeholders have the rest of (``PART``).
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.around_dates import of_month, told_by_text
from piiloom.surrogates.kinds.calendars import calendar_of, date_order
from piiloom.surrogates.kinds.clock import clock_time, clock_words, time_value, with_time
from piiloom.surrogates.kinds.date_layouts import write
from piiloom.surrogates.kinds.date_parsing import parse
from piiloom.surrogates.kinds.date_patterns import usual
from piiloom.surrogates.kinds.date_shifts import kept_form, moved, other_day
from piiloom.surrogates.kinds.kind import cased_like, salt_of, style_seed
from piiloom.surrogates.persona_assignment.persona import adult_birth_date
from piiloom.surrogates.seeds import below, mix

_NEAR: Final = 900  # days before the anchor
_DAYS: Final = tuple(timedelta(days=days) for days in range(_NEAR))
_DAY: Final = salt_of("day")
_BORN: Final = salt_of("born")
_DAY_OF_MONTH: Final = re.compile(r"\b(?:[12]?[0-9]|3[01])\b")
_CLOCK: Final = re.compile(r"\D*?(?<![\d.:/-])[0-2]?[0-9][:.hH][0-5][0-9](?![\d./-])\D*")  # no number but an hour and a minute
_WORD: Final = re.compile(r"[^\W\d_]+")
PART: Final = "part:"  # begins the form of one part of a date: part:day, part:month, part:year, part:weekday; "part:0month" is in digits
_VALID: Final = 4  # years from the anchor to the last expiry of a card
_WRITTEN: Final = re.compile(r"(?=.*(?:[0-9]|[^\W\d_A-Z]))[^][<>{}]*", re.DOTALL)  # with a digit or a small letter, and no brackets
_PATTERNS: Final = frozenset({"day_month", "day_and_month", "day_slash_month", "month_year", "numeric", "iso"})


def near_day(draw: Draw) -> date:
    """Return the day that the order of the text's dates requires, else draw one from the anchor to 899 days before it."""
    return near_days(draw.seed, draw.anchor) if draw.day is None else draw.day


def near_days(seed: int, anchor: date) -> date:
    """Draw a day from *anchor* to 899 days before it."""
    return anchor - _DAYS[mix(seed, _DAY) % _NEAR]


def born_on(draw: Draw) -> date:
    """Return the owner's birth date; without an owner, draw that of an adult."""
    if draw.owner is not None:
        return draw.owner.born
    return adult_birth_date(draw.anchor, mix(draw.seed, _BORN))


def _moved(draw: Draw) -> str | None:
    """Return the original date moved by the shift, or in its form if it cannot be read; None if there is none, or a placeholder is it."""
    if not draw.original:
        return None
    clock = _CLOCK.fullmatch(draw.original)
    told = clock is not None and not clock_words().isdisjoint(_WORD.findall(draw.original.casefold()))
    found = None if told else _read_and_moved(draw)
    if found is None and clock is not None:
        return time_value(draw)
    return kept_form(draw.original, draw.shift) if found is None and _WRITTEN.fullmatch(draw.original) else found


def _read_and_moved(draw: Draw) -> str | None:
    if told_by_text(draw.original):  # it tells no date, and any other would break the order
        return draw.original
    month_told = of_month(draw.original)
    if month_told is not None:  # "the 5th of this month": the day moves, and the month stays "this"
        head = draw.original[: month_told.start()]
        day = _read_and_moved(draw._replace(original=head)) or _DAY_OF_MONTH.sub(
            lambda found: str(other_day(int(found[0]), draw.shift)), head, count=1
        )
        return day + month_told.group() if day != head else None
    return moved(draw.original, draw.shift, draw.language, date_order(draw.language, draw.country), draw.anchor)


def date_value(draw: Draw) -> str:
    """Return the original date moved by the shift, else a day near the anchor in the format that ``draw.form`` requests.

    What tells no date stays as it is, as any other would break the order: a day told by that of the text ("tomorrow", "two days ago").
    """
    if draw.original:
        found = _moved(draw)
        if found is not None:
            return found
    if draw.form.startswith(PART):
        return _part(near_day(draw), draw)
    if draw.form in _OTHERS:
        return _OTHERS[draw.form](draw._replace(original="", form=""))
    return usual(near_day(draw), draw.form if draw.form in _PATTERNS else "date", draw)


def _part(day: date, draw: Draw) -> str:
    """Return the part of *day* that the form of *draw* requests; "start" is a day before that of the date: "12-14 March"."""
    words = calendar_of(draw.language)
    known = {
        "day": "1er" if day.day == 1 and words.ordinals == "first" else str(day.day),
        "start": str(max(1, day.day - 1 - below(mix(draw.seed, _DAY + 3), 6))),
        "0day": f"{day.day:02d}",
        "month": words.months[day.month - 1],
        "0month": f"{day.month:02d}",
        "weekday": words.weekdays[day.weekday()],
        "year": str(day.year),
    }
    return known[draw.form.removeprefix(PART)]


def _expiry(draw: Draw) -> str:
    """Return the month and year in which a card expires, after the anchor."""
    months = 1 + below(mix(draw.seed, _DAY), 12 * _VALID)
    years, month = divmod(draw.anchor.month - 1 + months, 12)
    return f"{month + 1:02d}/{(draw.anchor.year + years) % 100:02d}"


def birth_date(draw: Draw) -> str:
    """Return the owner's birth date, in the format of the original or in a usual one.

    Where the text told the owner's birth date, it moves as all dates do, so that two birth dates in it stay two.
    """
    born = born_on(draw)
    if draw.original and draw.owner is not None and not draw.owner.told_birth:
        layout = parse(draw.original, draw.language, date_order(draw.language, draw.country), draw.anchor)
        if layout is not None and layout.precision != "weekday":
            return write(layout, born)
    if (found := _moved(draw)) is not None:
        return found
    if draw.form.startswith(PART):
        return _part(born, draw)
    if draw.form == "year":
        return str(born.year)
    return usual(born, draw.form if draw.form in _PATTERNS else "birth", draw)


def year(draw: Draw) -> str:
    """Return the original year moved by the shift (two digits stay two), else a recent year."""
    return _moved(draw) or str(near_day(draw).year - below(mix(draw.seed, _DAY + 1), 9))


def birth_year(draw: Draw) -> str:
    """Return the owner's year of birth, with two digits if the original has two; one that the text told agrees with the birth date."""
    if draw.original and draw.owner is None:
        return _moved(draw) or str(born_on(draw).year)
    born = born_on(draw)
    return f"{born.year % 100:02d}" if len(draw.original.strip()) == 2 else str(born.year)


def month(draw: Draw) -> str:
    """Return the name of a month, with a year if the form or the original has one."""
    found = _moved(draw)
    if found is not None:
        return found
    if draw.form == "month_year":
        return usual(near_day(draw), "month_year", draw)
    return cased_like(draw.original, calendar_of(draw.language).months[near_day(draw).month - 1])


def weekday(draw: Draw) -> str:
    """Return the name of a weekday."""
    return _moved(draw) or cased_like(draw.original, calendar_of(draw.language).weekdays[near_day(draw).weekday()])


def holiday(draw: Draw) -> str:
    """Draw the name of a holiday other than the original."""
    known = calendar_of(draw.language).holidays
    chosen = below(mix(draw.seed, _DAY), len(known))
    same = known[chosen].casefold() == draw.original.strip().casefold()
    return cased_like(draw.original, known[(chosen + same) % len(known)])


def datetime_value(draw: Draw) -> str:
    """Return a date with a time; of an original one, the date moves by the shift and the time is kept."""
    found = _moved(draw)
    if found is not None:
        return found
    day = near_day(draw)
    if style_seed(draw, _DAY) & 3 == 0:
        return f"{day.isoformat()}T{clock_time(mix(draw.seed, _DAY + 2))}:00Z"
    return with_time(usual(day, "numeric", draw), draw)


_OTHERS: Final = {"year": year, "month": month, "weekday": weekday, "datetime": datetime_value, "expiry": _expiry}
