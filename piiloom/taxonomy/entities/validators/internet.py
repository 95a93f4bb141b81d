"""Addresses in networks and numbers of mobile devices."""

from __future__ import annotations

import ipaddress
from typing import Final

from stdnum import luhn

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
