"""Whether a number agrees with its holder: numbers of some countries tell the sex, and in which century the holder was born."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from piiloom.pii_values.entity_values.locale_words import GENDERS
from piiloom.pii_values.entity_values.named_person import NamedPerson

# Which of its digits is odd for a man and even for a woman.
_SEX_DIGITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "se_personnummer": -2,
        "se_samordningsnummer": -2,
        "fi_henkilotunnus": 8,
        "no_fodselsnummer": 8,
        "pl_pesel": 9,
        "cn_resident_id": 16,
        "cn_hmt_residence_permit": 16,
        "cn_disability_card": 16,
        "cn_student_registration": 16,
        "my_nric": -1,
    }
)
_SIGNS_OF_2000: Final = "ABCDEFabcdef"
_AFTER_DATE: Final = 6
_OF_CENTURY: Final = 3  # of a Vietnamese number: 0 for a man, 1 for a woman of the last century


def agrees(entity: str, value: str, person: NamedPerson) -> bool:
    """Whether *value* of *entity* could be *person*'s, who was born in the last century."""
    digits = [int(one) for one in value if one.isdigit()]
    if entity == "pl_pesel" and digits[2] > 1:  # months of this century are 21 to 32
        return False
    if entity == "fi_henkilotunnus" and value[_AFTER_DATE] in _SIGNS_OF_2000:
        return False
    if entity == "vn_cccd":
        return digits[_OF_CENTURY] == (person.gender == GENDERS[0])
    at = _SEX_DIGITS.get(entity)
    return at is None or (digits[at] % 2 == 0) == (person.gender == GENDERS[0])
