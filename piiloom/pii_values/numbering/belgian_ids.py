"""Numbers of Belgium whose check digits masks can't hit by chance."""

from __future__ import annotations

from typing import Final

from stdnum.be import ogm_vcs
from stdnum.iban import calc_check_digits

from piiloom.pii_values.numbering.check_digits import grouped
from piiloom.pii_values.numbering.holders import Holder

_BANKS: Final = ("001", "063", "103", "320", "363", "730", "733", "734", "735", "750", "853", "973", "979")


def iban(h: Holder) -> str:
    """Return an IBAN, in groups of four or without blanks: the national account has two check digits of its own.

    They follow the rule of a structured reference: the rest of ten digits divided by 97.
    """
    account = h.one_of(1, _BANKS) + h.digits(2, 7)
    account += ogm_vcs.calc_check_digits(account)
    number = f"BE{calc_check_digits(f'BE00{account}')}{account}"
    return grouped(number, "#### #### #### ####") if h.number(3, 1, 3) > 1 else number
