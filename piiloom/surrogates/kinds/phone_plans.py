"""Generate ``data/phones.yaml``: masks of mobile and landline numbers by country that libphonenumber accepts with any free digits.

``python -m piiloom.surrogates.kinds.phone_plans FILE`` writes the file. A mask comes from an example number in libphonenumber's
metadata, or from one with another beginning, whose last 3 to 7 digits are free. To verify it, all values of the first three free
digits are tried, and each number must be valid and parse back from its written form.
"""

from __future__ import annotations

import sys
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import phonenumbers as library
import yaml

from piiloom.foundation.seeding import below, mix, seed_of

_TRIES: Final = 60
_BEGINNINGS: Final = 60  # other beginnings tried per type of number
_KEPT: Final = 6  # masks per type of number
_FREE: Final = (3, 7)  # fewest and most free digits


def _filled(start: str, free: int, seed: int) -> str:
    return start + f"{below(seed, 10**free):0{free}d}" if free else start


def _sound(start: str, free: int, country: str) -> bool:
    """Whether numbers of *country* that begin with *start* and have *free* more digits are valid (``_valid``).

    Random ones are tried first, then every value of the first three free digits, each with four random choices of the other digits.
    """
    rest = free - 3
    chance = (_filled(start, free, mix(seed_of(start, country), turn)) for turn in range(_TRIES))
    each = (_filled(f"{start}{first:03d}", rest, mix(first, turn)) for turn in range(4 if rest else 1) for first in range(1000))
    return all(_valid(text, country) for text in chain(chance, each))


def _valid(text: str, country: str) -> bool:
    number = _number(text, country)
    if not library.is_valid_number_for_region(number, country):
        return False
    forms = (library.PhoneNumberFormat.NATIONAL, library.PhoneNumberFormat.INTERNATIONAL)
    return all(library.parse(library.format_number(number, form), country) == number for form in forms)


def _number(text: str, country: str) -> Any:
    """Return the national number *text* of *country* as an object of the library; a leading zero (Italy) is kept."""
    code = library.country_code_for_region(country)
    return library.PhoneNumber(country_code=code, national_number=int(text), italian_leading_zero=text[0] == "0" or None)


def _starts(example: str, country: str) -> list[tuple[str, int]]:
    """Return up to ``_KEPT`` verified (prefix, number of free digits), the one of *example* first; [] if that is not valid."""
    length = len(example)
    possible = range(min(_FREE[1], length - 2), _FREE[0] - 1, -1)
    free = next((free for free in possible if _sound(example[: length - free], free, country)), 0)
    if not free:
        return []
    width = length - free
    keep = 1 if width > 2 else 0
    others = (_filled(example[:keep], width - keep, mix(seed_of(example), turn)) for turn in range(_BEGINNINGS))
    sound = (start for start in dict.fromkeys((example[:width], *others)) if start == example[:width] or _sound(start, free, country))
    return [(start, free) for start in islice(sound, _KEPT)]


def _mask(start: str, free: int, country: str, written: int) -> str:
    """Return the mask of a number as libphonenumber formats it (*written* is the format), with "#" for the free digits."""
    text = _filled(start, free, seed_of(start))
    shown = library.format_number(_number(text, country), written)
    left, out = free, []
    for c in reversed(shown):
        out.append("#" if c.isdigit() and left else c)
        left -= c.isdigit() and left > 0
    return "".join(reversed(out))


def plan(country: str) -> dict[str, Any] | None:
    """Return the masks of *country* in national and international format; None if no mask was found."""
    kinds = (library.PhoneNumberType.MOBILE, library.PhoneNumberType.FIXED_LINE)
    national: list[str] = []
    international: list[str] = []
    for kind in kinds:
        example = library.example_number_for_type(country, kind)
        if example is None:
            continue
        for start, free in _starts(library.national_significant_number(example), country):
            national.append(_mask(start, free, country, library.PhoneNumberFormat.NATIONAL))
            international.append(_mask(start, free, country, library.PhoneNumberFormat.INTERNATIONAL))
    if not national:
        return None
    return {"national": list(dict.fromkeys(national)), "international": list(dict.fromkeys(international))}


def main(target: str) -> None:
    """Write the plans of all countries to the file *target*."""
    plans = {country: found for country in sorted(library.SUPPORTED_REGIONS) if (found := plan(country))}
    head = (
        "# Made by `python -m piiloom.surrogates.kinds.phone_plans` from the metadata of libphonenumber (Apache-2.0); not edited by hand.\n"
        '# "#" is a free digit: all fillings are valid. National and international ways of writing.\n'
    )
    text = yaml.safe_dump({"plans": plans}, width=200, sort_keys=True, allow_unicode=True, default_flow_style=None)
    Path(target).write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
