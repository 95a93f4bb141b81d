"""Write dates in the usual formats: the compiled patterns of ``data/words/calendars.yaml``.

Fields: {d} {dd} day, {nth} ordinal, {m} {mm} month, {mon} {month} its name, {yy} {yyyy} year, {wd} {weekday} day of the week.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import Final

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.calendars import calendar_of, date_order
from piiloom.surrogates.kinds.date_words import ordinal_suffix
from piiloom.surrogates.kinds.files import CalendarEntry
from piiloom.surrogates.kinds.kind import salt_of, style_seed

_FIELD: Final = re.compile(r"\{(\w+)\}")
_STYLE: Final = salt_of("date_style")
Getter = Callable[[date], str]


def _getter(field: str, words: CalendarEntry) -> Getter:
    """Return the function that formats *field* of a day."""
    short = [forms[0] for forms in words.short_months]
    weekdays = [forms[0] for forms in words.short_weekdays] or words.weekdays
    first = "1er" if words.ordinals == "first" else "1"
    known: dict[str, Getter] = {
        "d": lambda day: first if day.day == 1 else str(day.day),
        "dd": lambda day: f"{day.day:02d}",
        "nth": lambda day: f"{day.day}{ordinal_suffix('th', day.day, 'th')}",
        "m": lambda day: str(day.month),
        "mm": lambda day: f"{day.month:02d}",
        "mon": lambda day: short[day.month - 1],
        "month": lambda day: words.months[day.month - 1],
        "yy": lambda day: f"{day.year % 100:02d}",
        "yyyy": lambda day: str(day.year),
        "wd": lambda day: weekdays[day.weekday()],
        "weekday": lambda day: words.weekdays[day.weekday()],
    }
    return known[field]


@cache
def _compiled(precision: str, language: str, country: str) -> tuple[Getter, ...]:
    words = calendar_of(language)
    order = date_order(language, country)
    named, slashed = precision == "day_and_month", precision == "day_slash_month"
    precision = "day_month" if named or slashed else precision
    listed = words.patterns.get(f"{precision}_{order}") or words.patterns.get(precision) or words.patterns[f"{precision}_dmy"]
    if slashed:
        listed = ["{mm}/{dd}" if order == "mdy" else "{dd}/{mm}"]
    elif named:
        listed = [pattern for pattern in listed if "{month}" in pattern] or listed
    return tuple(_writer(_FIELD.sub("%s", text), [_getter(field, words) for field in _FIELD.findall(text)]) for text in listed)


def _writer(template: str, getters: list[Getter]) -> Getter:
    """Return the function that writes a day. The usual case, three fields, is done without a loop for speed."""
    if len(getters) == 3:
        one, two, three = getters
        return lambda day: template % (one(day), two(day), three(day))
    return lambda day: template % tuple([getter(day) for getter in getters])


def usual(day: date, precision: str, draw: Draw) -> str:
    """Write *day* in one of the usual formats, the same one throughout a document.

    *precision*: date, birth, day_month, month_year, numeric, iso, day_and_month (the month by its name) or
    day_slash_month (what stands before "/1979").
    """
    known = _compiled(precision, draw.language, draw.country)
    return known[style_seed(draw, _STYLE) % len(known)](day)
