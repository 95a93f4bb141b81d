"""Numbers of authors: ORCID, ISNI and IPI."""

from __future__ import annotations

import re
from typing import Final

from stdnum import isni as isni_rule

from piiloom.taxonomy.entities.validators.registry import validator_of_text

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
