"""Machine-readable zones of travel documents, and vehicle identification numbers."""

from __future__ import annotations

import re
from typing import Final

from piiloom.taxonomy.entities.validators.registry import validator, validator_of_text

_WEIGHTS: Final = (7, 3, 1)
_LETTER_VALUES: Final = {letter: value for value, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ", start=10)}
_BREAKS: Final = re.compile(r"[\s]+")
_VIN_LENGTH: Final = 17
_VIN_WEIGHTS: Final = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_VALUES: Final = {
    **{str(digit): digit for digit in range(10)},
    **dict(zip("ABCDEFGH", range(1, 9), strict=True)),
    **dict(zip("JKLMN", range(1, 6), strict=True)),
    "P": 7,
    "R": 9,
    **dict(zip("STUVWXYZ", range(2, 10), strict=True)),
}


def mrz_check(field: str) -> int:
    """The check digit of a field: weights 7, 3, 1 over digits, letters (A is 10) and fillers (0), modulo 10."""
    values = (int(c) if c.isdigit() else _LETTER_VALUES.get(c, 0) for c in field)
    return sum(value * _WEIGHTS[at % 3] for at, value in enumerate(values)) % 10


def _checks(field: str, digit: str) -> bool:
    """Whether *digit* is the check digit of *field*; an empty field may have a filler for it."""
    return digit == str(mrz_check(field)) or (digit == "<" and not field.strip("<"))


def _second_line(line: str) -> bool:
    """The second line of passports (44), cards of two lines (36) and visas, which have no check digit over all."""
    fields = _checks(line[:9], line[9]) and _checks(line[13:19], line[19]) and _checks(line[21:27], line[27])
    if not fields or len(line) not in (36, 44):
        return False
    if len(line) == 44 and not _checks(line[28:42], line[42]):
        return False
    return _checks(line[:10] + line[13:20] + line[21:-1], line[-1])


def _card(first: str, second: str) -> bool:
    """A card of three lines of 30: its second and its first line."""
    fields = _checks(first[5:14], first[14]) and _checks(second[:6], second[6]) and _checks(second[8:14], second[14])
    return fields and _checks(first[5:30] + second[:7] + second[8:15] + second[18:29], second[29])


@validator_of_text
def mrz(text: str) -> bool:
    """Check digits of a machine-readable zone, whole or its second line alone. Source: ICAO Doc 9303 parts 3, 4, 5 and 6."""
    lines = _BREAKS.split(text)
    match [len(line) for line in lines]:
        case [44] | [36]:
            return _second_line(lines[0])
        case [44, 44] | [36, 36]:
            return _second_line(lines[1])
        case [30, 30, 30]:
            return _card(lines[0], lines[1])
        case _:
            return False


@validator
def vin(number: str) -> bool:
    """The check digit at place 9: weights, modulo 11, 10 is X; makers have letters. North America and China require it.

    Source: 49 CFR 565.15, GB 16735.
    """
    if len(number) != _VIN_LENGTH or number.isdigit() or any(c not in _VIN_VALUES for c in number):
        return False
    rest = sum(_VIN_VALUES[c] * weight for c, weight in zip(number, _VIN_WEIGHTS, strict=True)) % 11
    return number[8] == ("X" if rest == 10 else str(rest))


@validator
def vin_shape(number: str) -> bool:
    """A vehicle number without a check digit: capitals and digits, of both some, and four digits at the end. Source: ISO 3779, ISO 3780."""
    return len(number) == _VIN_LENGTH and not number.isdigit() and not number.isalpha() and number[-4:].isdigit()
