"""The layout of a written date (its literals and fields), and writing another day in the same layout."""

from __future__ import annotations

from datetime import date
from typing import Final, Literal, NamedTuple

from piiloom.surrogates.kinds.date_words import ordinal_suffix, written_word
from piiloom.surrogates.kinds.files import Order

Precision = Literal["day", "month", "year", "season", "quarter", "decade", "weekday"]

_NUMERIC: Final = frozenset({"day", "month", "year", "quarter", "decade", "compact"})


class Part(NamedTuple):
    """A literal (``field`` "") or a field of a date.

    ``style`` says how the field is written: the width of a number, "CASE[-short]:NUMBER" of a word ("title-short:3"), or a suffix.
    """

    field: str
    text: str
    style: str = ""


class Layout(NamedTuple):
    """A parsed date. ``when`` is its day, or the first day of a longer period; missing fields are filled in from the anchor."""

    parts: tuple[Part, ...]
    precision: Precision
    when: date
    language: str
    order: Order


def write(layout: Layout, when: date) -> str:
    """Write the day *when* in the format of *layout*."""
    out = []
    for at, part in enumerate(layout.parts):
        field = part.field
        if field == "suffix":
            out.append(
                ordinal_suffix(part.style, when.day, part.text)
                if layout.parts[at - 1].field != "quarter"
                else _of_quarter(part, when, layout.language)
            )
        elif field in {"month", "weekday", "season", "first"} and ":" in part.style:
            dotted = at + 1 < len(layout.parts) and layout.parts[at + 1].text == "."
            out.append(written_word(field, part.style, part.text, when, layout.language, dotted=dotted))
        elif field == "day" and when.day == 1 and layout.language == "fr" and _named_month(layout, at):
            out.append("1er")  # the first of a month is the only ordinal in a French date
        elif field in _NUMERIC:
            out.append(_number(part, when))
        else:
            out.append(part.text)
    return "".join(out)


def _of_quarter(part: Part, when: date, language: str) -> str:
    """Return the ordinal suffix of the quarter of *when*: "1er trimestre" and "3e trimestre" in French."""
    number = (when.month + 2) // 3
    if language == "fr" or (language == "es" and part.style == "er"):
        return "er" if number == 1 or (number == 3 and language == "es") else "e" if language == "fr" else "º"
    return part.text if part.style == "e" else ordinal_suffix(part.style, number, part.text)


def _named_month(layout: Layout, at: int) -> bool:
    ordinal = at + 1 < len(layout.parts) and layout.parts[at + 1].field == "suffix"
    return not ordinal and any(part.field == "month" and ":" in part.style for part in layout.parts)


def _number(part: Part, when: date) -> str:
    match part.field:
        case "year":
            return f"{when.year % 100:02d}" if len(part.text) == 2 else f"{when.year:04d}"
        case "decade":
            decade = when.year // 10 * 10
            return f"{decade % 100:02d}" if len(part.text) == 2 else str(decade)
        case "quarter":
            return str((when.month + 2) // 3)
        case "compact":
            return f"{when:%Y%m%d}"
        case _:
            number = when.day if part.field == "day" else when.month
            return f"{number:0{part.style or 1}d}"
