"""Draw dates, times, durations and years of a person's life. Nothing is later than ``REFERENCE_DATE``, and no clock is read."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Final, Literal

from piiloom.pii_values.lexicons import Fitted, Who, has_topic, listed, phrase, weighted
from piiloom.taxonomy.locales import get_locale

REFERENCE_DATE: Final = date(2026, 1, 1)

_DAYS_PER_YEAR = 365.25
# ((unit, largest natural count, number of next smaller units in one unit), weight).
_UNITS: Final = weighted(
    [
        (("day", 95, 24), 2.5),
        (("week", 36, 7), 3.0),
        (("month", 40, 4), 4.0),
        (("year", 38, 12), 4.0),
        (("hour", 48, 60), 2.5),
        (("minute", 95, 60), 1.5),
    ]
)
_IN_WORDS = 12  # counts up to this one are also written in words


def age_on(birth: date, day: date = REFERENCE_DATE) -> int:
    """Return the age in completed years on *day*."""
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def draw_birth_date(age: int, rng: random.Random) -> date:
    """Draw the birth date of a person of *age* (completed years on the reference date)."""
    # Born in the twelve months that end on the reference date, *age* years earlier; 364 keeps clear of leap days.
    latest = date(REFERENCE_DATE.year - age, REFERENCE_DATE.month, REFERENCE_DATE.day)
    return latest - timedelta(days=int(rng.random() * 364))


def draw_day(birth: date, rng: random.Random) -> date:
    """Draw a day a person would mention: since about age six, at most 25 years ago; recent days are more frequent."""
    reach = min(25 * _DAYS_PER_YEAR, max(200.0, (REFERENCE_DATE - birth).days - 6 * _DAYS_PER_YEAR))
    return REFERENCE_DATE - timedelta(days=1 + int(rng.random() ** 1.6 * reach))


def written_date(day: date, locale: str, rng: random.Random, kind: Literal["date", "birth"] = "date") -> str:
    """A date in one of the ways people of *locale* write it (of birth, as in forms), month first or day first as the locale does."""
    return phrase("wording", f"{kind}_{get_locale(locale).date_order}", Who(locale=locale), rng, _parts(day, locale))


def written_month(day: date, locale: str, rng: random.Random) -> str:
    """The month of a day with its year."""
    return phrase("wording", "month_year", Who(locale=locale), rng, _parts(day, locale))


def _parts(day: date, locale: str) -> dict[str, str]:
    return {
        "d": str(day.day),
        "dd": f"{day.day:02d}",
        "nth": listed("ordinals", locale)[day.day - 1],
        "m": str(day.month),
        "mm": f"{day.month:02d}",
        "month": listed("months", locale)[day.month - 1],
        "mon": listed("months_short", locale)[day.month - 1],
        "MON": listed("months_short", locale)[day.month - 1].upper(),
        "year": str(day.year),
        "yy": f"{day.year % 100:02d}",
    }


def draw_time(locale: str, rng: random.Random) -> str:
    """A time of day: "7:45 pm", "19:45", "7 pm", "half past six", "15:10 UTC"."""
    minutes = int((rng.random() * 0.78 + 0.22) * 288) * 5 if rng.random() < 0.6 else int(rng.random() * 1440)
    hour, minute = divmod(minutes, 60)
    second_half = hour >= 12
    half, words = listed("halves_of_day", locale)[second_half], listed("numbers", locale)
    given = {
        "h": str((hour - 1) % 12 + 1),
        "H": str(hour),
        "hh": f"{hour:02d}",
        "minute": f"{minute:02d}",
        "half": half,
        "HALF": half.upper(),
        "hour": words[(hour - 1) % 12 + 1],
        "next_hour": words[hour % 12 + 1],
        "_part_of_day": phrase("wording", f"part_{_part_of_day(hour)}", Who(locale=locale), rng),
    }
    return phrase("wording", _time_topic(minute, locale, rng), Who(locale=locale), rng, given)


def _part_of_day(hour: int) -> str:
    return "night" if hour < 5 else "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"


def _time_topic(minute: int, locale: str, rng: random.Random) -> str:
    """Draw the wording topic for a time; full, half and quarter hours sometimes use their own words."""
    named = {0: ("time_hour", 0.7), 15: ("time_quarter_past", 0.2), 30: ("time_half", 0.25), 45: ("time_quarter_to", 0.2)}
    topic, share = named.get(minute, ("time", 0.0))
    return topic if rng.random() < share and has_topic("wording", topic, Who(locale=locale)) else "time"


def draw_duration(who: Fitted, rng: random.Random) -> str:
    """Draw a duration no longer than *who*'s life: "18 months", "three weeks", "two and a half years", "6h 30m"."""
    unit, most, smaller = _UNITS.draw(rng)
    if unit == "year":
        most = max(3, min(most, who.age - 2))
    count = 2 + int(rng.random() ** 1.5 * (most - 1))
    words = listed("numbers", who.locale)
    more = 1 + int(rng.random() * (smaller - 1))
    written = words[count] if count <= _IN_WORDS else str(count)
    return phrase("wording", f"duration_{unit}", who, rng, {"n": str(count), "word": written, "more": str(more)})


def draw_year(birth: date, rng: random.Random) -> str:
    """Draw a year of the person's life since about age five, at most 50 years ago."""
    reach = max(3, min(50, REFERENCE_DATE.year - birth.year - 5))
    return str(REFERENCE_DATE.year - 1 - int(rng.random() * reach))
