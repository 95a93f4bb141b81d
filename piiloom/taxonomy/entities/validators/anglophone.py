"""United Kingdom and United States: the checks that python-stdnum does not have."""

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
