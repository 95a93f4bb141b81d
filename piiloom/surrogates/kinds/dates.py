"""Dates: drawing a date in the layout of a placeholder, and shifting a date of the text.

Usual formats are in ``data/words/calendars.yaml``. Their fields: {d} {dd} day, {nth} ordinal, {m} {mm} month, {mon} {month} its name,
{yy} {yyyy} year, {wd} {weekday} day of the week.

All dates of a person or document move by one shift in days, so that the intervals between them are kept. A date with a day moves by
exactly the shift. A vaguer one moves by the nearest whole number of its own unit (months, seasons, quarters, years, decades). The name of
a weekday moves by the shift modulo 7. Birth dates agree with their owner.

An original moves by ``draw.shift``, or keeps its form if it cannot be read. Without an original, the date is drawn from the 900 days
before ``draw.anchor``. ``draw.form`` may request a format or precision: day_month, day_and_month, day_slash_month, month_year, numeric,
iso, year, month, weekday, datetime or expiry (of a card). It may also request the part of a date whose rest is in further placeholders
(``PART``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache
from typing import Final

from piiloom.pii_values.country_facts import Order
from piiloom.surrogates.documents import below, mix
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.calendars import (
    calendar_of,
    date_order,
    languages_for,
    meanings,
    of_month,
    ordinal_suffix,
    range_words,
    told_by_text,
)
from piiloom.surrogates.kinds.clock import clock_time, clock_words, time_value, with_time
from piiloom.surrogates.kinds.date_parsing import Layout, Precision, parse, write
from piiloom.surrogates.kinds.files import CalendarEntry
from piiloom.surrogates.kinds.kind import cased_like, salt_of, style_seed
from piiloom.surrogates.persona_assignment.persona import adult_birth_date

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


_SALT: Final = salt_of("shift")
_LONGEST: Final = 364  # days, either way
_WEEKS: Final = 52
_UNITS: Final[dict[Precision, float]] = {
    "month": 30.436875,
    "season": 91.310625,
    "quarter": 91.310625,
    "year": 365.2425,
    "decade": 3652.425,
}
_MONTHS: Final[dict[Precision, int]] = {"month": 1, "season": 3, "quarter": 3, "year": 12, "decade": 120}
_LONGEST_RANGE: Final = 80
_FIRST_YEAR: Final = 1000
_YEAR_BEFORE: Final = re.compile("[0-9]{4}[-/–]")
_YEAR_DIGITS: Final = 4
_LONGEST_MONTH: Final = 31
_DIGITS: Final = re.compile("[0-9]+")


def draw_shift(seed: int) -> int:
    """Draw a shift in days: 1 to 364, forward or backward, never 0."""
    number = below(mix(seed, _SALT), 2 * _LONGEST)
    return number - _LONGEST if number < _LONGEST else number - _LONGEST + 1


def weekly_shift(seed: int) -> int:
    """Draw a shift in days that is a multiple of 7, so that weekdays are kept: 1 to 52 weeks, forward or backward."""
    number = below(mix(seed, _SALT), 2 * _WEEKS)
    return 7 * (number - _WEEKS if number < _WEEKS else number - _WEEKS + 1)


def shifted_day(layout: Layout, shift: int) -> date | None:
    """Return the layout's day (or the first of its month, year …) moved by *shift* days; None outside the years 1 to 9999."""
    try:
        if layout.precision == "day":
            return layout.when + timedelta(days=shift)
        if layout.precision == "weekday":
            return layout.when + timedelta(days=shift % 7)
        count = round(shift / _UNITS[layout.precision]) * _MONTHS[layout.precision]
        months = layout.when.year * 12 + layout.when.month - 1 + count
        return date(months // 12, months % 12 + 1, 1)
    except (ValueError, OverflowError):
        return None


@cache
def _span() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in sorted(range_words(), key=lambda word: (-len(word), word)))
    return re.compile(
        rf"\s*[–—]\s*|\s+-\s+|\s+(?:{words})\s+|(?<=[0-9])-(?=[0-9])|(?<=[^\W\d_])[-/](?=[^\W\d_])|(?<=[0-9]{{4}})/(?=[0-9]{{2,4}})",
        re.IGNORECASE,
    )


def moved(text: str, shift: int, language: str, order: Order, anchor: date) -> str | None:
    """Return the date or date range *text* moved by *shift* days, in the same format.

    Return None if it cannot be read, if languages differ on its words, or if it would come before the year 1000. Never raises.
    """
    layout = parse(text, language, order, anchor)
    if layout is not None:
        when = shifted_day(layout, shift)
        if when is None or when.year < _FIRST_YEAR:
            return None
        new = write(layout, when)
        ambiguous = layout.language not in {language, "en"} and any(other != new for other in _in_other_languages(layout, when))
        return new if not ambiguous else None
    return _moved_span(text, shift, language, order, anchor) if len(text) <= _LONGEST_RANGE else None


