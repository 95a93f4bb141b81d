"""Dates, and parts of dates, that stand in a text and were not redacted: what is put in beside them must be of their time."""

from __future__ import annotations

import re
from datetime import date
from functools import cache
from typing import Final, NamedTuple

from piiloom.foundation.words import any_of
from piiloom.surrogates.day_roles import Role, role_before
from piiloom.surrogates.kinds.around_dates import year_follows
from piiloom.surrogates.kinds.calendars import calendar_of, date_order
from piiloom.surrogates.kinds.date_masks import DateMask, mask_of, read_mask
from piiloom.surrogates.kinds.date_parsing import parse
from piiloom.surrogates.mentions import Mention

_MOST: Final = 40  # dates read in one document
_SEARCHED: Final = 60_000  # code points at the beginning of a document in which they are looked for
_YEAR: Final = re.compile(r"(?:19|20)\d\d(?!\d)")
_SHOWN_YEAR: Final = re.compile(r"\d{4}|\d\d")
_SOONEST: Final = date(1900, 1, 1)


class LiteralDate(NamedTuple):
    """A date at ``[start, end)`` and what it is the date of."""

    start: int
    end: int
    day: date
    role: Role


@cache
def _pattern(language: str) -> re.Pattern[str]:
    words = calendar_of(language)
    months = sorted({*words.months, *(short for forms in words.short_months for short in forms)}, key=lambda word: (-len(word), word))
    month = any_of(months)
    year = r"(?:19|20)\d\d(?!\d)"
    return re.compile(
        rf"(?<![\d./-])(?:\d{{1,2}}[-/.]\d{{1,2}}[-/.]{year}|{year}-\d\d-\d\d(?!\d)"
        rf"|\d{{1,2}}(?:er|\.|º)? (?:de )?(?:{month})\.? (?:de )?{year}|(?:{month})\.? \d{{1,2}}(?:st|nd|rd|th)?,? {year})",
        re.IGNORECASE,
    )


def shown_part(text: str, mention: Mention, language: str, country: str) -> DateMask | None:
    """Return what of the date at *mention* the text shows: "XX/XX/1984", or the year behind "[DATE], 1984"; None if it shows nothing."""
    mask = mask_of(mention.form, mention.original)
    follows = year_follows().match(text, mention.end) if not mention.original else None
    year = _SHOWN_YEAR.search(follows.group()) if follows else None
    told = f"XX/XX/{year.group()}" if year else mask
    return read_mask(told, language, country) if told else None


def literal_dates(text: str, language: str, country: str, anchor: date) -> list[LiteralDate]:
    """Return the days (with their year) that *text* tells outside placeholders, in text order; none after *anchor*."""
    found: list[LiteralDate] = []
    # A single digit is looked for in a twentieth of the time that two take, and many texts have none.
    century = ("0" in text and "20" in text) or ("9" in text and "19" in text)
    if not century or _YEAR.search(text, 0, _SEARCHED) is None:
        return found
    for match in _pattern(language).finditer(text, 0, _SEARCHED):
        layout = parse(match.group(), language, date_order(language, country), anchor)
        if layout is not None and layout.precision == "day" and _SOONEST <= layout.when <= anchor:
            found.append(LiteralDate(match.start(), match.end(), layout.when, role_before(text, match.start(), 0)))
            if len(found) == _MOST:
                break
    return found


def time_of(dates: list[LiteralDate], anchor: date) -> date:
    """Return the day as of which a text with these *dates* was written: its admission or visit, else the last one but births."""
    for role in ("start", "visit"):
        told = [one.day for one in dates if one.role == role]
        if told:
            return told[0]
    return max((one.day for one in dates if one.role != "birth"), default=anchor)
