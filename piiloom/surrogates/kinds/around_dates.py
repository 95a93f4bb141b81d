"""Words of dates and times that name no day themselves: "tomorrow", "of next month", "in the afternoon".

They are in ``data/words/calendars.yaml``; all languages are looked for in each text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.surrogates.kinds.calendars import calendars
from piiloom.surrogates.kinds.numerals import number_words

_PARTS_OF_TOLD: Final = ("before", "which", "unit", "behind", "some")
_WORD: Final = re.compile(r"[^\W\d_]+")


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
def articles() -> frozenset[str]:
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
    number = rf"(?:\d{{1,3}}|{some}|{any_of(number_words(language))})"
    told = (
        rf"(?:(?:(?:{which}) )+(?:{number}[ -])?(?:{unit})|{number}[ -](?:{unit})(?: (?:{which}))?"
        rf"|(?:{unit}) (?:(?:{which})|(?={behind})))"
    )
    return re.compile(rf"(?:(?:{before})(?: |(?<=')))*(?:(?:{some}) )?{told}(?:,? ?(?:{behind}))*")


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


def tells_half(original: str) -> bool:
    """Whether a time tells the half of its day in words: "3 in the afternoon"."""
    return _half().search(original.replace("’", "'")) is not None
