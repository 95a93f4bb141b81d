"""Parse written dates: ``parse`` splits a text into literals and fields, so that ``write`` can write another day in the same format.

Format, language, precision and capitals are kept. A text that cannot be read as a date gives None; nothing raises.
"""

from __future__ import annotations

import re
from calendar import isleap
from datetime import date
from typing import Final

from piiloom.surrogates.kinds.calendars import Meaning, languages_for, meanings
from piiloom.surrogates.kinds.date_layouts import Layout, Part, Precision
from piiloom.surrogates.kinds.date_numbers import named_numbers
from piiloom.surrogates.kinds.files import Order

_TOKEN: Final = re.compile(r"[0-9]+|[^\W\d_]+|.", re.DOTALL)
_ZONE: Final = r"(?:\s?(?:Z|UTC|GMT|CEST|CET|[A-Z]{1,2}[SD]T)\b|\s?[+-][0-9]{2}:?[0-9]{2}\b)?"
_CLOCK: Final = re.compile(
    rf"(?:[T ,]*\b|(?<=[0-9])T)[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?(?:\s?[ap]\.?m\b\.?)?{_ZONE}"
    r"|(?<=[0-9])T[0-9]{4,6}Z?\b|\b[0-9]{1,2}\s?[ap]\.?m\b\.?|\b[0-9]{1,2}h(?:[0-9]{2})?\b",
    re.IGNORECASE,
)
_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th", "er", "e", "ste", "de", "a", "º", "ª", "o"})
# The last ones are those of a number alone: "Q3", "K3" and "T3".
_QUARTERS: Final = frozenset("quarter kwartaal quartal kvartal trimestre trim kwartał kwartale kvartaali kvartál q k t".split())
_YEARS: Final = (1000, 2999)
_LONGEST: Final = 60  # characters; a longer text is not read as a date


def parse(text: str, language: str, order: Order, anchor: date) -> Layout | None:
    """Parse *text* as a date; return None if it cannot be read as one. Never raises.

    *language* is tried first for words. *order* resolves ambiguous numbers, and *anchor* fills in a missing year or month.
    """
    if not text or len(text) > _LONGEST:
        return None
    parts, spoken = _tokens(text, language)
    named = named_numbers(parts, order)
    return _layout(named, spoken, order, anchor) if named is not None else None


def _tokens(text: str, language: str) -> tuple[list[Part], str]:
    """Split *text* into parts, and return them with the language of its words.

    The parts are literals, words with their meaning, and numbers, which still have the field "number".
    """
    parts: list[Part] = []
    at = 0
    for clock in _CLOCK.finditer(text):
        parts += [Part("token", token) for token in _TOKEN.findall(text[at : clock.start()])]
        parts.append(Part("", clock.group()))
        at = clock.end()
    parts += [Part("token", token) for token in _TOKEN.findall(text[at:])]
    spoken = _language([part.text.casefold() for part in parts if part.field == "token" and part.text.isalpha()], language)
    known = meanings(spoken) if spoken else {}
    found: list[Part] = []
    for part in parts:
        if part.field != "token":
            found.append(part)
        elif part.text[0] in "0123456789":
            found.append(Part("number", part.text))
        else:
            found.append(_word(part.text, known.get(part.text.casefold()), found))
    return found, spoken or language


def _language(words: list[str], first: str) -> str | None:
    """Return the language that knows most of *words*, *first* on a tie; None if no language knows any."""
    best, most = None, 0
    for word in words:
        for language in languages_for(word, first):
            known = sum(word in meanings(language) for word in words)
            if known > most:
                best, most = language, known
    return best


def _word(text: str, meaning: Meaning | None, before: list[Part]) -> Part:
    if meaning is not None:
        case = "upper" if text.isupper() and len(text) > 1 else "title" if text[0].isupper() else "lower"
        return Part(meaning.field, text, f"{case}{'-short' if meaning.short else ''}:{meaning.number}")
    last = before[-1] if before else None
    folded = text.casefold()
    swedish = last is not None and last.text == ":" and len(before) > 1 and before[-2].field == "number"
    if folded in _SUFFIXES and last is not None and (last.field == "number" or swedish):
        return Part("suffix", text, "a" if swedish else folded)
    if folded == "s" and last is not None and last.field == "number":
        return Part("plural", text)
    if folded in _QUARTERS:
        return Part("quarter_sign", text)
    return Part("", text)


def _layout(parts: list[Part], language: str, order: Order, anchor: date) -> Layout | None:
    """Compute the day from the fields; return None if the day does not exist or there is no field."""
    values = {part.field: part for part in parts if part.field}
    year = _year(values["year"].text, anchor) if "year" in values else None
    month = _month(values.get("month"))
    if "compact" in values:
        text = values["compact"].text
        year, month, day = int(text[:4]), int(text[4:6]), int(text[6:])
    elif "day" in values or "first" in values:
        day = int(values["day"].text) if "day" in values else 1
        if "first" in values and month is None:
            return None
    else:
        return _coarse(parts, values, year, month, language, order, anchor)
    if year is None:
        year = next(y for y in range(anchor.year, anchor.year + 9) if month != 2 or day != 29 or isleap(y))
    try:
        when = date(year, month or anchor.month, day)
    except ValueError:
        return None
    return Layout(tuple(parts), "day", when, language, order)


def _coarse(
    parts: list[Part], values: dict[str, Part], year: int | None, month: int | None, language: str, order: Order, anchor: date
) -> Layout | None:
    """Read a date without a day: weekday, decade, quarter, season, month or year; None if it is none of these."""
    if "weekday" in values and month is None and year is None:
        number = int(values["weekday"].style.rpartition(":")[2])
        return Layout(tuple(parts), "weekday", date(2024, 1, number), language, order)  # a January that begins on a Monday
    precision: Precision
    if "decade" in values:
        text = values["decade"].text
        decade = int(text) if len(text) == 4 else _year(text, anchor)
        if not _YEARS[0] <= decade <= _YEARS[1]:
            return None
        return Layout(tuple(parts), "decade", date(decade, 1, 1), language, order)
    if "quarter" in values:
        precision, month = "quarter", 3 * int(values["quarter"].text) - 2
    elif "season" in values:
        precision, month = "season", 3 * int(values["season"].style.rpartition(":")[2])
    elif month is not None:
        precision = "month"
    elif year is not None:
        precision, month = "year", 7
    else:
        return None
    return Layout(tuple(parts), precision, date(year or anchor.year, month, 1), language, order)


def _year(text: str, anchor: date) -> int:
    """Return the year; two digits mean one of the hundred years that end ten years after the anchor."""
    if len(text) != 2:
        return int(text)
    latest = anchor.year + 10
    return latest - (latest - int(text)) % 100


def _month(part: Part | None) -> int | None:
    if part is None:
        return None
    return int(part.style.rpartition(":")[2]) if ":" in part.style else int(part.text)
