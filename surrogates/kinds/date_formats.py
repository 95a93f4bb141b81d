"""A written date taken apart so that another day can be written in the same way: format, language, precision and capitals stay.

``parse`` splits the text into literals and fields; ``write`` puts other numbers and words into the fields. Numbers between
separators are told apart by their values where these decide (a month is at most 12, a day at most 31), else by the order that
is usual in the country, so one text is always read the same way.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final, Literal, NamedTuple

from surrogates.kinds.calendars import Meaning, languages_for, meanings
from surrogates.kinds.date_words import ordinal_suffix, written_word
from surrogates.kinds.files import Order

Precision = Literal["day", "month", "year", "season", "quarter", "decade", "weekday"]

_TOKEN: Final = re.compile(r"[0-9]+|[^\W\d_]+|.", re.DOTALL)
_CLOCK: Final = re.compile(
    r"[T ,]*\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:Z|UTC|GMT|CEST|CET|[A-Z]{1,2}[SD]T)\b|\s?[+-][0-9]{2}:?[0-9]{2}\b)?"
    r"|(?<=[0-9])T[0-9]{4,6}Z?\b|\b[0-9]{1,2}\s?[ap]\.?m\b\.?|\b[0-9]{1,2}h(?:[0-9]{2})?\b",
    re.IGNORECASE,
)
_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th", "er", "e", "ste", "de", "a", "º", "ª", "o"})
_QUARTERS: Final = frozenset({"q", "k", "t"})  # Quarter, kwartaal or Quartal (also kvartal), trimestre
_MARKS: Final = {"年": "year", "년": "year", "月": "month", "월": "month", "日": "day", "일": "day"}
_YEARS: Final = (1000, 2999)
_LONGEST: Final = 60  # characters of a date; longer texts are none
_NUMBERS: Final = 4


class Part(NamedTuple):
    """A literal (``field`` "") or a field with the way it is written: ``style`` is a width, a word's form and capitals, or a suffix."""

    field: str
    text: str
    style: str = ""


class Layout(NamedTuple):
    """A date as it was written. ``when`` is the (first) day meant; fields that are not given are filled in from the anchor."""

    parts: tuple[Part, ...]
    precision: Precision
    when: date
    language: str
    order: Order


def parse(text: str, language: str, order: Order, anchor: date) -> Layout | None:
    """*text* as a date, or None where it is none that we can read. Never raises."""
    if not text or len(text) > _LONGEST:
        return None
    parts, spoken = _tokens(text, language)
    named = _fields(parts, order)
    return _layout(named, spoken, order, anchor) if named is not None else None


def _tokens(text: str, language: str) -> tuple[list[Part], str]:
    """Literals, words with their meaning, and numbers still without one (field "number"); and the language of the words."""
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
    """The language that knows most of *words*, *first* where it is as good as any."""
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
        return Part("suffix", text, folded)
    if folded == "s" and last is not None and last.field == "number":
        return Part("plural", text)
    if folded in _QUARTERS:
        return Part("quarter_sign", text)
    return Part("", text)


def _fields(parts: list[Part], order: Order) -> list[Part] | None:
    """*parts* with every number named; None where the numbers make no date."""
    places = [at for at, part in enumerate(parts) if part.field == "number"]
    if len(places) > _NUMBERS:
        return None
    names = _names(parts, places, order)
    if names is None:
        return None
    out = list(parts)
    for at, name in zip(places, names, strict=True):
        text = parts[at].text
        out[at] = Part(name, text, str(len(text)) if text[0] == "0" or len(text) > 2 or _padded(parts, places) else "")
    return out


def _padded(parts: list[Part], places: list[int]) -> bool:
    """Whether a number of one of its fellows begins with a zero, so that all have two digits."""
    return any(parts[at].text[0] == "0" and len(parts[at].text) == 2 for at in places)


def _names(parts: list[Part], places: list[int], order: Order) -> list[str] | None:
    texts = [parts[at].text for at in places]
    values = [int(text) if len(text) <= 8 else -1 for text in texts]
    if any(value < 0 for value in values):
        return None
    marked = [_MARKS.get(parts[at + 1].text) if at + 1 < len(parts) else None for at in places]
    if places and all(marked):
        return _sound([mark or "" for mark in marked])
    signs = {part.field for part in parts}
    if "plural" in signs:
        decade = len(texts) == 1 and values[0] % 10 == 0 and len(texts[0]) in {2, 4}
        return ["decade"] if decade else None
    if "quarter_sign" in signs and places and parts[places[0] - 1].field == "quarter_sign" and places[0] > 0:
        if len(texts) == 1 and values[0] in range(1, 5):
            return ["quarter"]
        return ["quarter", "year"] if len(texts) == 2 and values[0] in range(1, 5) and _is_year(texts[1]) else None
    if "month" in signs:
        return _beside_month(parts, places, texts)
    if "season" in signs:
        return ["year"] * len(texts) if all(len(t) in {2, 4} for t in texts) and len(texts) <= 1 else None
    return _alone(parts, places, texts, values, order)


def _sound(names: list[str]) -> list[str] | None:
    return names if len(set(names)) == len(names) else None


def _is_year(text: str) -> bool:
    return (len(text) == 4 and _YEARS[0] <= int(text) <= _YEARS[1]) or len(text) == 2