def _in_other_languages(layout: Layout, when: date) -> Iterator[str]:
    """Yield the day *when* as each further language writes it that has all date words of *layout*."""
    words = [part.text.casefold() for part in layout.parts if ":" in part.style]
    for language in languages_for(words[0], "") if words else ():
        if language != layout.language and all(word in meanings(language) for word in words):
            number = {part.style.rpartition(":")[2] for part in layout.parts if part.field == "month"}
            own = {str(meanings(language)[word].number) for word in words if meanings(language)[word].field == "month"}
            yield write(layout._replace(language=language), when) if number == own else ""


def kept_form(text: str, shift: int) -> str:
    """Return *text*, which is no date that can be read, with its numbers moved by about *shift* days; its words stay.

    A year moves by whole years, a number of a day, a week or a month among the 28 days that every month has. A decade ("80er Jahre"), a
    digit behind a letter ("H1") and a number of equal digits ("99"), which stands for nothing, stay.
    """
    years = round(shift / _UNITS["year"])

    def number(found: re.Match[str]) -> str:
        digits = found.group()
        repeated, behind = len(set(digits)) == 1 < len(digits), text[found.start() - 1 : found.start()].isalpha()
        decade = len(digits) == 2 and digits[1] == "0" and int(digits) > _LONGEST_MONTH
        if repeated or decade or (behind and len(digits) == 1):
            return digits
        before = text[max(0, found.start() - _YEAR_DIGITS - 1) : found.start()]
        if _YEAR_BEFORE.fullmatch(before) and (int(before[:-1]) + 1) % 100 == int(digits):  # "winter 2018-19"
            return f"{(int(digits) + years) % 100:02d}"
        if len(digits) == _YEAR_DIGITS:
            return f"{int(digits) + years:04d}"
        if len(digits) > 2 or int(digits) > _LONGEST_MONTH:
            return f"{(int(digits) + years) % 10 ** len(digits):0{len(digits)}d}"
        return f"{other_day(int(digits), shift):0{len(digits) if digits[0] == '0' else 1}d}"

    return _DIGITS.sub(number, text)


def other_day(day: int, shift: int) -> int:
    """Return the day of the month *day*, moved by *shift* days among the 28 that every month has; another day in any case."""
    return (day - 1 + (shift % 28 or 1)) % 28 + 1


def _moved_span(text: str, shift: int, language: str, order: Order, anchor: date) -> str | None:
    """Move a range: two dates joined by a sign or word, one of which may be incomplete ("12-14 March 2011", "2010/11")."""
    for cut in _span().finditer(text):
        first, second = text[: cut.start()], text[cut.end() :]
        one, two = parse(first, language, order, anchor), parse(second, language, order, anchor)
        if one is not None and two is None and one.precision == "year" and re.fullmatch("[0-9]{2}", second):
            two = parse(f"'{second}", language, order, date(min(9999, one.when.year + 40), 1, 1))
            ends = _ends(one, two, shift) if two else None
            return None if ends is None else ends[0] + cut.group() + ends[1][1:]
        if one is None and two is not None and two.precision == "day" and re.fullmatch("[0-9]{1,2}", first.strip()):
            return _days(first, cut.group(), two, shift)
        if one is not None and two is not None:
            ends = _ends(_with_year(one, two), two, shift)
            return None if ends is None else ends[0] + cut.group() + ends[1]
    return None


def _with_year(one: Layout, two: Layout) -> Layout:
    """Return *one*, in the year of *two* if it has no year of its own."""
    if any(part.field in {"year", "compact"} for part in one.parts) or one.precision not in {"day", "month"}:
        return one
    try:
        return one._replace(when=one.when.replace(year=two.when.year))
    except ValueError:  # 29 February
        return one


def _ends(one: Layout, two: Layout, shift: int) -> tuple[str, str] | None:
    first, second = shifted_day(one, shift), shifted_day(two, shift)
    if first is None or second is None:
        return None
    return write(one, first), write(two, second)


def _days(first: str, sign: str, two: Layout, shift: int) -> str | None:
    """Move a range of days with the month only at the end ("12-14 March"); if it then spans two months, write both dates in full."""
    try:
        start = two.when.replace(day=int(first)) + timedelta(days=shift)
        end = two.when + timedelta(days=shift)
    except (ValueError, OverflowError):
        return None
    if (start.year, start.month) == (end.year, end.month):
        return f"{start.day}{sign}{write(two, end)}"
    return write(two, start) + (sign if sign.strip() != sign or sign not in "-/" else f" {sign} ") + write(two, end)


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
