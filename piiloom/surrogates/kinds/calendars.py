"""Months, weekdays and seasons by their words: ``data/words/calendars.yaml``, and ``month_names.yaml`` for further languages."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.kinds.facts import facts_of
from piiloom.surrogates.kinds.files import CalendarEntry, CalendarsFile, DateNamesEntry, DateNamesFile, Order

FALLBACK: Final = "en"


class Meaning(NamedTuple):
    """The meaning of a date word.

    ``field`` is "month", "weekday", "season" or "first" (the word for the first of a month). ``number`` counts from 1 (January, Monday).
    """

    field: str
    number: int
    short: bool


@cache
def calendars() -> dict[str, CalendarEntry]:
    """Return the date words of all languages by ISO 639-1 code; cached."""
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "calendars.yaml", CalendarsFile).calendars


@cache
def date_names() -> dict[str, DateNamesEntry]:
    """Return the months and weekdays of the languages that ``calendars`` lacks; cached."""
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "month_names.yaml", DateNamesFile).names


@cache
def date_order(language: str, country: str) -> Order:
    """Return the usual order of day, month and year: the language's, or the country's if the language has several (English)."""
    known = calendars().get(language)
    return (known.order if known else None) or facts_of(country).order


def calendar_of(language: str) -> CalendarEntry:
    """Return the date words of *language*, or the English ones if it has none."""
    known = calendars()
    return known.get(language) or known[FALLBACK]


@cache
def meanings(language: str) -> dict[str, Meaning]:
    """Return every date word of *language* (casefolded) with its meaning; raises ``KeyError`` for an unknown language."""
    found: dict[str, Meaning] = {}
    if language not in calendars():
        names = date_names()[language]
        for field, forms in (("weekday", names.weekdays), ("month", names.months)):
            found.update(
                {word.casefold(): Meaning(field, number, False) for form in reversed(forms) for number, word in enumerate(form, 1)}
            )
        return found
    own = calendars()[language]
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
    """Return the languages that have the date word *word* (casefolded): *first*, ``calendars``, and others if *first* has it not."""
    own = [first] if first in calendars() or first in date_names() else []
    found = [language for language in dict.fromkeys((*own, *calendars())) if word in meanings(language)]
    if not found or found[0] != first:
        found += [language for language in date_names() if language not in found and word in meanings(language)]
    return tuple(found)


@cache
def month_words() -> frozenset[str]:
    """Return the names and short names of months of all languages, casefolded."""
    known = (meanings(language) for language in (*calendars(), *date_names()))
    return frozenset(word for words in known for word, meaning in words.items() if meaning.field == "month")


@cache
def range_words() -> frozenset[str]:
    """Return the words that join the two ends of a date range ("to", "bis"), casefolded, of all languages."""
    return frozenset(word.casefold() for entry in calendars().values() for word in entry.ranges)
