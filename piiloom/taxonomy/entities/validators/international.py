"""Addresses in networks, numbers of mobile devices, parcels, blood donations and authors (ORCID, ISNI, IPI)."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from stdnum import isni as isni_rule
from stdnum import luhn
from stdnum.iso7064 import mod_37_2

from piiloom.taxonomy.entities.validators.registry import validator, validator_of_text

_HEX: Final = frozenset("0123456789abcdef")
_EID_LENGTH: Final = 32


@validator_of_text
def ip_address(text: str) -> bool:
    """An address of either version that has a digit ("add::bed" is code). Source: RFC 791, RFC 4291."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(c.isdigit() for c in text)


@validator
def mac_address(number: str) -> bool:
    """EUI-48 of one device: twelve hexadecimal digits; not zero, and its group bit is not set. Source: IEEE Std 802, section 8.

    The broadcast address and those of multicast groups have the group bit.
    """
    plain = number.replace(":", "").lower()
    return len(plain) == 12 and _HEX.issuperset(plain) and plain.strip("0") != "" and int(plain[1], 16) % 2 == 0


@validator
def imei(number: str) -> bool:
    """Fifteen digits with a Luhn digit; python-stdnum also takes 14 and 16 digits, which have none. Source: 3GPP TS 23.003, section 6.2."""
    return len(number) == 15 and number.isdigit() and number.strip("0") != "" and luhn.is_valid(number)


@validator
def esim_eid(number: str) -> bool:
    """EID of an eSIM: 32 digits, of which the remainder modulo 97 is 1. Source: GSMA SGP.29, section 4."""
    return len(number) == _EID_LENGTH and number.isdigit() and int(number) % 97 == 1


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


_SIXTEEN: Final = re.compile(r"\d{15}[\dX]$")
# The blocks that the ISNI agency keeps for ORCID.
_ORCID_BLOCKS: Final = (("000000015000000", "000000035000000"), ("000900000000000", "000901000000000"))


def _sixteen(text: str) -> str:
    """The last sixteen characters of *text* without blanks and hyphens, if they are a number with a right check; else ""."""
    found = _SIXTEEN.search(re.sub(r"[ -]", "", text))
    return found[0] if found and isni_rule.is_valid(found[0]) else ""


@validator_of_text
def orcid(text: str) -> bool:
    """An ISNI of the blocks kept for ORCID, also as a web address. Source: ORCID, structure of the ORCID identifier."""
    number = _sixteen(text)
    return any(first <= number[:15] <= last for first, last in _ORCID_BLOCKS)


@validator_of_text
def isni(text: str) -> bool:
    """Sixteen places, the last modulo 11-2, also as a web address. Source: ISO 27729."""
    return bool(_sixteen(text))


@validator_of_text
def ipi_name_number(text: str) -> bool:
    """Nine digits and two check digits: weights 10 to 2, modulo 101; numbers are written without zeros before them, too.

    Source: CISAC, IPI system (IPI name number).
    """
    digits = re.sub(r"\D", "", text).zfill(11)
    if len(digits) != 11 or digits.strip("0") == "":
        return False
    rest = sum(int(d) * weight for d, weight in zip(digits[:9], range(10, 1, -1), strict=True)) % 101
    return int(digits[9:]) == ((101 - rest) % 100 if rest else 0)
