"""Number checks of the Emirates, and one of India's that python-stdnum has in part."""

from __future__ import annotations

from typing import Final

from stdnum import luhn
from stdnum.in_ import pan

from piiloom.taxonomy.entities.validators.registry import validator

_GSTIN_LENGTH: Final = 15
_GSTIN_SIGNS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_GST_STATES: Final = frozenset((*range(1, 39), 97))
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


@validator
def in_gstin(number: str) -> bool:
    """India, goods and services tax: state, PAN of the holder, entity, Z, Luhn sign modulo 36 (CGST Rules 2017, rule 10).

    ``stdnum.in_.gstin`` ends at state 37: it knows neither Ladakh (38, since 2020) nor "other territory" (97).
    """
    if len(number) != _GSTIN_LENGTH or not number[:2].isdecimal() or int(number[:2]) not in _GST_STATES:
        return False
    if number[12] == "0" or number[13] != "Z":
        return False
    return bool(pan.is_valid(number[2:12]) and luhn.is_valid(number, _GSTIN_SIGNS))
