"""National ids of the Nordic and Baltic countries; birth date and sex in them are the holder's. Check digits: python-stdnum.

Numbers kept for tests are taken where there are some: Sweden birth numbers 980-999 (Skatteverket), Finland individual numbers 900-999
(never given for good; the population register uses them for tests), Norway months 81-92 (Skatteetaten's synthetic people).
"""

from __future__ import annotations

from typing import Final

from surrogates.kinds.holders import Holder

_CENTURY: Final = 2000
_TRIES: Final = 60  # numbers that are tried for one that has check digits


def personnummer(h: Holder) -> str:
    """Sweden: birth date, a birth number that is kept for tests (even for women), Luhn digit; "+" from the year one turns 100."""
    from stdnum import luhn  # noqa: PLC0415

    body = f"{h.born:%y%m%d}98{h.sexed(1, 0, 9)}"
    sign = "+" if h.anchor.year - h.born.year >= 100 else "-"
    return f"{body[:6]}{sign}{body[6:]}{luhn.calc_check_digit(body)}"


def hetu(h: Holder) -> str:
    """Finland: birth date, sign of the century, an individual number kept for tests (even for women), check character."""
    serial = h.sexed(1, 900, 999)
    check = "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(f"{h.born:%d%m%y}{serial}") % 31]  # stdnum keeps its function for itself
    return f"{h.born:%d%m%y}{'A' if h.born.year >= _CENTURY else '-'}{serial}{check}"


def fodselsnummer(h: Holder) -> str:
    """Norway: birth date with 80 added to the month (synthetic people), a serial of the century (even for women), two check digits."""
    from stdnum.no import fodselsnummer as known  # noqa: PLC0415

    low, high = (500, 999) if h.born.year >= _CENTURY else (0, 499)
    for turn in range(_TRIES):
        body = f"{h.born:%d}{h.born.month + 80}{h.born:%y}{h.sexed(1 + turn, low, high):03d}"
        first = str(known.calc_check_digit1(body))
        second = str(known.calc_check_digit2(body + first)) if len(first) == 1 else "10"
        if len(second) == 1:
            return f"{body[:6]} {body[6:]}{first}{second}"
    raise AssertionError  # one serial in six has no check digits: sixty in a row do not happen


def cpr(h: Holder) -> str:
    """Denmark: birth date, a serial whose first digit tells the century and whose last the sex."""
    first = h.one_of(1, "0123" if h.born.year < _CENTURY else "4567")
    return f"{h.born:%d%m%y}-{first}{h.digits(2, 2)}{h.sexed(3, 0, 9)}"


def isikukood(h: Holder) -> str:
    """Estonia and Lithuania: sex and century, birth date, serial, check digit."""
    from stdnum.ee import ik  # noqa: PLC0415

    first = (6 if h.female else 5) if h.born.year >= _CENTURY else (4 if h.female else 3)
    body = f"{first}{h.born:%y%m%d}{h.digits(1, 3)}"
    return body + str(ik.calc_check_digit(body + "0"))


def personas_kods(h: Holder) -> str:
    """Latvia: birth date, century, serial, check digit."""
    from stdnum.lv import pvn  # noqa: PLC0415

    body = f"{h.born:%d%m%y}{h.born.year // 100 - 18}{h.digits(1, 3)}"
    return f"{body[:6]}-{body[6:]}{pvn.calc_check_digit_pers(body)}"
