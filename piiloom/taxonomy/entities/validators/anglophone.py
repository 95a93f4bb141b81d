"""United Kingdom and United States: the checks that python-stdnum does not have; machine-readable zones; vehicle numbers."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from stdnum import luhn
from stdnum.gb import nhs

from piiloom.taxonomy.entities.validators.registry import validator, validator_of_text

_PNC: Final = re.compile(r"(?:\d{2})?(\d{2})/(\d{1,7})([A-Z])")
_PNC_LETTERS: Final = "ZABCDEFGHJKLMNPQRTUVWXY"
_MPAN_PRIMES: Final = (3, 5, 7, 13, 17, 19, 23, 29, 31, 37, 41, 43)
_NO_NINO: Final = frozenset("BG GB KN NK NT TN ZZ".split())
_WOMEN: Final = 50  # added to the month of birth of women


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


@validator
def gb_chi(number: str) -> bool:
    """Scottish CHI number: birth date, three digits, a check digit as that of NHS numbers. Source: Public Health Scotland, CHI number."""
    if not (len(number) == 10 and number.isdigit()):
        return False
    day, month, year = int(number[:2]), int(number[2:4]), int(number[4:6])
    return any(_is_day(century + year, month, day) for century in (1900, 2000)) and bool(nhs.is_valid(number))


@validator
def gb_nino(number: str) -> bool:
    """National Insurance numbers have a prefix that HMRC gives; some pairs of letters are never given. Source: HMRC NIM39110."""
    return number[:2].upper() not in _NO_NINO and number[2:8].isdigit()


@validator
def gb_uln(number: str) -> bool:
    """Unique learner number: weights 10 to 2, the check digit is 10 less the remainder modulo 11, which is not 0.

    Source: Learning Records Service, ULN specification.
    """
    if not (len(number) == 10 and number.isdigit()):
        return False
    rest = sum(int(d) * weight for d, weight in zip(number[:9], range(10, 1, -1), strict=True)) % 11
    return rest != 0 and 10 - rest == int(number[9])


@validator
def gb_driver_number(number: str) -> bool:
    """Decade, month (50 more for women), day and year of birth behind five places of the surname. Source: DVLA INS57P."""
    plain = number.upper()
    born = plain[5:11]
    if len(plain) not in (16, 18) or not born.isdigit():
        return False
    year, month, day = int(born[0] + born[5]), int(born[1:3]), int(born[3:5])
    month -= _WOMEN if month > _WOMEN else 0
    return any(_is_day(century + year, month, day) for century in (1900, 2000))


@validator
def gb_mpan(number: str) -> bool:
    """The last 13 digits of an MPAN: the digits times primes, modulo 11, modulo 10. Source: Master Registration Agreement, schedule 8.

    Distributors are 10 to 23 (regions) and 24 to 39 (independent networks).
    """
    core = number.upper().lstrip("S")[-13:]
    if len(core) != 13 or not core.isdigit() or not 10 <= int(core[:2]) <= 39:
        return False
    return sum(int(d) * prime for d, prime in zip(core, _MPAN_PRIMES, strict=False)) % 11 % 10 == int(core[12])


@validator_of_text
def gb_pnc_id(text: str) -> bool:
    """Year and serial number; the letter is the two-digit year and seven-digit serial modulo 23. Source: Home Office, PNC identifiers."""
    found = _PNC.fullmatch(text.upper())
    return found is not None and _PNC_LETTERS[int(found[1] + found[2].zfill(7)) % 23] == found[3]


_NPI_PREFIX: Final = "80840"  # the issuer of health identifiers of the United States (ISO/IEC 7812)


@validator
def us_npi(number: str) -> bool:
    """Ten digits, the first 1 or 2; the Luhn digit is that of 80840 and the number. Source: 45 CFR 162.406."""
    return len(number) == 10 and number[0] in "12" and number.isdigit() and bool(luhn.is_valid(_NPI_PREFIX + number))


@validator
def us_dea(number: str) -> bool:
    """Two letters (the second may be 9), six digits and a check digit: digits 1, 3, 5 and twice digits 2, 4, 6, modulo 10.

    Source: DEA Office of Diversion Control, registration numbers (21 CFR 1301.13).
    """
    digits = number[2:]
    if len(digits) != 7 or not digits.isdigit() or digits.strip("0") == "":
        return False
    values = [int(d) for d in digits]
    return (sum(values[:6:2]) + 2 * sum(values[1:6:2])) % 10 == values[6]


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