def _beside_month(parts: list[Part], places: list[int], texts: list[str]) -> list[str] | None:
    """The numbers beside a month's name: a day, a year or both."""
    if sum(part.field == "month" for part in parts) > 1:
        return None
    names = []
    for at, text in zip(places, texts, strict=True):
        quoted = at > 0 and parts[at - 1].text in "'’‘"
        day = len(text) <= 2 and 1 <= int(text) <= 31 and not quoted and "day" not in names
        if not day and not _is_year(text):
            return None
        names.append("day" if day else "year")
    return _sound(names)


def _alone(parts: list[Part], places: list[int], texts: list[str], values: list[int], order: Order) -> list[str] | None:
    """Numbers without a month's name."""
    match len(texts):
        case 0:
            return [] if any(part.field == "weekday" for part in parts) else None
        case 1:
            return _one(parts, places[0], texts[0])
        case 2:
            return _two(parts, places, texts, values, order)
        case 3:
            return _three(parts[places[0] + 1].text, texts, values, order)
        case _:
            return None


def _one(parts: list[Part], at: int, text: str) -> list[str] | None:
    quoted = at > 0 and parts[at - 1].text in "'’‘"
    if (len(text) == 4 and _is_year(text)) or (len(text) == 2 and quoted):
        return ["year"]
    if len(text) == 8 and _is_year(text[:4]) and 1 <= int(text[4:6]) <= 12 and 1 <= int(text[6:]) <= 31:
        return ["compact"]
    follows = at + 1 < len(parts) and parts[at + 1].field == "suffix"
    weekday = any(part.field == "weekday" for part in parts)
    return ["day"] if (follows or weekday) and len(text) <= 2 and 1 <= int(text) <= 31 else None


def _two(parts: list[Part], places: list[int], texts: list[str], values: list[int], order: Order) -> list[str] | None:
    between = "".join(part.text for part in parts[places[0] + 1 : places[1]])
    if between.strip() not in {"/", "-", ".", "–"}:
        return None
    if len(texts[0]) == 4:
        return ["year", "month"] if _is_year(texts[0]) and 1 <= values[1] <= 12 and len(texts[1]) <= 2 else None
    if len(texts[1]) == 4 or values[1] > 31:
        return ["month", "year"] if _is_year(texts[1]) and 1 <= values[0] <= 12 else None
    if len(texts[0]) > 2 or len(texts[1]) > 2:
        return None
    return _by_order(("day", "month"), values, order == "dmy")


def _by_order(names: tuple[str, str], values: list[int], day_first: bool) -> list[str] | None:
    """Day and month in the order that their values allow, else in the usual one."""
    first, second = values[0], values[1]
    forward = 1 <= first <= 31 and 1 <= second <= 12
    backward = 1 <= first <= 12 and 1 <= second <= 31
    if forward and (day_first or not backward):
        return list(names)
    return list(reversed(names)) if backward else None


def _three(sign: str, texts: list[str], values: list[int], order: Order) -> list[str] | None:
    if len(texts[0]) == 4:
        swapped = values[1] > 12
        names = ["year", "day", "month"] if swapped else ["year", "month", "day"]
        return names if _is_year(texts[0]) and max(len(texts[1]), len(texts[2])) <= 2 else None
    if max(map(len, texts[:2])) > 2 or not _is_year(texts[2]):
        return None
    if len(texts[2]) == 2 and (values[0] > 31 or (order == "ymd" and 1 <= values[1] <= 12 and 1 <= values[2] <= 31)):
        return ["year", "month", "day"]
    pair = _by_order(("day", "month"), values[:2], order != "mdy" or sign == ".")
    return [*pair, "year"] if pair else None


def _layout(parts: list[Part], language: str, order: Order, anchor: date) -> Layout | None:
    """The day that the fields mean; None where there is no such day or no field at all."""
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
        year = next(y for y in range(anchor.year, anchor.year + 9) if month != 2 or day != 29 or _leap(y))
    try:
        when = date(year, month or anchor.month, day)
    except ValueError:
        return None
    return Layout(tuple(parts), "day", when, language, order)


def _coarse(
    parts: list[Part], values: dict[str, Part], year: int | None, month: int | None, language: str, order: Order, anchor: date
) -> Layout | None:
    """Dates that name no day."""
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


def _leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _year(text: str, anchor: date) -> int:
    """Two digits are a year of the hundred that end ten years after the anchor."""
    if len(text) != 2:
        return int(text)
    latest = anchor.year + 10
    return latest - (latest - int(text)) % 100


def _month(part: Part | None) -> int | None:
    if part is None:
        return None
    return int(part.style.rpartition(":")[2]) if ":" in part.style else int(part.text)


def write(layout: Layout, when: date) -> str:
    """*when* as *layout* was written."""
    out = []
    for at, part in enumerate(layout.parts):
        field = part.field
        if field == "suffix":
            out.append(ordinal_suffix(part.style, when.day, part.text))
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


def _named_month(layout: Layout, at: int) -> bool:
    ordinal = at + 1 < len(layout.parts) and layout.parts[at + 1].field == "suffix"
    return not ordinal and any(part.field == "month" and ":" in part.style for part in layout.parts)


_NUMERIC: Final = frozenset({"day", "month", "year", "quarter", "decade", "compact"})


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
