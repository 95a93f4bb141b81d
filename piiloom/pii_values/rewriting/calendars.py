"""Calendars: the words of dates and numbers in a language, and the words around a date.

Numbers from 0 to 120 are in ``data/words/numerals.yaml``. Months, weekdays and seasons are in ``data/words/calendars.yaml``, those of
further languages in ``month_names.yaml``. Words that name no day themselves ("tomorrow", "of next month", "in the afternoon") are in
``calendars.yaml``, too; those of all languages are searched for in each text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from piiloom.foundation.words import any_of, with_capital
from piiloom.foundation.yaml_files import FileModel, Text, load_data
from piiloom.pii_values.countries import Order, facts_of


class CalendarEntry(FileModel):
    """A language's words for dates; lists begin with January and Monday.

    ``patterns`` by precision and order, see ``dates``; ``order`` is None where it is the country's. The head of the file
    tells of the others.
    """

    order: Order | None = None
    months: list[Text] = Field(min_length=12, max_length=12)
    short_months: list[list[Text]] = Field(min_length=12, max_length=12)
    weekdays: list[Text] = Field(min_length=7, max_length=7)
    short_weekdays: list[list[Text]] = Field(default=[])
    other_months: dict[str, int] = Field(default={})
    seasons: list[list[Text]] = Field(min_length=4, max_length=4)
    ordinals: Literal["english", "first", "none"] = "none"
    first: list[Text] = Field(default=[])
    ranges: list[Text] = Field(default=[])
    holidays: list[Text] = Field(min_length=6)
    near: list[Text] = Field(default=[])
    told_by_text: dict[Literal["before", "which", "unit", "behind", "some"], list[Text]] = Field(default={})
    parts: list[Text] = Field(default=[])
    month_told: dict[Literal["of", "which", "month", "after"], list[Text]] = Field(default={})
    articles: list[Text] = Field(default=[])
    halves: list[Text] = Field(default=[])
    in_month: list[Text] = Field(default=[])
    years: list[Text] = Field(default=[])
    age_before_noun: str = "{n}"
    patterns: dict[str, list[Text]]
    times: list[Text] = Field(min_length=1)
    durations: list[Text] = Field(min_length=4)


class CalendarsFile(FileModel):
    """``calendars.yaml``, by language."""

    calendars: dict[str, CalendarEntry]


class DateNamesEntry(FileModel):
    """The months and weekdays of a language, one list for each form of the words; lists begin with January and Monday."""

    months: list[Annotated[list[Text], Field(min_length=12, max_length=12)]] = Field(min_length=1)
    weekdays: list[Annotated[list[Text], Field(min_length=7, max_length=7)]]


class DateNamesFile(FileModel):
    """``month_names.yaml``, by language."""

    names: dict[str, DateNamesEntry]


class NumeralsFile(FileModel):
    """``numerals.yaml``: the words of 0 to 120 by language."""

    numerals: dict[str, Annotated[list[Text], Field(min_length=121, max_length=121)]]


LARGEST: Final = 120
_SPACES: Final = re.compile(r"[\s-]+")


@cache
def _lists() -> dict[str, list[str]]:
    return load_data("piiloom.pii_values", "words/numerals.yaml", NumeralsFile).numerals


@cache
def _by_word(language: str) -> dict[str, int]:
    return {_SPACES.sub(" ", word.casefold()): number for number, word in reversed(list(enumerate(_lists().get(language, []))))}


@cache
def _finder(language: str) -> re.Pattern[str]:
    """Return a pattern for any number in words, the longest first; it matches whole words, also in "seventy-year-old"."""
    words = sorted(_by_word(language), key=lambda word: (-len(word), word))
    return re.compile(rf"\b(?:{'|'.join(re.escape(word).replace(chr(92) + ' ', '[ -]') for word in words)})\b", re.IGNORECASE)


def in_words(number: int, language: str) -> str | None:
    """Return *number* in words; None if it is not from 0 to 120 or the language has no words."""
    known = _lists().get(language)
    return known[number] if known and 0 <= number <= LARGEST else None


def other_word(text: str, language: str, change: Callable[[int], int]) -> str | None:
    """Replace the first number in words in *text* by *change* of it, keeping its capitals; the words reach from 0 to 120.

    *language* is tried first, then all others. Return None if there is no number in words.
    """
    spoken = (other_words(text, known, change, 1) for known in dict.fromkeys((language, *_lists())))
    return next((new for new in spoken if new is not None), None)


def other_words(text: str, language: str, change: Callable[[int], int], count: int = 0) -> str | None:
    """Replace the first *count* numbers in words of *language*, each of them for 0, as ``other_word`` does; no other language is tried."""

    def other(found: re.Match[str]) -> str:
        old = found.group()
        number = _by_word(language)[_SPACES.sub(" ", old.casefold())]
        wanted = change(number)
        limited = min(LARGEST, max(0, wanted))
        if limited == number and wanted > LARGEST:  # as far below the largest as it lies above
            limited = max(0, 2 * LARGEST - wanted)
        new = in_words(limited, language) or old
        return new.upper() if old.isupper() else with_capital(new) if old[0].isupper() else new

    if language not in _lists():
        return None
    new, found = _finder(language).subn(other, text, count)
    return new if found else None


FALLBACK: Final = "en"


class DateWord(NamedTuple):
    """The meaning of a date word.

    ``field`` is "month", "weekday", "season" or "first" (the word for the first of a month). ``number`` counts from 1 (January, Monday).
    """

    field: str
    number: int
    short: bool


@cache
def calendars() -> dict[str, CalendarEntry]:
    """Return the date words of all languages by ISO 639-1 code; cached."""
    return load_data("piiloom.pii_values", "words/calendars.yaml", CalendarsFile).calendars


@cache
def date_names() -> dict[str, DateNamesEntry]:
    """Return the months and weekdays of the languages that ``calendars`` lacks; cached."""
    return load_data("piiloom.pii_values", "words/month_names.yaml", DateNamesFile).names


@cache
def date_order(language: str, country: str) -> Order:
    """Return the usual order of day, month and year: the language's, or the country's if the language has several (English)."""
    known = calendars().get(language)
    return (known.order if known else None) or facts_of(country).order


def calendar_of(language: str) -> CalendarEntry:
    """Return the date words of *language*, or the English ones if it has none."""
    known = calendars()
    return known.get(language) or known[FALLBACK]


DATE_FIELD: Final = re.compile(r"\{(\w+)\}")
_FIELDS: Final[dict[str, Callable[[date, CalendarEntry], str]]] = {
    "d": lambda day, words: "1er" if day.day == 1 and words.ordinals == "first" else str(day.day),
    "dd": lambda day, _: f"{day.day:02d}",
    "nth": lambda day, _: f"{day.day}{ordinal_suffix('th', day.day, 'th')}",
    "m": lambda day, _: str(day.month),
    "mm": lambda day, _: f"{day.month:02d}",
    "mon": lambda day, words: words.short_months[day.month - 1][0],
    "month": lambda day, words: words.months[day.month - 1],
    "yy": lambda day, _: f"{day.year % 100:02d}",
    "yyyy": lambda day, _: str(day.year),
    "wd": lambda day, words: words.short_weekdays[day.weekday()][0] if words.short_weekdays else words.weekdays[day.weekday()],
    "weekday": lambda day, words: words.weekdays[day.weekday()],
}


def written_day(form: str, language: str, day: date) -> str:
    """Return *form* ("{weekday} {d} {month} {yyyy}") with its fields filled by *day*."""
    words = calendar_of(language)
    return DATE_FIELD.sub(lambda field: _FIELDS[field[1]](day, words), form)


@cache
def meanings(language: str) -> dict[str, DateWord]:
    """Return every date word of *language* (casefolded) with its meaning; raises ``KeyError`` for an unknown language."""
    own = calendars().get(language)
    rows: list[tuple[str, bool, Iterable[Iterable[str]]]]
    if own is None:
        names = date_names()[language]
        rows = [("weekday", False, zip(form)) for form in reversed(names.weekdays)]
        rows += [("month", False, zip(form)) for form in reversed(names.months)]
    else:
        others = [[word for word, of in own.other_months.items() if of == number] for number in range(1, 13)]
        rows = [  # of equal words the last one counts
            ("season", False, own.seasons),
            ("weekday", True, own.short_weekdays),
            ("month", True, own.short_months),
            ("month", False, others),
            ("weekday", False, zip(own.weekdays)),
            ("month", False, zip(own.months)),
            ("first", False, [own.first]),
        ]
    return {
        word.casefold(): DateWord(field, number, short)
        for field, short, lists in rows
        for number, words in enumerate(lists, 1)
        for word in words
    }


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


def written_word(field: str, style: str, text: str, when: date, language: str, *, dotted: bool) -> str:
    """Return the month, weekday or season of *when* in the form and capitals of *style* (see ``date_parsing.Part``).

    *text* is the original word; it is kept if it fits. *dotted* says that a full stop follows, so a word of up to four letters is
    taken for an abbreviation.
    """
    form, _, number = style.rpartition(":")
    if field == "first":
        return text if when.day == 1 else str(when.day)
    if language not in calendars() and language in date_names():  # in the form of *text*: "maja" becomes "lutego", "maj" becomes "luty"
        names = date_names()[language]
        at, forms = (when.month - 1, names.months) if field == "month" else (when.weekday(), names.weekdays)
        return _cased(form, next((words for words in forms if text.casefold() in map(str.casefold, words)), forms[0])[at])
    own = calendar_of(language)
    short = form.endswith("-short")
    if field == "month":
        if when.month == int(number):
            return text
        at = when.month - 1
        word = _short_month(own.short_months, text, int(number) - 1, at) if short or (dotted and len(text) <= 4) else own.months[at]
    elif field == "weekday":
        at = when.isoweekday() - 1
        if when.isoweekday() == int(number):
            return text
        word = own.short_weekdays[at][0] if short and own.short_weekdays else own.weekdays[at]
    else:
        season = when.month % 12 // 3
        word = text if 3 * int(number) % 12 // 3 == season else own.seasons[(season - 1) % 4][0]
    return _cased(form, word)


def _short_month(forms: list[list[str]], text: str, old: int, new: int) -> str:
    """Return the short name of the month *new* in the form of *text*, that of *old*: Polish has "styczeń" and "sty"."""
    column = max((at for at, word in enumerate(forms[old]) if word.casefold() == text.casefold()), default=0)  # "maj" is both
    return forms[new][column] if column < len(forms[new]) else forms[new][0]


def _cased(form: str, word: str) -> str:
    return word.upper() if form.startswith("upper") else word[0].upper() + word[1:] if form.startswith("title") else word.lower()


def ordinal_suffix(folded: str, day: int, text: str) -> str:
    """Return the ordinal suffix for *day* in the language and case of the original suffix *text* (casefolded: *folded*).

    For example, "st" becomes "th", "er" becomes "", "de" becomes "ste", and "a" (Swedish "1:a") becomes "e".
    """
    teen = 11 <= day % 100 <= 13
    last = day % 10
    match folded:
        case "st" | "nd" | "rd" | "th":
            new = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(last, "th")
        case "er" | "º" | "ª" | "o":
            new = text if day == 1 else ""
        case "ste" | "de":
            new = "ste" if day in {1, 8} or day >= 20 else "de"
        case "a":
            new = "a" if last in {1, 2} and not teen and day != 12 else "e"
        case _:
            new = text
    return new.upper() if text.isupper() and len(text) > 1 else new


_PARTS_OF_TOLD: Final = ("before", "which", "unit", "behind", "some")
_WORD: Final = re.compile(r"[^\W\d_]+")
_INITIALS: Final = 2  # capitals that are a time zone ("PT"), not the Polish weekday
_DATE_WORD: Final = re.compile(r"[^\W\d_]+(?:-feira\b)?")


@cache
def _near() -> frozenset[str]:
    return frozenset(f"{word} {part}".rstrip() for known in calendars().values() for word in known.near for part in ("", *known.parts))


@cache
def _of_month() -> re.Pattern[str]:
    spoken = []
    for known in calendars().values():
        of, which, month, after = (any_of(known.month_told.get(place, ())) for place in ("of", "which", "month", "after"))
        if month:
            spoken.append(rf"(?:(?:{of}) )?(?:(?:{which}) ){{0,2}}(?:{month})(?: (?:{after}))?")
    return re.compile(rf"\s+(?:{'|'.join(spoken)})$", re.IGNORECASE)


@cache
def _half() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{any_of(word for known in calendars().values() for word in known.halves)})(?!\w)", re.IGNORECASE)


@cache
def day_articles() -> frozenset[str]:
    """Return the small words, in small letters, that stand beside the number of a day."""
    return frozenset(word for known in calendars().values() for word in known.articles)


@cache
def in_month() -> re.Pattern[str]:
    """Return the pattern of what stands right before a month and its year: "in [DATE] 2012"."""
    words = any_of(word for known in calendars().values() for word in known.in_month)
    return re.compile(rf"\b(?:{words})\s+\Z", re.IGNORECASE)


@cache
def year_follows() -> re.Pattern[str]:
    """Return the pattern of a year, in digits or in words, that follows a day and a month."""
    words = any_of(word for known in calendars().values() for word in known.years)
    year = r"(?:1[89]|20)\d{2}\b"
    return re.compile(rf"[-/.]{year}(?![-/.]\d)|,? (?:(?:(?:of|de|del|do|di) )?{year}|['’]\d{{2}}\b|{words})")


@cache
def _units() -> dict[str, tuple[str, ...]]:
    """Return the languages of each word for a unit of time: most originals of dates have none, and need no pattern."""
    found: dict[str, tuple[str, ...]] = {}
    for language, known in calendars().items():
        for word in {word for unit in known.told_by_text.get("unit", ()) for word in _WORD.findall(unit.casefold())}:
            found[word] = (*found.get(word, ()), language)
    return found


@cache
def _told_by_text(language: str) -> re.Pattern[str]:
    """Return the pattern of a time that a number of units, or which of them it is, tells from that of the text; casefolded."""
    known = calendars()[language].told_by_text
    before, which, unit, behind, some = (
        any_of(sorted(map(str.casefold, known.get(part, ())), key=len, reverse=True)) for part in _PARTS_OF_TOLD
    )
    number = rf"(?:\d{{1,3}}|{some}|{any_of(sorted(map(str.casefold, _lists().get(language, [])), key=len, reverse=True))})"
    told = (
        rf"(?:(?:(?:{which}) )+(?:{number}[ -])?(?:{unit})|{number}[ -](?:{unit})(?: (?:{which}))?"
        rf"|(?:{unit}) (?:(?:{which})|(?={behind})))"
    )
    return re.compile(rf"(?:(?:{before})(?: |(?<=')))*(?:(?:{some}) )?{told}(?:,? ?(?:{behind}))*")


def names_unit(text: str) -> bool:
    """Whether a word for a unit of time is in *text*: "three weeks", "6 hours later"."""
    return any(word in _units() for word in _WORD.findall(text.casefold()))


def told_by_text(original: str) -> bool:
    """Whether *original* tells a time by that of its text, or how long something took: "tomorrow", "two days ago", "three weeks"."""
    told = " ".join(original.casefold().replace("’", "'").split())
    if told in _near():
        return True
    languages = {language for word in _WORD.findall(told) for language in _units().get(word, ())}
    return any(_told_by_text(language).fullmatch(told) for language in sorted(languages))


def of_month(original: str) -> re.Match[str] | None:
    """Return the match of a month that is told by that of the text, behind a day: "the 5th of this month"."""
    return _of_month().search(original)


def has_calendar(language: str) -> bool:
    """Whether the months and weekdays of *language* are known."""
    return language in calendars() or language in date_names()


def moved_words(text: str, language: str, months: int, days: int) -> str:
    """Return *text* with each month in words of *language* moved by *months*, and each weekday by *days*; no date is read."""
    known = meanings(language)

    def other(found: re.Match[str]) -> str:
        word = found.group()
        meaning = known.get(word.casefold())
        if meaning is None or meaning.field not in {"month", "weekday"} or (word.isupper() and len(word) == _INITIALS):
            return word
        case = "upper" if word.isupper() and len(word) > 1 else "title" if word[0].isupper() else "lower"
        month, day = (meaning.number + months - 1) % 12 + 1, (meaning.number + days - 1) % 7 + 1
        when = date(2024, month, 1) if meaning.field == "month" else date(2024, 1, day)  # a January that begins on a Monday
        style = f"{case}{'-short' if meaning.short else ''}:{meaning.number}"
        return written_word(meaning.field, style, word, when, language, dotted=text[found.end() : found.end() + 1] == ".")

    return _DATE_WORD.sub(other, text)


def tells_half(original: str) -> bool:
    """Whether a time tells the half of its day in words: "3 in the afternoon"."""
    return _half().search(original.replace("’", "'")) is not None
