"""Another day in the layout of a date, and another hour in that of a time: all dates of a text move by one number of days.

A date with a day moves by exactly the shift. A vaguer one moves by the nearest whole number of its own unit (months, seasons, quarters,
years, decades). The name of a weekday moves by the shift modulo 7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import Final

from piiloom.foundation.seeding import below, mix, salt_of
from piiloom.pii_values.country_facts import Order
from piiloom.pii_values.rewriting.calendars import (
    languages_for,
    meanings,
    range_words,
)
from piiloom.pii_values.rewriting.date_layouts import Layout, Precision, read_date, write_date

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


def shifted_text(text: str, shift: int, language: str, order: Order, anchor: date) -> str | None:
    """Return the date or date range *text* moved by *shift* days, in the same format.

    Return None if it cannot be read, if languages differ on its words, or if it would come before the year 1000. Never raises.
    """
    layout = read_date(text, language, order, anchor)
    if layout is not None:
        when = shifted_day(layout, shift)
        if when is None or when.year < _FIRST_YEAR:
            return None
        new = write_date(layout, when)
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
            yield write_date(layout._replace(language=language), when) if number == own else ""


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
        one, two = read_date(first, language, order, anchor), read_date(second, language, order, anchor)
        if one is not None and two is None and one.precision == "year" and re.fullmatch("[0-9]{2}", second):
            two = read_date(f"'{second}", language, order, date(min(9999, one.when.year + 40), 1, 1))
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
    return write_date(one, first), write_date(two, second)


def _days(first: str, sign: str, two: Layout, shift: int) -> str | None:
    """Move a range of days with the month only at the end ("12-14 March"); if it then spans two months, write both dates in full."""
    try:
        start = two.when.replace(day=int(first)) + timedelta(days=shift)
        end = two.when + timedelta(days=shift)
    except (ValueError, OverflowError):
        return None
    if (start.year, start.month) == (end.year, end.month):
        return f"{start.day}{sign}{write_date(two, end)}"
    return write_date(two, start) + (sign if sign.strip() != sign or sign not in "-/" else f" {sign} ") + write_date(two, end)
