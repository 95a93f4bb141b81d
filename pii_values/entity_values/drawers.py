"""The drawers that entries of the catalogue name in their ``draw``: values that no mask describes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat, PhoneNumberType

from piiloom.pii_values.numbering.choices import digits

Draw = Callable[[str, random.Random], str]

_FORMATS: Final = (PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.NATIONAL, PhoneNumberFormat.NATIONAL, PhoneNumberFormat.E164)
_TRIES: Final = 200


@cache
def _examples(region: str) -> tuple[str, ...]:
    """National significant numbers of mobile and fixed lines, from libphonenumber."""
    kinds = (PhoneNumberType.MOBILE, PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE)
    found = (phonenumbers.example_number_for_type(region, kind) for kind in kinds)
    return tuple(str(one.national_number) for one in found if one is not None)


def draw_phone(locale: str, rng: random.Random) -> str:
    """Draw a telephone number that libphonenumber takes for valid in the region of *locale*, in one of its usual formats."""
    region = locale[3:]
    code = phonenumbers.country_code_for_region(region)
    for _ in range(_TRIES):
        example = rng.choice(_examples(region))
        number = PhoneNumber(country_code=code, national_number=int(example[:3] + digits(len(example) - 3, rng)))
        if phonenumbers.is_valid_number_for_region(number, region):
            return phonenumbers.format_number(number, rng.choice(_FORMATS))
    return phonenumbers.format_number(PhoneNumber(country_code=code, national_number=int(example)), PhoneNumberFormat.INTERNATIONAL)


DRAWERS: Final[Mapping[str, Draw]] = MappingProxyType({"phone": draw_phone})
