"""Another day in the layout of a date, and another hour in that of a time: all dates of a text move by one number of days.

A date with a day moves by exactly the shift. A vaguer one moves by the nearest whole number of its own unit (months, seasons, quarters,
years, decades). The name of a weekday moves by the shift modulo 7.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import Final

from piiloom.foundation.seeding import below, mix, salt_of
from piiloom.pii_values.country_facts import Order
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.rewriting.amounts import THIRD, near_number, resized
from piiloom.pii_values.rewriting.calendars import (
    date_order,
    languages_for,
    meanings,
    names_unit,
    other_word,
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


def time_like(first: str, sign: str, second: str | None, rest: str, hour: int, minute: int) -> str:
    """Write a time as the hour *first*, *sign*, the minute *second* and *rest* are: 12 hours if am or pm follows, a leading zero for one.

    The hour is changed if it equals the original one.
    """
    twelve = re.match(r"(?::[0-9]{2})?\s*[ap]\.?\s?m", rest, re.IGNORECASE) is not None
    hours = (hour % 12 or 12) if twelve else hour
    if f"{hours:02d}" == first.zfill(2):
        hours = hours % 12 + 1 if twelve else (hours + 1) % 24
    exact = len(first) == 2 and not twelve and rest.startswith(":")  # with seconds, as machines write it
    width = 2 if first.startswith("0") or (not sign and second) or exact else 1
    tail = f"{sign}{minute:02d}" if second is not None else sign
    seconds = re.sub(r"^:[0-9]{2}", lambda m: f":{(int(m.group()[1:]) + minute) % 60:02d}", rest)
    return f"{hours:0{width}d}{tail}{seconds}"


_CLOCK: Final = re.compile(
    r"(?<!\d)(?P<hour>\d{1,2})(?:(?P<sign>[:.h])(?P<minute>\d\d)(?!\d)|(?=\s?[ap]\.?m\b))(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_MILITARY: Final = re.compile(r"(?<!\d)(?P<hour>\d\d)(?P<sign>)(?P<minute>\d\d)(?P<rest>\s?h(?:ou)?rs?\b.*)", re.IGNORECASE | re.DOTALL)
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_YEAR: Final = re.compile(r"(?:18|19|20)\d\d")
# What stands behind a larger unit of a duration: "11h" and "37m" of "6d 11h 37m".
_SMALLER: Final = re.compile(
    r"(?:(?<=[a-z] )|(?<=\d[dhm]))(?P<number>\d+)(?P<unit>\s?(?:h|m|s|hours?|hrs?|minutes?|mins?|seconds?|secs?)\b)"
)
_HOURS_TRIED: Final = 40  # times of which one in the layout is taken
_MOVES: Final = 400  # shifts of which one that keeps the layout is taken
_FURTHEST: Final = 2200  # days
_A_YEAR: Final = 366
_LATEST_MONTH: Final = 12


def other_duration(text: str, language: str, seed: int) -> str | None:
    """Return *text* with another number of its first unit of time, near the old one; None if no number is in it."""
    found = _NUMBER.search(text)
    if found is not None:
        return text[: found.start()] + near_number(found.group(), seed) + text[found.end() :]
    return other_word(text, language, lambda n: n + 1 + below(seed, max(1, n // THIRD)))


def another_moment(text: str, locale: str, rng: random.Random) -> str:
    """Return *text* with another date, time or duration in the same layout; *text* itself if nothing in it is understood.

    Dates move to an earlier day. Of a date in digits, what only a day can be stays so, and what could be a month stays either.
    """
    time = _MILITARY.search(text)
    if time is None and (not names_unit(text) or _YEAR.search(text)):
        earlier = _earlier(text, locale, rng)
        if earlier is not None:
            return earlier
        time = _CLOCK.search(text)
    if time is None:
        if _NUMBER.search(text) is None:
            return other_duration(text, locale[:2], rng.getrandbits(64)) or text
        return _SMALLER.sub(
            lambda found: _smaller(found["number"], found["unit"], rng), _NUMBER.sub(lambda found: _count(found.group(), rng), text)
        )
    old = text[time.start() :]
    for _ in range(_HOURS_TRIED):
        new = time_like(time["hour"], time["sign"] or "", time["minute"], time["rest"], rng.randint(0, 23), rng.randint(0, 59))
        if len(new) == len(old) and (new[0] == "0") == (old[0] == "0"):
            break
    return text[: time.start()] + new


def _count(number: str, rng: random.Random) -> str:
    """Return another number of as many digits; a 1 stays ("1 year"), and so do decimals ("2.5 years")."""
    whole = re.split("[.,]", number)[0]
    if whole == "1":
        return number
    return (str(rng.randint(2, 9)) if len(whole) == 1 else resized(whole, rng.getrandbits(64))) + number[len(whole) :]


def _smaller(number: str, unit: str, rng: random.Random) -> str:
    """Return another number of a smaller unit: hours behind days are below 24, minutes and seconds below 60."""
    top = 23 if unit.strip().startswith("h") else 59
    return f"{rng.randint(10, top) if len(number) > 1 else rng.randint(2, 9)}{unit}"


def _earlier(text: str, locale: str, rng: random.Random) -> str | None:
    """Return the date *text* moved to an earlier day, or *text* if none has its layout; None if it cannot be read as a date.

    Day and month are others than those of *text*, where it has them.
    """
    language, _, country = locale.partition("_")
    order = date_order(language, country)
    layout = read_date(text, language, order, REFERENCE_DATE)
    if layout is not None and layout.language not in {language, "en"}:
        return None  # "8:43 pm PT": the weekday of another language
    for _ in range(_MOVES):
        shift = -rng.randint(1, _FURTHEST)
        day = shifted_day(layout, shift) if layout is not None and layout.precision == "day" else None
        if layout is not None and day is not None and (day.day == layout.when.day or day.month == layout.when.month):
            continue
        moved = shifted_text(text, shift, language, order, REFERENCE_DATE)
        if moved is None:
            return kept_form(text, -rng.randint(_A_YEAR, _FURTHEST)) if _YEAR.search(text) else None
        if moved != text and (any(map(str.isalpha, text)) or _digits_of(moved) == _digits_of(text)):
            return moved
    return text


def _digits_of(text: str) -> list[tuple[int, bool]]:
    """Return how many digits each number of a date has, and whether a month can be it."""
    return [(len(number), int(number) > _LATEST_MONTH) for number in _DIGITS.findall(text)]
