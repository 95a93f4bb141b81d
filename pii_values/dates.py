"""Dates, times, durations and years around a person's life. Nothing later than ``REFERENCE_DATE`` and no clock."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Final

from pii_values.sampling import weighted
from taxonomy.locales import get_locale

REFERENCE_DATE: Final = date(2026, 1, 1)

_MONTHS: Final = "January February March April May June July August September October November December".split()
_NUMBERS: Final = "zero one two three four five six seven eight nine ten eleven twelve".split()
_DAYS_PER_YEAR = 365.25
# Units people count in, with the largest count that stays natural, and how often they are used.
_UNITS: Final = weighted(
    [(("day", 75), 2.0), (("week", 30), 3.0), (("month", 32), 4.0), (("year", 30), 4.0), (("hour", 40), 2.0), (("minute", 55), 1.0)]
)


def age_on(birth: date, day: date = REFERENCE_DATE) -> int:
    """Completed years."""
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def draw_birth_date(age: int, rng: random.Random) -> date:
    """A day on which somebody of *age* (completed years on the reference date) was born."""
    # Born in the twelve months that end on the reference date, *age* years earlier; 364 keeps clear of leap days.
    latest = date(REFERENCE_DATE.year - age, REFERENCE_DATE.month, REFERENCE_DATE.day)
    return latest - timedelta(days=int(rng.random() * 364))


def draw_day(birth: date, rng: random.Random) -> date:
    """A day somebody would mention: since they were about six, at most 25 years back, recent ones more often."""
    reach = min(25 * _DAYS_PER_YEAR, max(200.0, (REFERENCE_DATE - birth).days - 6 * _DAYS_PER_YEAR))
    return REFERENCE_DATE - timedelta(days=1 + int(rng.random() ** 1.6 * reach))


def written_date(day: date, locale: str, rng: random.Random) -> str:
    """A date in one of the ways people of *locale* write it, month first or day first as the locale does."""
    month, short = _MONTHS[day.month - 1], _MONTHS[day.month - 1][:3]
    forms: tuple[str, ...]
    if get_locale(locale).date_order == "mdy":
        forms = (f"{month} {day.day}, {day.year}", f"{month} {_ordinal(day.day)}, {day.year}", f"{day.month}/{day.day}/{day.year}")
        forms += (f"{short} {day.day}, {day.year}", f"{day.month:02d}/{day.day:02d}/{day.year % 100:02d}", f"{month} {_ordinal(day.day)}")
    else:
        forms = (f"{day.day} {month} {day.year}", f"{_ordinal(day.day)} {month} {day.year}", f"{day.day:02d}/{day.month:02d}/{day.year}")
        forms += (f"{day.day} {short} {day.year}", f"{day.day}.{day.month}.{day.year % 100:02d}", f"{_ordinal(day.day)} {month}")
    return rng.choice((*forms, forms[0], forms[0], day.isoformat()))


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def draw_time(locale: str, rng: random.Random) -> str:
    """A time of day: "7:45 pm", "19:45", "7.45pm"."""
    minutes = int((rng.random() * 0.78 + 0.22) * 288) * 5 if rng.random() < 0.7 else int(rng.random() * 1440)
    hour, minute = divmod(minutes, 60)
    half = "am" if hour < 12 else "pm"
    clock = f"{(hour - 1) % 12 + 1}:{minute:02d}"
    forms = [f"{clock} {half}", f"{clock} {half}", f"{clock} {half}", f"{clock}{half}", f"{hour:02d}:{minute:02d}"]
    if locale in {"en_GB", "en_AU"}:
        forms.append(f"{clock.replace(':', '.')}{half}")
    return rng.choice(forms)


def draw_duration(rng: random.Random) -> str:
    """A length of time: "18 months", "three weeks", "two and a half years"."""
    unit, most = _UNITS.draw(rng)
    count = 2 + int(rng.random() ** 1.7 * (most - 1))
    if count <= 9 and rng.random() < 0.25:
        return f"{_NUMBERS[count]} and a half {unit}s"
    written = _NUMBERS[count] if count <= 12 and rng.random() < 0.5 else str(count)
    return f"{written} {unit}s"


def draw_year(birth: date, rng: random.Random) -> str:
    """A year of the person's life since they were about five."""
    reach = max(3, min(50, REFERENCE_DATE.year - birth.year - 5))
    return str(REFERENCE_DATE.year - 1 - int(rng.random() * reach))
