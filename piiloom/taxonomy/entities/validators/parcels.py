"""Tracking numbers of parcels, and numbers of blood donations."""

from __future__ import annotations

from typing import Final

from stdnum.iso7064 import mod_37_2

from piiloom.taxonomy.entities.validators.registry import validator

_S10_WEIGHTS: Final = (8, 6, 4, 2, 3, 5, 9, 7)


def ups_check(body: str) -> int:
    """The check digit over 15 characters behind 1Z: every second one counts twice; a letter counts its code less 63, modulo 10."""
    values = [int(c) if c.isdigit() else (ord(c) - 63) % 10 for c in body]
    return -(sum(values[::2]) + 2 * sum(values[1::2])) % 10


@validator
def ups_tracking(number: str) -> bool:
    """1Z, fifteen capitals or digits, a check digit. Source: UPS Guide to Labeling, tracking number check digit."""
    return len(number) == 18 and number[:2] == "1Z" and number[2:].isalnum() and number[-1] == str(ups_check(number[2:-1]))


@validator
def postal_item(number: str) -> bool:
    """Service, eight digits and a check digit (weights 8 6 4 2 3 5 9 7, modulo 11), country. Source: UPU standard S10."""
    digits = number[2:11]
    if len(number) != 13 or not digits.isdigit():
        return False
    rest = 11 - sum(int(d) * weight for d, weight in zip(digits, _S10_WEIGHTS, strict=False)) % 11
    return int(digits[8]) == {10: 0, 11: 5}.get(rest, rest)


@validator
def dhl_waybill(number: str) -> bool:
    """Ten digits; the last is the remainder of the others modulo 7. Source: DHL Express, waybill number check digit."""
    return len(number) == 10 and number.isdigit() and int(number[:9]) % 7 == int(number[9])


@validator
def isbt_donation(number: str) -> bool:
    """Donation identification number of 13 characters, at times two flag digits, a check character over the 13 (ISO 7064 modulo 37-2).

    Source: ISBT 128 Standard Technical Specification, data structure 001 and appendix A.
    """
    plain = number.lstrip("=")
    return len(plain) in (14, 16) and bool(mod_37_2.is_valid(plain[:13] + plain[-1]))
