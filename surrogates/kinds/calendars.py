"""Months, weekdays and seasons by their words, in every language of ``data/words/calendars.yaml``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.kinds.facts import facts_of
from piiloom.surrogates.kinds.files import CalendarEntry, CalendarsFile, Order

FALLBACK: Final = "en"


class Meaning(NamedTuple):
    """What a word of a date stands for: ``field`` is month, weekday, season or part; ``number`` counts from 1 (Monday is 1)."""

    field: str
    number: int
    short: bool


@cache
def calendars() -> dict[str, CalendarEntry]:
    """All languages."""
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "calendars.yaml", CalendarsFile).calendars


@cache
def date_order(language: str, country: str) -> Order:
    """The usual order of day, month and year: the language's, or the country's where one language has several (English)."""
    known = calendars().get(language)
    return (known.order if known else None) or facts_of(country).order


def calendar_of(language: str) -> CalendarEntry:
    """The words of *language*, the English ones where it has none."""
    known = calendars()
    return known.get(language) or known[FALLBACK]


@cache
def meanings(language: str) -> dict[str, Meaning]:
    """Every date word of *language*, casefolded."""
    own = calendars()[language]
    found: dict[str, Meaning] = {}
    for number, words in enumerate(own.seasons, 1):
        found.update({word.casefold(): Meaning("season", number, False) for word in words})
    for number, words in enumerate(own.short_weekdays, 1):
        found.update({word.casefold(): Meaning("weekday", number, True) for word in words})
    for number, words in enumerate(own.short_months, 1):
        found.update({word.casefold(): Meaning("month", number, True) for word in words})
    found.update({word.casefold(): Meaning("month", number, False) for word, number in own.other_months.items()})
    found.update({word.casefold(): Meaning("weekday", number, False) for number, word in enumerate(own.weekdays, 1)})
    found.update({word.casefold(): Meaning("month", number, False) for number, word in enumerate(own.months, 1)})
    found.update({word.casefold(): Meaning("first", 1, False) for word in own.first})
    return found


@cache
def languages_for(word: str, first: str) -> tuple[str, ...]:
    """The languages that know *word* (casefolded), *first* before the others."""
    order = (first, *(language for language in calendars() if language != first))
    return tuple(language for language in order if language in calendars() and word in meanings(language))


@cache
def range_words() -> frozenset[str]:
    """The words between the two ends of a span of time ("to", "bis"), casefolded."""
    return frozenset(word.casefold() for entry in calendars().values() for word in entry.ranges)
