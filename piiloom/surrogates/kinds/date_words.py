"""Write the words and ordinal suffixes of a date for another day."""

from __future__ import annotations

from datetime import date

from piiloom.surrogates.kinds.calendars import calendar_of, calendars, date_names


def written_word(field: str, style: str, text: str, when: date, language: str, *, dotted: bool) -> str:
    """Return the month, weekday or season of *when* in the form and capitals of *style* (see ``date_layouts.Part``).

    *text* is the original word; it is kept if it fits. *dotted* says that a full stop follows, so a word of up to four letters is
    taken for an abbreviation.
    """
    form, _, number = style.rpartition(":")
    if field == "first":
        return text if when.day == 1 else str(when.day)
    if language not in calendars() and language in date_names():
        return _cased(form, _in_form_of(field, text, when, language))
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


def _in_form_of(field: str, text: str, when: date, language: str) -> str:
    """Return the month or weekday of *when* in the form of the word *text*: "maja" becomes "lutego", and "maj" becomes "luty"."""
    names = date_names()[language]
    at, forms = (when.month - 1, names.months) if field == "month" else (when.weekday(), names.weekdays)
    folded = text.casefold()
    return next((form for form in forms if folded in map(str.casefold, form)), forms[0])[at]


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
