"""Parsing dates: the layout of a written date, its numbers, and another day in the same layout.

Format, language, precision and capitals are kept.

The values decide which number is the day, the month and the year if they can (a month is at most 12, a day at most 31). Signs and words
beside the numbers help. Otherwise the country's usual order decides. So a text is always read in the same way.
"""

from __future__ import annotations

import re
from calendar import isleap
from datetime import date
from itertools import zip_longest
from typing import Final, Literal, NamedTuple, cast

from piiloom.pii_values.countries import Order
from piiloom.pii_values.rewriting.calendars import DateWord, day_articles, languages_for, meanings, ordinal_suffix, written_word

Precision = Literal["day", "month", "year", "season", "quarter", "decade", "weekday"]

_NUMERIC: Final = frozenset({"day", "month", "year", "quarter", "decade", "compact"})


class DatePart(NamedTuple):
    """A literal (``field`` "") or a field of a date.

    ``style`` says how the field is written: the width of a number, "CASE[-short]:NUMBER" of a word ("title-short:3"), or a suffix.
    """

    field: str
    text: str
    style: str = ""

    @property
    def number(self) -> int:
        """The number, also that of a word: 3 of "March"."""
        return int(self.style.rpartition(":")[2] if ":" in self.style else self.text)


class Layout(NamedTuple):
    """A parsed date. ``when`` is its day, or the first day of a longer period; missing fields are filled in from the anchor."""

    parts: tuple[DatePart, ...]
    precision: Precision
    when: date
    language: str
    order: Order


def write_date(layout: Layout, when: date) -> str:
    """Write the day *when* in the format of *layout*."""
    out = []
    named = any(part.field == "month" and ":" in part.style for part in layout.parts)
    for at, (part, following) in enumerate(zip_longest(layout.parts, layout.parts[1:], fillvalue=DatePart("", ""))):
        field = part.field
        if field == "suffix":
            out.append(
                ordinal_suffix(part.style, when.day, part.text)
                if layout.parts[at - 1].field != "quarter"
                else _of_quarter(part, when, layout.language)
            )
        elif field in {"month", "weekday", "season", "first"} and ":" in part.style:
            out.append(written_word(field, part.style, part.text, when, layout.language, dotted=following.text == "."))
        elif field == "day" and when.day == 1 and layout.language == "fr" and named and following.field != "suffix":
            out.append("1er")  # the first of a month is the only ordinal in a French date
        elif field in _NUMERIC:
            out.append(_number(part, when))
        else:
            out.append(part.text)
    return "".join(out)


def _of_quarter(part: DatePart, when: date, language: str) -> str:
    """Return the ordinal suffix of the quarter of *when*: "1er trimestre" and "3e trimestre" in French."""
    number = (when.month + 2) // 3
    if language == "fr" or (language == "es" and part.style == "er"):
        return "er" if number == 1 or (number == 3 and language == "es") else "e" if language == "fr" else "º"
    return part.text if part.style == "e" else ordinal_suffix(part.style, number, part.text)


