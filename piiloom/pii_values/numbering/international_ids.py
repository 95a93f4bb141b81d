"""Numbers with check digits that no country gives alone: cards, SIM cards, vehicles, donations, authors."""

from __future__ import annotations

from typing import Final

from stdnum.iso7064 import mod_37_2

from piiloom.pii_values.numbering.accounts import card_in_groups, card_number
from piiloom.pii_values.numbering.check_digits import checked
from piiloom.pii_values.numbering.holders import Holder
from piiloom.pii_values.numbering.masks import LETTERS
from piiloom.taxonomy.entities.validators.anglophone import vin as valid_vin

# The first digits of issuers and the length of their numbers.
_CARDS: Final = "4539:16 4716:16 4929:16 5105:16 5425:16 2223:16 2720:16 378:15 341:15 6011:16 6215:16 3530:16 6759:16 3600:14".split()
_SIM_ISSUERS: Final = "894600 894707 893585 894800 893104 893200 893510 8955 89971 8484 8986 8965 8991".split()
_SIM_LENGTHS: Final = ("19", "20")
_AMERICAN_MAKERS: Final = "1GC 1FT 1HG 2HG 3VW 4T1 5YJ LSV LFV".split()
_OTHER_MAKERS: Final = "WVWZZZ YV1BW8 VF1RFB TMBJJ7 WDB203 ZFA312 SALLAA VSSZZZ".split()
_FACILITIES: Final = "G1234 W0987 S2105 A9999 P3310".split()
_VIN_CHECKS: Final = "0123456789X"


def payment_card(h: Holder) -> str:
    """Draw the number of a card with its Luhn digit, in one of the ways it is written."""
    head, _, length = h.one_of(20, _CARDS).partition(":")
    number = card_number(head, int(length), h.choices)
    if len(number) == 14:
        return h.one_of(21, (number, f"{number[:4]} {number[4:10]} {number[10:]}"))
    return h.one_of(21, (number, card_in_groups(number, " "), card_in_groups(number, " "), card_in_groups(number, "-")))


def iccid(h: Holder) -> str:
    """Draw the number of a SIM card with its Luhn digit."""
    head = h.one_of(1, [one for one in _SIM_ISSUERS if one.startswith("89")])
    length = int(h.one_of(2, _SIM_LENGTHS))
    return checked(head + h.digits(3, length - 1 - len(head)), "luhn")


def vin(h: Holder) -> str:
    """Draw the number of a vehicle: of makers for North America and China with the check digit, of others without."""
    model = "".join(h.one_of(10 + at, LETTERS + "123456789") for at in range(5))
    tail = h.one_of(20, "FGHJKLMNPRST") + h.one_of(21, LETTERS) + h.digits(22, 6)
    american = h.one_of(23, _AMERICAN_MAKERS) + model
    with_check = next(number for check in _VIN_CHECKS if valid_vin(number := f"{american}{check}{tail}"))
    other = h.one_of(24, _OTHER_MAKERS) + model[:2] + "Z" + tail
    return h.one_of(25, (with_check, other))


def donation(h: Holder) -> str:
    """Draw the number of a donation as it is written beside its bar code (ISBT 128)."""
    facility, year, serial = h.one_of(1, _FACILITIES), f"{h.number(2, 20, 26)}", h.digits(3, 6)
    check = mod_37_2.calc_check_digit(facility + year + serial)
    return h.one_of(4, (f"{facility} {year} {serial} {check}", f"{facility}{year}{serial}{check}"))
