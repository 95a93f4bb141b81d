"""Other numbers in the layout of a value: "$52,400 a year" gives "$37,900 a year", "67-year-old" gives "41-year-old"."""

from __future__ import annotations

import random
import re
from typing import Final

from piiloom.pii_values.lexicons import listed

_RUN: Final = re.compile(r"\d+")
_IN_YEAR: Final = re.compile(r"(?i)(?<=\bin )(?:19|20)\d\d\b|(?<=\bsince )(?:19|20)\d\d\b")
_AFTER_POINT: Final = re.compile(r"\d[.,]\d(?!\d)")
_FEET: Final = re.compile(r"([4-7])(\s*(?:'|’|′|-?\s?(?:ft|feet|foot)\b)\D{0,5})(\d{1,2})?")
_ORDINAL: Final = re.compile(r"(\d+)(st|nd|rd|th)\b")
_AGES: Final = {1: (2, 9), 2: (18, 89), 3: (100, 105)}


def renumbered(text: str, rng: random.Random) -> str:
    """Return *text* with other numbers of as many digits. Zeros at the end and a 1 that stands alone ("1 year") stay; years are near."""

    def other(found: re.Match[str]) -> str:
        if _IN_YEAR.match(text, found.start()):
            return str(int(found.group()) - rng.randint(1, 6))
        if len(found.group()) == 1 and _AFTER_POINT.match(text, found.start() - 2):
            return found.group()  # the half of "2.5 years"
        return _other(found.group(), rng)

    return _mended(_RUN.sub(other, text))


def another_age(text: str, rng: random.Random) -> str:
    """Return *text* with other ages: of as many digits, and adults stay adults."""

    def other(found: re.Match[str]) -> str:
        if text[found.end() : found.end() + 1] == "s" and found.group().endswith("0"):  # "late 40s"
            return f"{rng.randint(2, 8)}0"
        bounds = _AGES.get(len(found.group()))
        return str(rng.randint(*bounds)) if bounds else _other(found.group(), rng)

    return _RUN.sub(other, text)


def another_measure(text: str, rng: random.Random) -> str:
    """Return *text* with another height or weight; the hundreds stay, feet are 4 to 6 and inches below 12."""
    if _FEET.search(text):
        return _FEET.sub(lambda found: f"{rng.randint(4, 6)}{found[2]}{_inches(found[3], rng)}", text)

    def other(found: re.Match[str]) -> str:
        run = found.group()
        if len(run) == 3 and run[0] == "1":
            return f"1{rng.randint(10, 99)}" if int(run) < 140 else f"1{rng.randint(45, 99)}"
        return str(rng.randint(42, 99)) if len(run) == 2 else _other(run, rng)

    return _RUN.sub(other, text)


def another_numeral(text: str, locale: str, rng: random.Random, *, low: int, high: int) -> str:
    """Return *text* with other number words of *locale* from *low* to *high*; words outside that range stay."""
    names = listed("numbers", locale)
    known = {name: number for number, name in enumerate(names) if low <= number <= high}
    # The longest first: "forty-two" before "two".
    pattern = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))

    def other(found: re.Match[str]) -> str:
        word = names[rng.randint(low, min(high, len(names) - 1))]
        return word.capitalize() if found.group()[0].isupper() else word

    return re.sub(rf"(?i)(?<![\w-])(?:{pattern})(?!\w)", other, text)


def _other(run: str, rng: random.Random) -> str:
    """Return another number of the same length; leading and trailing zeros stay."""
    if run == "1":
        return run
    bare = run.lstrip("0")
    zeros = len(run) - len(bare)
    kept = bare.rstrip("0")
    if not kept:
        return run
    if len(bare) == 1:
        return "0" * zeros + str(rng.randint(2, 9))
    first, rest = rng.randint(1, 9), "".join(str(rng.randint(0, 9)) for _ in kept[1:])
    return "0" * zeros + str(first) + rest + "0" * (len(bare) - len(kept))


def _inches(run: str | None, rng: random.Random) -> str:
    if run is None:
        return ""
    return str(rng.randint(0, 9) if len(run) == 1 else rng.randint(10, 11))


def _mended(text: str) -> str:
    """Return *text* with the English endings that its ordinal numbers ask for."""
    return _ORDINAL.sub(lambda found: found[1] + ordinal_ending(int(found[1])), text)


def ordinal_ending(number: int) -> str:
    """Return "st", "nd", "rd" or "th"."""
    return "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