def _number(part: DatePart, when: date) -> str:
    two = len(part.text) == 2
    decade = when.year // 10 * 10
    written = {
        "year": f"{when.year % 100:02d}" if two else f"{when.year:04d}",
        "decade": f"{decade % 100:02d}" if two else str(decade),
        "quarter": str((when.month + 2) // 3),
        "compact": f"{when:%Y%m%d}",
    }
    return written.get(part.field) or f"{when.day if part.field == 'day' else when.month:0{part.style or 1}d}"


_MARKS: Final = {"年": "year", "년": "year", "月": "month", "월": "month", "日": "day", "일": "day"}
_SIGNS: Final = frozenset({"/", "-", ".", "–", "-/", "/-"})  # "7-/2161": month and year, the day is left out
_QUARTER_GAP: Final = frozenset({" ", ".", "st", "nd", "rd", "th", "er", "e", "de", "ste", "º", "o", ":"})  # between a quarter and its word
_ENDS: Final = (["/"], ["-"], ["-", "/"], ["/", "-"])
_YEAR_DIGITS: Final = 4
_MOVED_FAR: Final = 2100  # MIMIC's dates begin here, "2151-7-16", and none of its months and days is padded
_NUMBERS: Final = 4  # a text with more numbers is not a date
_MOST_DIGITS: Final = 8  # digits of a number in a date (20120131)


def named_numbers(parts: list[DatePart], order: Order) -> list[DatePart] | None:
    """Return *parts* with a field name for every number; None if the numbers do not make a date."""
    places = [at for at, part in enumerate(parts) if part.field == "number"]
    if len(places) > _NUMBERS or any(len(parts[at].text) > _MOST_DIGITS for at in places):
        return None
    names = _names(parts, places, order)
    if names is None:
        return None
    out = list(parts)
    for at, name in zip(places, names, strict=True):
        text = parts[at].text
        out[at] = DatePart(name, text, str(len(text)) if text[0] == "0" or len(text) > 2 or _padded(parts, places, order) else "")
    return out


def _padded(parts: list[DatePart], places: list[int], order: Order) -> bool:
    """Whether days and months are zero-padded to two digits.

    They are if one begins with a zero, or if all have two digits, no month is named and the year is first, or the order is not month first.
    """
    texts = [parts[at].text for at in places if len(parts[at].text) <= 2]
    if any(text[0] == "0" for text in texts):
        return True
    if any(len(text) != 2 for text in texts) or any(part.field == "month" for part in parts):
        return False
    year_first = len(parts[places[0]].text) == _YEAR_DIGITS and int(parts[places[0]].text) < _MOVED_FAR
    return bool(texts) and (year_first or (order != "mdy" and len(places) > 1))


def _names(parts: list[DatePart], places: list[int], order: Order) -> list[str] | None:
    texts = [parts[at].text for at in places]
    values = [int(text) for text in texts]
    marked = [_MARKS.get(parts[at + 1].text, "") if at + 1 < len(parts) else "" for at in places]
    if places and all(marked):
        return _sound(marked)
    signs = {part.field for part in parts}
    if "plural" in signs:
        return ["decade"] if len(texts) == 1 and values[0] % 10 == 0 and len(texts[0]) in {2, 4} else None
    if "quarter_sign" in signs and (quarter := _beside_quarter(parts, places, values)) is not None:
        return quarter
    if "month" in signs:
        return _beside_month(parts, places, texts)
    if "season" in signs:
        return ["year"] * len(texts) if len(texts) <= 1 and all(len(text) in {2, 4} for text in texts) else None
    return _alone(parts, places, texts, values, order)


def _beside_quarter(parts: list[DatePart], places: list[int], values: list[int]) -> list[str] | None:
    """Name the numbers of a quarter date: the quarter, beside its word, and possibly a year; None if there is no quarter."""
    sign = next(at for at, part in enumerate(parts) if part.field == "quarter_sign")
    near = [
        at
        for at, value in zip(places, values, strict=True)
        if value in range(1, 5) and all(part.text in _QUARTER_GAP for part in parts[min(at, sign) + 1 : max(at, sign)])
    ]
    if len(near) != 1 or len(places) > 2 or not all(at in near or _is_year(parts[at].text) for at in places):
        return None
    return ["quarter" if at in near else "year" for at in places]


def _sound(names: list[str]) -> list[str] | None:
    return names if len(set(names)) == len(names) else None


def _is_year(text: str) -> bool:
    return (len(text) == 4 and _YEARS[0] <= int(text) <= _YEARS[1]) or len(text) == 2


def _beside_month(parts: list[DatePart], places: list[int], texts: list[str]) -> list[str] | None:
    """Name the numbers beside a month's name: a day, a year or both."""
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


def _alone(parts: list[DatePart], places: list[int], texts: list[str], values: list[int], order: Order) -> list[str] | None:
    """Name the numbers of a date without a month's name."""
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


def _one(parts: list[DatePart], at: int, text: str) -> list[str] | None:
    quoted = at > 0 and parts[at - 1].text in "'’‘"
    if (len(text) == 4 and _is_year(text)) or (len(text) == 2 and quoted):
        return ["year"]
    if len(text) == 8 and _is_year(text[:4]) and 1 <= int(text[4:6]) <= 12 and 1 <= int(text[6:]) <= 31:
        return ["compact"]
    if len(text) <= 2 and [part.text for part in parts[at + 1 :]] in _ENDS and not at:
        return ["month"] if 1 <= int(text) <= 12 else None  # a month whose year or day is left out: "7/", "7-/"
    follows = at + 1 < len(parts) and parts[at + 1].field == "suffix"
    weekday = any(part.field == "weekday" for part in parts)
    strange = any(part.field == "" and part.text.isalpha() and part.text.casefold() not in day_articles() for part in parts)
    return ["day"] if (follows or weekday) and not strange and len(text) <= 2 and 1 <= int(text) <= 31 else None


def _two(parts: list[DatePart], places: list[int], texts: list[str], values: list[int], order: Order) -> list[str] | None:
    between = "".join(part.text for part in parts[places[0] + 1 : places[1]])
    if between.strip() not in _SIGNS:
        return None
    if len(texts[0]) == 4:
        if between == "/" and values[1] == (values[0] + 1) % 100:
            return None  # "2010/11": two years
        return ["year", "month"] if _is_year(texts[0]) and 1 <= values[1] <= 12 and len(texts[1]) <= 2 else None
    if len(texts[1]) == 4 or values[1] > 31:
        return ["month", "year"] if _is_year(texts[1]) and 1 <= values[0] <= 12 else None
    if len(texts[0]) > 2 or len(texts[1]) > 2:
        return None
    return _by_order(("day", "month"), values, order == "dmy" or between.strip() == ".")


def _by_order(names: tuple[str, str], values: list[int], day_first: bool) -> list[str] | None:
    """Return *names* in the order that *values* allow, in the usual one (*day_first*) if both are possible; None if neither is."""
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


_TOKEN: Final = re.compile(r"[0-9]+|[^\W\d_]+(?:-feira\b)?|.", re.DOTALL)  # "segunda-feira" is one word, "segunda" a short one
_ZONE: Final = r"(?:\s?(?:Z|UTC|GMT|CEST|CET|[A-Z]{1,2}[SD]T)\b|\s?[+-][0-9]{2}:?[0-9]{2}\b)?"
_CLOCK: Final = re.compile(
    rf"(?:[T ,]*\b|(?<=[0-9])T)[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?(?:\s?[ap]\.?m\b\.?)?{_ZONE}"
    r"|(?<=[0-9])T[0-9]{4,6}Z?\b|\b[0-9]{1,2}(?:\.[0-5][0-9])?\s?[ap]\.?m\b\.?|\b[0-9]{1,2}h(?:[0-9]{2})?\b",
    re.IGNORECASE,
)
_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th", "er", "e", "ste", "de", "a", "º", "ª", "o"})
# The last ones are those of a number alone: "Q3", "K3" and "T3".
_QUARTERS: Final = frozenset("quarter kwartaal quartal kvartal trimestre trim kwartał kwartale kvartaali kvartál q k t".split())
_YEARS: Final = (1000, 2999)
_COARSE: Final = ("decade", "quarter", "season", "month", "year")  # precisions of dates without a day, in the order of what tells them
_LONGEST: Final = 60  # characters; a longer text is not read as a date


def read_date(text: str, language: str, order: Order, anchor: date) -> Layout | None:
    """Parse *text* as a date; return None if it cannot be read as one. Never raises.

    *language* is tried first for words. *order* resolves ambiguous numbers, and *anchor* fills in a missing year or month.
    """
    if not text or len(text) > _LONGEST:
        return None
    parts, spoken = _tokens(text, language)
    if sum(part.field == "weekday" for part in parts) > 1:
        return None  # "Monday to Friday"
    named = named_numbers(parts, order)
    return _layout(named, spoken, order, anchor) if named is not None else None


def _tokens(text: str, language: str) -> tuple[list[DatePart], str]:
    """Split *text* into parts, and return them with the language of its words.

    The parts are literals, words with their meaning, and numbers, which still have the field "number".
    """
    parts: list[DatePart] = []
    at = 0
    for clock in _CLOCK.finditer(text):
        parts += [DatePart("token", token) for token in _TOKEN.findall(text[at : clock.start()])]
        parts.append(DatePart("", clock.group()))
        at = clock.end()
    parts += [DatePart("token", token) for token in _TOKEN.findall(text[at:])]
    spoken = _language([part.text.casefold() for part in parts if part.field == "token" and part.text[0].isalpha()], language)
    known = meanings(spoken) if spoken else {}
    found: list[DatePart] = []
    for part in parts:
        if part.field != "token":
            found.append(part)
        elif part.text[0] in "0123456789":
            found.append(DatePart("number", part.text))
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


def _word(text: str, meaning: DateWord | None, before: list[DatePart]) -> DatePart:
    if meaning is not None:
        case = "upper" if text.isupper() and len(text) > 1 else "title" if text[0].isupper() else "lower"
        return DatePart(meaning.field, text, f"{case}{'-short' if meaning.short else ''}:{meaning.number}")
    last = before[-1] if before else None
    folded = text.casefold()
    swedish = last is not None and last.text == ":" and len(before) > 1 and before[-2].field == "number"
    if folded in _SUFFIXES and last is not None and (last.field == "number" or swedish):
        return DatePart("suffix", text, "a" if swedish else folded)
    if folded == "s" and last is not None and last.field == "number":
        return DatePart("plural", text)
    if folded in _QUARTERS:
        return DatePart("quarter_sign", text)
    return DatePart("", text)


def _layout(parts: list[DatePart], language: str, order: Order, anchor: date) -> Layout | None:
    """Compute the day, or the first day of a longer period, from the fields; return None if it does not exist or there is no field."""
    values = {part.field: part for part in parts if part.field}
    year = _year(values["year"].text, anchor) if "year" in values else None
    month = values["month"].number if "month" in values else None
    day, precision = 1, cast("Precision", next((name for name in _COARSE if name in values), "day"))
    if "compact" in values:
        text = values["compact"].text
        year, month, day, precision = int(text[:4]), int(text[4:6]), int(text[6:]), "day"
    elif "day" in values or "first" in values:
        day, precision = values["day"].number if "day" in values else 1, "day"
        if "first" in values and month is None:
            return None
    elif "weekday" in values and month is None and year is None:
        year, month, day, precision = 2024, 1, values["weekday"].number, "weekday"  # a January that begins on a Monday
    elif precision == "decade":
        text = values["decade"].text
        year, month = int(text) if len(text) == 4 else _year(text, anchor), 1
        if not _YEARS[0] <= year <= _YEARS[1]:
            return None
    elif precision == "day":
        return None
    else:
        number = values[precision].number if precision in values else 0
        month = {"quarter": 3 * number - 2, "season": 3 * number, "year": 7}.get(precision, month)
        year = year or anchor.year
    if year is None:
        year = next(y for y in range(anchor.year, anchor.year + 9) if month != 2 or day != 29 or isleap(y))
    try:
        when = date(year, month or anchor.month, day)
    except ValueError:
        return None
    return Layout(tuple(parts), precision, when, language, order)


def _year(text: str, anchor: date) -> int:
    """Return the year; two digits mean one of the hundred years that end ten years after the anchor."""
    if len(text) != 2:
        return int(text)
    latest = anchor.year + 10
    return latest - (latest - int(text)) % 100
