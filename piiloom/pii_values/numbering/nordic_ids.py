"""National ids of the Nordic and Baltic countries, with the holder's birth date and sex. Check digits: python-stdnum.

Ranges reserved for tests are used where they exist: Sweden birth numbers 980-999 (Skatteverket), Finland individual numbers 900-999
(never issued permanently; the population register uses them for tests), Norway months 81-92 (Skatteetaten's synthetic people).
"""

from __future__ import annotations

from piiloom.pii_values.numbering.check_digits import TURNS, checked, grouped
from piiloom.pii_values.numbering.holders import Holder


def personnummer(h: Holder) -> str:
    """Sweden: birth date, a birth number reserved for tests (even for women), Luhn digit; "+" from the year the holder turns 100."""
    sign = "+" if h.anchor.year - h.born.year >= 100 else "-"
    return grouped(checked(f"{h.born:%y%m%d}98{h.sexed(1, 0, 9)}", "luhn"), f"######{sign}####")


def hetu(h: Holder) -> str:
    """Finland: birth date, sign of the century, an individual number reserved for tests (even for women), check character."""
    serial = h.sexed(1, 900, 999)
    check = "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(f"{h.born:%d%m%y}{serial}") % 31]  # the function in stdnum is private
    return f"{h.born:%d%m%y}{'A' if h.since_2000 else '-'}{serial}{check}"


def fodselsnummer(h: Holder) -> str:
    """Norway: birth date with 80 added to the month (synthetic people), a serial of the century (even for women), two check digits."""
    low, high = (500, 999) if h.since_2000 else (0, 499)
    for turn in TURNS:
        body = f"{h.born:%d}{h.born.month + 80}{h.born:%y}{h.sexed(1 + turn, low, high):03d}"
        number = checked(body, "no.fodselsnummer:calc_check_digit1")
        number = checked(number, "no.fodselsnummer:calc_check_digit2") if len(number) == 10 else ""
        if len(number) == 11:
            return grouped(number, "###### #####")
    raise AssertionError  # one serial in six has no check digits: sixty in a row do not happen


def cpr(h: Holder) -> str:
    """Denmark: birth date, a serial whose first digit encodes the century and whose last digit encodes the sex (odd for men)."""
    first = h.one_of(1, "4567" if h.since_2000 else "0123")
    return f"{h.born:%d%m%y}-{first}{h.digits(2, 2)}{h.sexed(3, 0, 9)}"


def isikukood(h: Holder) -> str:
    """Estonia and Lithuania: sex and century, birth date, serial, check digit."""
    return checked(f"{h.sex_digit(5, 3)}{h.born:%y%m%d}{h.digits(1, 3)}", "ee.ik", "0")


def personas_kods(h: Holder) -> str:
    """Latvia: birth date, century, serial, check digit."""
    body = f"{h.born:%d%m%y}{h.born.year // 100 - 18}{h.digits(1, 3)}"
    return grouped(checked(body, "lv.pvn:calc_check_digit_pers"), "######-#####")
