"""Number checks of the Emirates. India's are all in python-stdnum."""

from __future__ import annotations

from typing import Final

from stdnum import luhn

from piiloom.taxonomy.entities.validators.registry import validator

_LENGTH: Final = 15
_COUNTRY: Final = "784"  # ISO 3166 numeric code of the Emirates
_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2035  # a year of birth: some years ahead, so that the rule needs no clock


@validator
def emirates_id(number: str) -> bool:
    """Emirates ID: 784, year of birth, seven digits, Luhn digit over all fifteen.

    Rule: Federal Authority for Identity and Citizenship, as stated in Microsoft Purview's "U.A.E. identity card number" and in the
    idnumbers library (nationalid.are). Cards without a right Luhn digit are told of; they are missed.
    """
    if len(number) != _LENGTH or not number.isdecimal() or not number.startswith(_COUNTRY):
        return False
    return _FIRST_YEAR <= int(number[3:7]) <= _LAST_YEAR and bool(luhn.is_valid(number))
