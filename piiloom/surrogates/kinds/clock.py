"""Times of day and durations."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from piiloom.surrogates.documents import below, mix, pick
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.calendars import calendar_of, calendars, other_word, tells_half
from piiloom.surrogates.kinds.kind import cased_like, salt_of, style_seed

_TIME: Final = salt_of("time")
_CLOCK: Final = re.compile(r"([0-9]{1,2})([:.hH]?)([0-9]{2})?(.*)", re.DOTALL)
_FIELD: Final = re.compile(r"\{(\w+)\}")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_HOUR: Final = re.compile(r"(?<![\d:.])(\d{1,2})([:.]\d\d)?(?![\d:.])")
_NEAR: Final = 3  # a duration changes by at most one third, or by 1
_LARGEST: Final = 10**9
_HALF: Final = 12  # hours; a later one needs no word for its half of the day
_FORMS: Final = {"clock": "{half}:{minute:02d}", "hour": "{half}", "clock24": "{hour}:{minute:02d}"}


def _hours() -> tuple[tuple[int, int], ...]:
    """Return (hour, minute) pairs, repeated by frequency: mostly daytime in steps of five minutes, sometimes any time."""
    usual = [(hour, minute) for hour in range(7, 20) for minute in range(0, 60, 5)]
    return (*usual * 9, *((hour, minute) for hour in range(24) for minute in range(60)))


_HOURS: Final = _hours()


@cache
def clock_words() -> frozenset[str]:
    """Return the words of all languages that stand beside an hour and a minute ("Uhr", "uur", "kl"), casefolded."""
    return frozenset(
        word.casefold() for known in calendars().values() for form in known.times for word in _WORD.findall(_FIELD.sub(" ", form))
    )


def clock_time(seed: int) -> str:
    """Return a time such as "14:35"."""
    hour, minute = pick(seed, _HOURS)
    return f"{hour:02d}:{minute:02d}"


@cache
def _pool(language: str, style: int) -> tuple[str, ...]:
    """Return all times of ``_HOURS`` in one format of *language*; *style* is the format's index."""
    template, fields = _compiled(language)[style]
    return tuple(template % tuple(_told(hour, minute, field) for field in fields) for hour, minute in _HOURS)


@cache
def _compiled(language: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the time formats of *language* as (%-template, field names)."""
    return tuple((_FIELD.sub("%s", form), tuple(_FIELD.findall(form))) for form in calendar_of(language).times)


def _told(hour: int, minute: int, field: str) -> str:
    """Format one field: H and HH are the hour of 24, h the hour of 12, MM the minute, ap and AP the half of the day (am or pm)."""
    match field:
        case "HH":
            return f"{hour:02d}"
        case "H":
            return str(hour)
        case "h":
            return str(hour % 12 or 12)
        case "MM":
            return f"{minute:02d}"
        case _:
            half = "am" if hour < 12 else "pm"
            return half if field == "ap" else half.upper()


def with_time(day: str, draw: Draw) -> str:
    """Return the written date *day* followed by a drawn time."""
    return f"{day} {clock_time(mix(draw.seed, _TIME))}"


def time_value(draw: Draw) -> str:
    """Draw a time of day, in the format of the original if it can be read, else in one format per document.

    The forms leave out what the text has after it: clock is "3:45" before "pm", hour is "3" before "o'clock", clock24 is "15:45".
    """
    seed = mix(draw.seed, _TIME)
    if draw.form in _FORMS and not draw.original:
        hour, minute = pick(seed, _HOURS)
        return _FORMS[draw.form].format(hour=hour, half=hour % 12 or 12, minute=minute)
    known = _CLOCK.fullmatch(draw.original.strip()) if draw.original else None
    if known is not None and (int(known[1]) > _HALF or not tells_half(draw.original)):
        return _like(known, *pick(seed, _HOURS))
    said = _said(draw, seed) if draw.original else None
    if said is not None:
        return said
    return pick(seed, _pool(draw.language, below(style_seed(draw, _TIME), len(_compiled(draw.language)))))


def _said(draw: Draw, seed: int) -> str | None:
    """Return another hour in the words of the original: "half past 3 in the afternoon", "five in the evening"; None if it has no hour."""
    number = _HOUR.search(draw.original)
    if number is not None:
        minutes = f":{5 * below(mix(seed, 1), 12):02d}" if number[2] else ""
        return f"{draw.original[: number.start()]}{_other_hour(int(number[1]), seed)}{minutes}{draw.original[number.end() :]}"
    return other_word(draw.original, draw.language, lambda hour: _other_hour(hour, seed))


def _other_hour(hour: int, seed: int) -> int:
    """Return another hour of the same half of the day, so that "in the afternoon" stays right: at most two off, from 1 to 12."""
    nearby = [other for other in range(hour - 2, hour + 3) if 1 <= other <= 12 and other != hour]
    return pick(seed, nearby) if nearby else hour


def _like(known: re.Match[str], hour: int, minute: int) -> str:
    """Write a time in the format of the match *known*: 12 hours if am or pm follows, a leading zero if there was one.

    The hour is changed if it equals the original one.
    """
    first, sign, second, rest = known.groups()
    twelve = re.match(r"(?::[0-9]{2})?\s*[ap]\.?\s?m", rest, re.IGNORECASE) is not None
    hours = (hour % 12 or 12) if twelve else hour
    if f"{hours:02d}" == first.zfill(2):
        hours = hours % 12 + 1 if twelve else (hours + 1) % 24
    exact = len(first) == 2 and not twelve and rest.startswith(":")  # with seconds, as machines write it
    width = 2 if first.startswith("0") or (not sign and second) or exact else 1
    tail = f"{sign}{minute:02d}" if second is not None else sign
    seconds = re.sub(r"^:[0-9]{2}", lambda m: f":{(int(m.group()[1:]) + minute) % 60:02d}", rest)
    return f"{hours:0{width}d}{tail}{seconds}"


def duration(draw: Draw) -> str:
    """Draw a duration. If there is an original, its unit is kept and its number stays near."""
    seed = mix(draw.seed, _TIME + 1)
    original = draw.original
    found = _NUMBER.search(original)
    if found is not None:
        return original[: found.start()] + _near(found.group(), seed) + original[found.end() :]
    spelled = other_word(original, draw.language, lambda n: n + 1 + below(seed, max(1, n // _NEAR))) if original else None
    if spelled is not None:
        return spelled
    form = pick(seed, calendar_of(draw.language).durations)
    return cased_like(original, form.replace("{n}", str(2 + below(mix(seed, 1), 11))))


def _near(text: str, seed: int) -> str:
    """Return another number of about the same size as *text*, with as many decimals."""
    sign = next((c for c in text if c in ".,"), "")
    whole, _, part = text.partition(sign) if sign else (text, "", "")
    number = min(int(whole[:18]), _LARGEST)
    reach = max(1, number // _NEAR)
    new = number + 1 + below(seed, reach) if number <= 2 or seed & 1 else max(1, number - 1 - below(seed, min(reach, number - 1)))
    return f"{new}{sign}{(int(part[:15]) + 3) % 10 ** len(part[:15]):0{len(part[:15])}d}" if part else str(new)
