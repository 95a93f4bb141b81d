"""Other dates, times and durations in the layout of a given one: "09 Aug 2015" gives "17 Feb 2012", "6d 11h" gives "3d 14h"."""

from __future__ import annotations

import random
import re
from typing import Final

from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.lexicons import listed
from piiloom.pii_values.rewriting.amounts import another_numeral, ordinal_ending, renumbered
from piiloom.pii_values.rewriting.forms import recased

_NUMERIC: Final = re.compile(r"(?<!\d)(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_YEAR_FIRST: Final = re.compile(r"(?<!\d)(\d{4})([/.-])(\d{1,2})\2(\d{1,2})(?!\d)")
_CLOCK: Final = re.compile(r"(?<!\d)(\d{1,2})([:.])(\d{2})(?:([:.])(\d{2}))?(?=\D|$)(\s?[AaPp]\.?[Mm]\b)?")
_HOUR: Final = re.compile(r"(?<!\d)(\d{1,2})(\s?[AaPp]\.?[Mm]\b)")
_YEAR: Final = re.compile(r"(?<!\d)((?:18|19|20)\d\d)(?!\d)")
_DAY: Final = re.compile(r"(?<!\d)(\d{1,2})(st|nd|rd|th)?(?![\d])")
_SMALLER: Final = re.compile(r"(?<=[a-z] )(\d+)(\s?(?:h|m|s|hours?|hrs?|minutes?|mins?|seconds?|secs?)\b)|(?<=\d[dhm])(\d+)([hms]\b)")
_DAYS: Final = 28  # every month has as many
_WORDS: Final = (2, 12)  # counts that are written in words


def another_moment(text: str, locale: str, rng: random.Random) -> str:
    """Return *text* with another date, time or duration in the same layout; *text* itself if nothing in it is understood."""
    for pattern, write in ((_YEAR_FIRST, _year_first), (_NUMERIC, _numeric), (_CLOCK, _clock), (_HOUR, _hour)):
        found = pattern.search(text)
        if found is not None:
            return text[: found.start()] + write(found, rng) + text[found.end() :]
    months = _months(text, locale, rng)
    if months != text:
        return _YEAR.sub(lambda found: _year(found[1], rng), _days(months, rng))
    if _YEAR.search(text):
        return _YEAR.sub(lambda found: _year(found[1], rng), text)
    if any(char.isdigit() for char in text):
        return _SMALLER.sub(lambda found: _smaller(found, rng), renumbered(text, rng))
    return another_numeral(text, locale, rng, low=_WORDS[0], high=_WORDS[1])


def _numeric(found: re.Match[str], rng: random.Random) -> str:
    first, sign, second, year = found.groups()
    padded = "0" in (first[0], second[0])
    a, b = _pair(int(first), int(second))
    return sign.join((_width(first, a, padded, rng), _width(second, b, padded, rng), _year(year, rng)))


def _year_first(found: re.Match[str], rng: random.Random) -> str:
    year, sign, month, day = found.groups()
    padded = "0" in (month[0], day[0])
    return sign.join((_year(year, rng), _width(month, (1, 12), padded, rng), _width(day, (1, _DAYS), padded, rng)))


def _pair(first: int, second: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the ranges of day and month; what only a day can be stays so, and what could be either stays either."""
    early, late = (1, 12), (13, _DAYS)
    return late if first > 12 else early, late if second > 12 else early


def _width(old: str, bounds: tuple[int, int], padded: bool, rng: random.Random) -> str:
    """Draw a number within *bounds* in as many digits as *old*."""
    low, high = bounds
    if len(old) == 1:
        return str(rng.randint(low, min(9, high)))
    return f"{rng.randint(low, high):02d}" if padded else str(rng.randint(max(10, low), high))


def _year(old: str, rng: random.Random) -> str:
    if len(old) == 2:
        return f"{(int(old) + rng.choice((-4, -3, -2, -1, 1, 2, 3))) % 100:02d}"
    year = int(old)
    latest = max(year, REFERENCE_DATE.year)
    return str(min(latest, year + rng.choice((-6, -5, -4, -3, -2, -1, 1, 2, 3))))


def _clock(found: re.Match[str], rng: random.Random) -> str:
    hour, sign, minute, sign_again, second, half = found.groups()
    minutes = minute if minute == "00" else f"{rng.randint(1, 59):02d}"
    seconds = f"{sign_again}{rng.randint(0, 59):02d}" if second else ""
    return f"{_other_hour(hour, half, rng)}{sign}{minutes}{seconds}{half or ''}"


def _hour(found: re.Match[str], rng: random.Random) -> str:
    return f"{_other_hour(found[1], found[2], rng)}{found[2]}"


def _other_hour(old: str, half: str | None, rng: random.Random) -> str:
    last = 12 if half else 23
    return _width(old, (1, last), old[0] == "0", rng) if int(old) <= last else f"{rng.randint(10, int(old))}"


def _months(text: str, locale: str, rng: random.Random) -> str:
    """Return *text* with another month in the place of the first one: long for long, short for short, with its stop."""
    for lexicon in ("months", "months_short"):
        names = listed(lexicon, locale)
        found = re.search(rf"(?i)(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", text)
        if found is not None:
            others = [name for name in names if name.casefold() != found.group().casefold()]
            new = recased(rng.choice(others), found.group(), proper=True) or found.group()
            return text[: found.start()] + new + text[found.end() :]
    return text


def _days(text: str, rng: random.Random) -> str:
    def other(found: re.Match[str]) -> str:
        day = _width(found[1], (1, _DAYS), found[1][0] == "0", rng)
        return day + (ordinal_ending(int(day)) if found[2] else "")

    return _DAY.sub(other, text)


def _smaller(found: re.Match[str], rng: random.Random) -> str:
    """Hours after days are below 24, minutes and seconds below 60."""
    run, unit = (found[1], found[2]) if found[1] else (found[3], found[4])
    top = 23 if unit.strip().startswith("h") else 59
    return f"{rng.randint(10, top) if len(run) > 1 else rng.randint(2, 9)}{unit}"
