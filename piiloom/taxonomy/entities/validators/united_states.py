"""United States: the checks that python-stdnum has not."""

from __future__ import annotations

from typing import Final

from stdnum import luhn

from piiloom.taxonomy.entities.validators.registry import validator

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
