"""Another number in the layout of a given one: "$52,400 a year" gives "$47,800 a year", "67-year-old" gives "41-year-old".

Separators, decimals and the magnitude stay. Surrogates draw by a seed, redrawn values by a random generator.
"""

from __future__ import annotations

import random
import re
from typing import Final

from piiloom.foundation.seeding import below, mix
from piiloom.pii_values.rewriting.calendars import ordinal_suffix
from piiloom.pii_values.rewriting.codes import reshaped

_RUN: Final = re.compile(r"\d+")
_IN_YEAR: Final = re.compile(r"(?i)(?<=\bin )(?:19|20)\d\d\b|(?<=\bsince )(?:19|20)\d\d\b")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_FEET: Final = re.compile(r"([4-7])(\s*(?:'|’|′|-?\s?(?:ft|feet|foot)\b)\D{0,5})(\d{1,2})?")
ORDINAL: Final = re.compile(r"(\d+)(st|nd|rd|th)\b")
_AGES: Final = {1: (2, 9), 2: (18, 89), 3: (100, 105)}


def unlike(old: int, low: int, high: int, rng: random.Random) -> int:
    """Draw a number from *low* to *high* that is not *old*."""
    new = rng.randint(low, high)
    return new if new != old else new + 1 if new < high else low


def renumbered(text: str, rng: random.Random) -> str:
    """Return *text* with other numbers of as many digits. Zeros at the end and a 1 that stands alone ("1 year") stay; years are near."""

    def other(found: re.Match[str]) -> str:
        if _IN_YEAR.match(text, found.start()):
            return str(int(found.group()) - rng.randint(1, 6))
        return found.group() if found.group() == "1" else resized(found.group(), rng.getrandbits(64))

    return ORDINAL.sub(lambda found: found[1] + ordinal_suffix("th", int(found[1]), "th"), AMOUNT.sub(other, text))


def another_age(text: str, rng: random.Random) -> str:
    """Return *text* with other ages: of as many digits, and adults stay adults."""

    def other(found: re.Match[str]) -> str:
        if text[found.end() : found.end() + 1] == "s" and found.group().endswith("0"):  # "late 40s"
            return f"{unlike(int(found.group()) // 10 % 10, 2, 8, rng)}0"
        if _YEAR.fullmatch(found.group()):
            return str(int(found.group()) - rng.randint(1, 6))  # "born in 1984"
        bounds = _AGES.get(len(found.group()))
        return str(unlike(int(found.group()), *bounds, rng)) if bounds else resized(found.group(), rng.getrandbits(64))

    return _RUN.sub(other, text)


def another_measure(text: str, rng: random.Random) -> str:
    """Return *text* with another height or weight; the hundreds stay, feet are 4 to 6 and inches below 12."""
    if _FEET.search(text):
        return _FEET.sub(lambda found: f"{unlike(int(found[1]), 4, 6, rng)}{found[2]}{_inches(found[3], rng)}", text)

    def other(found: re.Match[str]) -> str:
        run = found.group()
        if len(run) == 3 and run[0] == "1":
            return f"1{unlike(int(run[1:]), 10 if int(run) < 140 else 45, 99, rng)}"
        if run == "1":
            return run  # "1.75 m"
        return str(unlike(int(run), 42, 99, rng)) if len(run) == 2 else resized(run, rng.getrandbits(64))

    return _RUN.sub(other, text)


def _inches(run: str | None, rng: random.Random) -> str:
    return "" if run is None else str(unlike(int(run), 0, 9, rng) if len(run) == 1 else unlike(int(run), 10, 11, rng))


AMOUNT: Final = re.compile(r"[0-9](?:[0-9.,'  ]*[0-9])?")


def resized(text: str, seed: int) -> str:
    """Return a number with as many digits as *text*; separators and trailing zeros are kept: "52,400" → "47,800"."""
    places = [at for at, c in enumerate(text) if c.isdigit()]
    cents = len(text) > 3 and text[-3] in ".," and text[-2:].isdigit()
    whole = places[:-2] if cents else places
    zeros = 0
    for at in reversed(whole[1:]):
        if text[at] != "0":
            break
        zeros += 1
    out = list(text)
    free = whole[: len(whole) - zeros]
    for turn, at in enumerate(free):
        low = 1 if at == places[0] and text[at] != "0" else 0
        old = int(text[at])
        if turn == 0 and len(free) > 1:  # change the first digit by at most one, to keep the magnitude
            out[at] = str(min(9, max(low, old - 1 + below(mix(seed, turn), 3))))
        else:
            new = low + below(mix(seed, turn), 10 - low)
            out[at] = str(new if new != old else low + (new - low + 1) % (10 - low))
    if cents and text[-2:] != "00":
        out[-2:] = f"{below(mix(seed, 50), 99):02d}"
    return "".join(out)


_LONGEST: Final = 6  # digits of a score
FIGURES: Final = "0123456789"
_SIGNS_OF_NUMBERS: Final = FIGURES + ".,"
_IDLE_ZEROS: Final = re.compile(r"^(?:0+(?=[0-9])|0[.,](?=[0-9]{3}\b))")  # "094", and "0,812" where it was "1,000"


def other_score(text: str, seed: int) -> str:
    """Return another number near *text*, with as many decimals; what follows the number is kept ("/20", "%").

    The new number is lower by 1 to a fifth, or 1 higher if *text* is 0 or 1; it begins with a zero only if *text* does, or where it is
    less than one. Numbers with more than six digits are only reshaped.
    """
    end = next((at for at, c in enumerate(text) if c not in _SIGNS_OF_NUMBERS), len(text))
    number, rest = text[:end].rstrip(".,"), text[len(text[:end].rstrip(".,")) :]
    digits = number.replace(".", "").replace(",", "")
    if len(digits) > _LONGEST:
        return reshaped(text, seed)
    top = {1: 10, 2: 100}.get(len(digits), 10 ** len(digits))
    value = min(int(digits), top)
    reach = max(1, value // 5)
    new = value - 1 - below(seed, reach) if value > reach else value + 1 + below(seed, reach)
    places = iter(f"{max(1, new):0{len(digits)}d}")
    written = "".join(next(places) if c in FIGURES else c for c in number)
    return (written if number[0] == "0" else _IDLE_ZEROS.sub("", written)) + rest


THIRD: Final = 3  # a duration changes by at most one third, or by 1
_LARGEST: Final = 10**9


def near_number(text: str, seed: int) -> str:
    """Return another number of about the same size as *text*, with as many decimals."""
    sign = next((c for c in text if c in ".,"), "")
    whole, _, part = text.partition(sign) if sign else (text, "", "")
    number = min(int(whole[:18]), _LARGEST)
    reach = max(1, number // THIRD)
    new = number + 1 + below(seed, reach) if number <= 2 or seed & 1 else max(1, number - 1 - below(seed, min(reach, number - 1)))
    return f"{new}{sign}{(int(part[:15]) + 3) % 10 ** len(part[:15]):0{len(part[:15])}d}" if part else str(new)
