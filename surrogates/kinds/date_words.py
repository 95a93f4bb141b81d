"""The words and endings of a date, written for another day."""

from __future__ import annotations

from datetime import date

from piiloom.surrogates.kinds.calendars import calendar_of


def written_word(field: str, style: str, text: str, when: date, language: str, *, dotted: bool) -> str:
    """A month, weekday or season in the form and capitals of *style*; *dotted*: a full stop follows, so the word is a short form."""
    form, _, number = style.rpartition(":")
    if field == "first":
        return text if when.day == 1 else str(when.day)
    own = calendar_of(language)
    short = form.endswith("-short")
    if field == "month":
        if when.month == int(number):
            return text
        at = when.month - 1
        word = own.short_months[at][0] if short or (dotted and len(text) <= 4) else own.months[at]
    elif field == "weekday":
        at = when.isoweekday() - 1
        if when.isoweekday() == int(number):
            return text
        word = own.short_weekdays[at][0] if short and own.short_weekdays else own.weekdays[at]
    else:
        season = when.month % 12 // 3
        word = text if 3 * int(number) % 12 // 3 == season else own.seasons[(season - 1) % 4][0]
    return word.upper() if form.startswith("upper") else word[0].upper() + word[1:] if form.startswith("title") else word.lower()


def ordinal_suffix(folded: str, day: int, text: str) -> str:
    """The ending of a day's number in the manner of *text*: "1st" → "th", "1er" → "", "3de" → "ste", "1:a" → "e"."""
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
