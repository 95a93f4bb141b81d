"""Decide which number of a written date is the day, the month and the year.

The values decide if they can (a month is at most 12, a day at most 31), together with signs and words beside the numbers. Otherwise
the country's usual order decides. So a text is always read in the same way.
"""

from __future__ import annotations

from typing import Final

from piiloom.surrogates.kinds.around_dates import articles
from piiloom.surrogates.kinds.date_layouts import Part
from piiloom.surrogates.kinds.files import Order

_MARKS: Final = {"年": "year", "년": "year", "月": "month", "월": "month", "日": "day", "일": "day"}
_YEARS: Final = (1000, 2999)
_SIGNS: Final = frozenset({"/", "-", ".", "–", "-/", "/-"})  # "7-/2161": month and year, the day is left out
_QUARTER_GAP: Final = frozenset({" ", ".", "st", "nd", "rd", "th", "er", "e", "de", "ste", "º", "o", ":"})  # between a quarter and its word
_ENDS: Final = (["/"], ["-"], ["-", "/"], ["/", "-"])
_YEAR_DIGITS: Final = 4
_MOVED_FAR: Final = 2100  # MIMIC's dates begin here, "2151-7-16", and none of its months and days is padded
_NUMBERS: Final = 4  # a text with more numbers is not a date
_LONGEST: Final = 8  # digits of a number in a date (20120131)


def named_numbers(parts: list[Part], order: Order) -> list[Part] | None:
    """Return *parts* with a field name for every number; None if the numbers do not make a date."""
    places = [at for at, part in enumerate(parts) if part.field == "number"]
    if len(places) > _NUMBERS or any(len(parts[at].text) > _LONGEST for at in places):
        return None
    names = _names(parts, places, order)
    if names is None:
        return None
    out = list(parts)
    for at, name in zip(places, names, strict=True):
        text = parts[at].text
        out[at] = Part(name, text, str(len(text)) if text[0] == "0" or len(text) > 2 or _padded(parts, places, order) else "")
    return out


def _padded(parts: list[Part], places: list[int], order: Order) -> bool:
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


def _names(parts: list[Part], places: list[int], order: Order) -> list[str] | None:
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


def _beside_quarter(parts: list[Part], places: list[int], values: list[int]) -> list[str] | None:
    """Name the numbers of a quarter date: the quarter, beside its word, and possibly a year; None if there is no quarter."""
    sign = next(at for at, part in enumerate(parts) if part.field == "quarter_sign")
    near = [at for at, value in zip(places, values, strict=True) if value in range(1, 5) and _joined(parts, at, sign)]
    if len(near) != 1 or len(places) > 2 or not all(at in near or _is_year(parts[at].text) for at in places):
        return None
    return ["quarter" if at in near else "year" for at in places]


def _joined(parts: list[Part], one: int, other: int) -> bool:
    return all(part.text in _QUARTER_GAP for part in parts[min(one, other) + 1 : max(one, other)])


def _sound(names: list[str]) -> list[str] | None:
    return names if len(set(names)) == len(names) else None


def _is_year(text: str) -> bool:
    return (len(text) == 4 and _YEARS[0] <= int(text) <= _YEARS[1]) or len(text) == 2


def _beside_month(parts: list[Part], places: list[int], texts: list[str]) -> list[str] | None:
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


def _alone(parts: list[Part], places: list[int], texts: list[str], values: list[int], order: Order) -> list[str] | None:
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


def _one(parts: list[Part], at: int, text: str) -> list[str] | None:
    quoted = at > 0 and parts[at - 1].text in "'’‘"
    if (len(text) == 4 and _is_year(text)) or (len(text) == 2 and quoted):
        return ["year"]
    if len(text) == 8 and _is_year(text[:4]) and 1 <= int(text[4:6]) <= 12 and 1 <= int(text[6:]) <= 31:
        return ["compact"]
    if len(text) <= 2 and [part.text for part in parts[at + 1 :]] in _ENDS and not at:
        return ["month"] if 1 <= int(text) <= 12 else None  # a month whose year or day is left out: "7/", "7-/"
    follows = at + 1 < len(parts) and parts[at + 1].field == "suffix"
    weekday = any(part.field == "weekday" for part in parts)
    strange = any(part.field == "" and part.text.isalpha() and part.text.casefold() not in articles() for part in parts)
    return ["day"] if (follows or weekday) and not strange and len(text) <= 2 and 1 <= int(text) <= 31 else None


def _two(parts: list[Part], places: list[int], texts: list[str], values: list[int], order: Order) -> list[str] | None:
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
