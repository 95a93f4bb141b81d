"""Another day in the layout of a date, and another hour in that of a time: all dates of a text move by one number of days.

A date with a day moves by exactly the shift. A vaguer one moves by the nearest whole number of its own unit (months, seasons, quarters,
years, decades). The name of a weekday moves by the shift modulo 7.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache, partial
from itertools import pairwise
from operator import ne
from typing import Final

from piiloom.foundation.seeding import below, mix, salt_of
from piiloom.pii_values.countries import Order
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.rewriting.calendars import (
    date_order,
    has_calendar,
    languages_for,
    meanings,
    moved_words,
    names_unit,
    ordinal_suffix,
    other_words,
    range_words,
    tells_half,
)
from piiloom.pii_values.rewriting.date_layouts import Layout, Precision, read_date, write_date
from piiloom.pii_values.rewriting.values import ORDINAL, THIRD, near_number, resized, unlike, with_other_number

_SALT: Final = salt_of("shift")
_LONGEST: Final = 364  # days, either way
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
_SECONDS: Final = 86_400  # of a day
_SINCE_1970: Final = {10: 1, 13: 1000}  # digits of a time in seconds or milliseconds, and how many of them are a second


def draw_shift(seed: int, step: int = 1) -> int:
    """Draw a shift in days: a multiple of *step* from 1 to 364, forward or backward, never 0."""
    most = _LONGEST // step
    number = below(mix(seed, _SALT), 2 * most) - most
    return step * (number if number < 0 else number + 1)


weekly_shift = partial(draw_shift, step=7)  # weekdays are kept


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
            number = {part.number for part in layout.parts if part.field == "month"}
            own = {meanings(language)[word].number for word in words if meanings(language)[word].field == "month"}
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
        if len(digits) in _SINCE_1970:
            return str(int(digits) + shift * _SECONDS * _SINCE_1970[len(digits)])
        before = text[max(0, found.start() - _YEAR_DIGITS - 1) : found.start()]
        if _YEAR_BEFORE.fullmatch(before) and (int(before[:-1]) + 1) % 100 == int(digits):  # "winter 2018-19"
            return f"{(int(digits) + years) % 100:02d}"
        if len(digits) == _YEAR_DIGITS:
            return f"{int(digits) + years:04d}"
        if len(digits) > 2 or int(digits) > _LONGEST_MONTH:
            return f"{(int(digits) + years) % 10 ** len(digits):0{len(digits)}d}"
        return f"{other_day(int(digits), shift):0{len(digits) if digits[0] == '0' else 1}d}"

    return ORDINAL.sub(lambda found: found[1] + ordinal_suffix("th", int(found[1]), found[2]), _DIGITS.sub(number, text))


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


_AM_PM: Final = re.compile(r"\s?[ap]\.?\s?m\b\.?", re.IGNORECASE)
# Hour and minute ("8:43 pm", "15 h 30", "14:05:33.120+02:00"), or an hour before am or pm, also that of both ends of a range ("3-4 pm").
_CLOCK: Final = re.compile(
    r"""(?<!\d)(?<!\d[.,])(?P<hour>\d{1,2})
    (?: (?P<sign> [:.h] | \s?[時时点點시]\s? | \sh\s(?=\d\d(?!\s?m)) ) (?P<minute>\d\d) (?!\.?\d)
      | (?=\s?[ap]\.?\s?m\b) | (?=\s?(?:[-–]|to|and|or)\s?\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?\s?m\b) )
    (?P<rest> (?::\d\d(?:[.,]\d+)?(?:\s?-\d\d:?\d\d(?!\d))?)? (?:\s?\+\d\d:?\d\d(?!\d))? (?:\s?[ap]\.?\s?m\b\.?)? )""",
    re.IGNORECASE | re.VERBOSE,
)
_MILITARY: Final = re.compile(r"(?<!\d)(?P<hour>\d\d)(?P<sign>)(?P<minute>\d\d)(?P<rest>\s?h(?:ou)?rs?\b.*)", re.IGNORECASE | re.DOTALL)
# An hour alone, by the word before or behind it.
_HOUR: Final = re.compile(
    r"\b(?:kl|kl\.|klo|klockan|kello|klokken|godz\.|ore|às|las|at|past|um)\s(?:\d{1,2}\s?[-–]\s?)?\d{1,2}(?![\d:.])"
    r"|\d{1,2}(?=(?:\s?[-–]\s?\d{1,2})?\s?(?:uhr\b|uur\b|o['’]clock\b|h\b|[時时点點시](?![間间])))",
    re.IGNORECASE,
)
_OF_CLOCK: Final = re.compile(r"\b(?:ore|uur|uhr|kl|klo|klockan|kello|klokken|godz|às)\b", re.IGNORECASE)
_WHOLE: Final = re.compile(
    r"(?<!\d)(?:\d{4}([-/.])\d\d?\1\d\d?|\d\d?([-/.])\d\d?\2(?:\d{4}|\d\d))(?!\d)|(?:\d{4}\s?[年년]\s?)?\d\d?\s?[月월]\s?\d\d?\s?[日일]"
)
_LENGTH: Final = re.compile(r"\d\s?(?:d|m|s|mins?|secs?)\b|\bdays?\b", re.IGNORECASE)  # an "h" beside it is no time of day
_HALF: Final = re.compile("[午晚早]|오전|오후")  # what tells the half of the day in Chinese, Japanese and Korean
_FRACTION: Final = re.compile(r"(?<=:\d\d[.,])\d+")
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_YEAR: Final = re.compile(r"(?<!\d)(?:18|19|20)\d\d(?!\d)")
_FAR_YEAR: Final = re.compile(r"(?<!\d)(?:1[34]|2[45])\d\d(?!\d)")  # of the Persian, the Islamic and the Thai calendar
_ROMAN: Final = re.compile(r"(?<![^\s./-])(?:VI{0,3}|I[VX]|XI{0,2}|I{1,3})(?=[./ -]{1,2}(?:19|20)\d\d)")
_ROMANS: Final = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
# What stands behind a larger unit of a duration: "11h" and "37m" of "6d 11h 37m".
_SMALLER: Final = re.compile(
    r"(?:(?<=[a-z] )|(?<=\d[dhm]))(?P<number>\d+)(?P<unit>\s?(?:h|m|s|hours?|hrs?|minutes?|mins?|seconds?|secs?)\b)"
)
_IN_ORDER: Final = 4  # times of one value whose order is kept
_HOURS_TRIED: Final = 40  # times of which one in the layout is taken
_SPOKEN: Final = (2, 12)  # counts and hours in words; a larger one changes by at most a third
_MOVES: Final = 400  # shifts of which one that keeps the layout is taken
_FURTHEST: Final = 2200  # days
_A_YEAR: Final = 366
_LATEST_MONTH: Final = 12
_LATEST_HOUR: Final = 12


def other_duration(text: str, language: str, seed: int) -> str | None:
    """Return *text* with another number of its first unit of time, near the old one; None if no number is in it."""
    return with_other_number(
        text, language, _NUMBER, lambda number: near_number(number, seed), lambda n: n + 1 + below(seed, max(1, n // THIRD))
    )


def another_moment(text: str, locale: str, rng: random.Random) -> str:
    """Return *text* with another date, time and duration in the same layout; *text* itself if nothing in it is understood.

    Dates move to an earlier day. Of a date in digits, what only a day can be stays so, and what could be a month stays either. Digits of
    other scripts are read and written, too.
    """
    zero = next((ord(sign) - int(sign) for sign in text if sign.isdecimal()), ord("0"))
    if zero != ord("0"):
        new = another_moment(text.translate({zero + digit: str(digit) for digit in range(10)}), locale, rng)
        return new.translate({ord(str(digit)): chr(zero + digit) for digit in range(10)})
    language = locale.partition("_")[0]
    time = _MILITARY.search(text)
    if time is not None:
        return text[: time.start()] + _other_times(text, [time], rng)[0]
    hours = names_unit(text) or _HOUR.search(text) or _OF_CLOCK.search(text) or re.fullmatch(r"\d{4}", text.strip())
    if _ROMAN.search(text) is None and (not hours or _YEAR.search(text) or _names_month(text, language)):
        earlier = _earlier(text, locale, rng)
        if earlier is not None:
            times = [one for one in _CLOCK.finditer(earlier) if one["sign"] != "." or _AM_PM.search(one["rest"])]
            return _with_times(earlier, times, rng, lambda between: _HOUR.sub(lambda found: _hour(found.group(), rng), between))
    # In "2.25 years" there is no time; in "15.30 uur" there is.
    decimals = names_unit(text) and _OF_CLOCK.search(text) is None
    times = [one for one in _CLOCK.finditer(text) if not decimals or one["sign"] != "." or _AM_PM.search(one["rest"])]
    return _with_times(text, times, rng, lambda between: _between(between, locale, rng))


def _with_times(text: str, times: list[re.Match[str]], rng: random.Random, write: Callable[[str], str] = str) -> str:
    """Return *text* with others for its *times*; *write* changes what stands between them."""
    out, at = [], 0
    for time, new in zip(times, _other_times(text, times, rng), strict=True):
        out += [write(text[at : time.start()]), new]
        at = time.end()
    return "".join([*out, write(text[at:])])


def _other_times(text: str, times: list[re.Match[str]], rng: random.Random) -> list[str]:
    """Return other times in the layouts of *times*, in the same order of their numbers; each hour, minute and second is another one."""
    if len(times) > _IN_ORDER:
        return [_other_times(time.group(), [time], rng)[0] for time in times]
    drawn: list[str] = []
    last = max((found.start() for found in _AM_PM.finditer(text)), default=-1) if times else -1
    if times and (tells_half(text) or _HALF.search(text)):
        last = len(text)
    for _ in range(_HOURS_TRIED if times else 0):
        drawn = [_other_time(time, rng, half=time.end() <= last) for time in times]
        pairs = [(_places(time.group()), _places(new)) for time, new in zip(times, drawn, strict=True)]
        order = all((a < c) == (b < d) for (a, b), (c, d) in pairwise(pairs))
        texts = [(time.group(), new) for time, new in zip(times, drawn, strict=True)]
        layout = all(len(new) == len(old) and (new[0] == "0") == (old[0] == "0") for old, new in texts)
        if order and layout and all(all(map(ne, a, b)) for a, b in pairs):  # no number in common
            break
    return [_FRACTION.sub(lambda found: "".join(str(rng.randint(0, 9)) for _ in found.group()), new) for new in drawn]


def _other_time(time: re.Match[str], rng: random.Random, *, half: bool) -> str:
    """Return another time in the layout of *time*, from 1 to 12 if the text tells the *half* of the day behind it."""
    hour, minute, rest = rng.randint(0, 23), rng.randint(0, 59), time["rest"]
    if half and int(time["hour"]) <= _LATEST_HOUR and not _AM_PM.search(rest):
        hour = hour % _LATEST_HOUR or _LATEST_HOUR
    return time_like(time["hour"], time["sign"] or "", time["minute"], rest, hour, minute)


def _places(time: str) -> list[int]:
    return [int(number) for number in _DIGITS.findall(time)[:3]]


def _names_month(text: str, language: str) -> bool:
    """Whether a month of *language*, or an English one, is in *text*."""
    return any(moved_words(text, spoken, 1, 0) != text for spoken in _spoken(language))


def _spoken(language: str) -> list[str]:
    return [spoken for spoken in dict.fromkeys((language, "en")) if has_calendar(spoken)]


def _between(text: str, locale: str, rng: random.Random) -> str:
    """Return *text*, which is no date that can be read, with other months and weekdays, and another number for each of its numbers."""
    out, at = [], 0
    for whole in _WHOLE.finditer(text):
        moved = _earlier(whole.group(), locale, rng)
        if moved is not None:
            out += [_around(text[at : whole.start()], locale, rng), moved]
            at = whole.end()
    return "".join([*out, _around(text[at:], locale, rng)])


def _around(text: str, locale: str, rng: random.Random) -> str:
    language = locale.partition("_")[0]
    dated = bool(_YEAR.search(text)) or (_FAR_YEAR.search(text) is not None and not names_unit(text))
    spoken = next((known for known in _spoken(language) if moved_words(text, known, 1, 1) != text), None)
    if spoken is not None:
        months, days = rng.randint(1, 11), rng.randint(1, 6)
        dated |= moved_words(text, spoken, 1, 0) != text
        text = moved_words(text, spoken, months, days)
    if dated:
        years = _ROMAN.sub(lambda found: _ROMANS[(_ROMANS.index(found.group()) + rng.randint(1, 11)) % len(_ROMANS)], text)
        return kept_form(years, -rng.randint(_A_YEAR, _FURTHEST))
    if _NUMBER.search(text) is None:
        spelled = (other_words(text, known, lambda n: _other_count(n, rng)) for known in _spoken(language))
        return next((new for new in spelled if new is not None), text)
    if _HOUR.search(text) and _LENGTH.search(text) is None:
        at = [0, *(place for found in _HOUR.finditer(text) for place in found.span()), len(text)]
        parts = [text[start:end] for start, end in pairwise(at)]
        return "".join(_hour(part, rng) if turn % 2 else _other_counts(part, rng) for turn, part in enumerate(parts))
    return _SMALLER.sub(lambda found: _smaller(found["number"], found["unit"], rng), _other_counts(text, rng))


def _other_counts(text: str, rng: random.Random) -> str:
    return _NUMBER.sub(lambda found: _count(found.group(), rng), text)


def _other_count(number: int, rng: random.Random) -> int:
    """Return another number for one in words; one and none stay ("one week")."""
    low, high = _SPOKEN
    if number < low:
        return number
    if number > high:
        low, high = max(high + 1, number - number // THIRD), number + number // THIRD
    return rng.choice([other for other in range(low, high + 1) if other != number])


def _hour(text: str, rng: random.Random) -> str:
    """Return *text* with other hours of as many digits, of the same half of the day from noon on."""

    def other(found: re.Match[str]) -> str:
        number, old = found.group(), int(found.group())
        if old not in range(24):
            return _count(number, rng)
        known = range(1, 10) if old < 10 else range(10, 13) if old <= _LATEST_HOUR else range(13, 24)
        return f"{rng.choice([hour for hour in known if hour != old]):0{len(number)}d}"

    return _DIGITS.sub(other, text)


def _count(number: str, rng: random.Random) -> str:
    """Return another number of as many digits; a 1 stays ("1 year"), and so do decimals ("2.5 years")."""
    whole = re.split("[.,]", number)[0]
    if whole == "1":
        return number
    return (str(unlike(int(whole), 2, 9, rng)) if len(whole) == 1 else resized(whole, rng.getrandbits(64))) + number[len(whole) :]


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
    if layout is not None:
        named = any(part.field in {"month", "season"} and ":" in part.style and "-short" not in part.style for part in layout.parts)
        if layout.language not in {language, "en"} and not named:
            return None  # "5 min": a weekday of another language
        if layout.precision == "weekday" and _CLOCK.search(text):
            return None  # "8:43 pm PT": PT is a weekday, too
    for _ in range(_MOVES):
        shift = -rng.randint(1, _FURTHEST)
        day = shifted_day(layout, shift) if layout is not None and layout.precision == "day" else None
        if layout is not None and day is not None and (day.day == layout.when.day or day.month == layout.when.month):
            continue
        moved = shifted_text(text, shift, language, order, REFERENCE_DATE)
        if moved is None:
            return None
        if moved != text and (any(map(str.isalpha, text)) or _digits_of(moved) == _digits_of(text)):
            return moved
    return text


def _digits_of(text: str) -> list[tuple[int, bool]]:
    """Return how many digits each number of a date has, and whether a month can be it."""
    return [(len(number), int(number) > _LATEST_MONTH) for number in _DIGITS.findall(text)]
