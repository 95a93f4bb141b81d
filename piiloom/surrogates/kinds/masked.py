"""Numbers in the form of a mask: "XXX-XX-1234" keeps its digits, and the places of the X's are filled (``date_masks`` has those of dates).

Without a mask (``draw.form`` does not begin with ``MASK``) the kinds are drawn as elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from piiloom.surrogates.documents import mix
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds import accounts, codes, contacts, identifiers
from piiloom.surrogates.kinds.date_masks import MASK
from piiloom.surrogates.kinds.kind import Drawing, salt_of
from piiloom.surrogates.kinds.masks import digits

LAST_FOUR: Final = "last4"
_SALT: Final = salt_of("mask")
_MASKED: Final = re.compile(r"(?=.*(?:XX|xx|\*\*|##|••))(?=.*\d)[\dXx*#•./ ()+-]+")  # an original that is a mask
_SIGN: Final = re.compile("[*#•]")
_FREE: Final = re.compile(r"[Xx]")


def _masked(plain: Drawing) -> Drawing:
    """Return the drawing function of *plain* that also fills masks, with its digits if they are as many as the mask has places.

    Where the text has only the last four digits ("a card ending in XXXX"), they are those of the whole number.
    """

    def drawn(draw: Draw) -> str:
        if draw.form == LAST_FOUR:
            return "".join(filter(str.isdigit, plain(draw._replace(form="", original=""))))[-4:]
        if draw.form.startswith(MASK):
            mask = draw.form.removeprefix(MASK)
        elif _MASKED.fullmatch(draw.original):
            mask = _SIGN.sub("X", draw.original)
        else:
            return plain(draw)
        places = sum(c in "Xx" or c.isdigit() for c in mask)
        known = "".join(filter(str.isdigit, plain(draw._replace(form="", original=""))))
        known = known if len(known) == places else digits(mix(draw.seed, _SALT), places)
        numbers = iter(known)
        return "".join(_filled(mask, numbers))

    drawn.__doc__ = plain.__doc__
    return drawn


def _filled(mask: str, numbers: Iterator[str]) -> Iterator[str]:
    """Yield the characters of *mask* with its X's replaced; each place, also one with a digit of its own, uses up one of *numbers*."""
    for c in mask:
        if c.isdigit():
            next(numbers)
            yield c
        else:
            yield next(numbers) if _FREE.match(c) else c


tax_id = _masked(identifiers.tax_id)
passport = _masked(identifiers.passport)
driving_licence = _masked(identifiers.driving_licence)
licence_plate = _masked(identifiers.licence_plate)
fax = _masked(contacts.fax)
medical_record = _masked(codes.medical_record)
student_id = _masked(codes.student_id)
employee_id = _masked(codes.employee_id)
policy_number = _masked(codes.policy_number)
case_number = _masked(codes.case_number)
device_id = _masked(codes.device_id)
id_number = _masked(codes.id_number)
number = _masked(codes.number)
national_id = _masked(identifiers.national_id)
phone = _masked(contacts.phone)
payment_card = _masked(accounts.payment_card)
bank_account = _masked(accounts.bank_account)
