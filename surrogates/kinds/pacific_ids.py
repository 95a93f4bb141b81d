"""Tax numbers of Oceania, which has no other numbers of people. Check digits: python-stdnum; Fiji's has no published rule."""

from __future__ import annotations

from typing import Final

from surrogates.kinds.holders import Holder

_TRIES: Final = 60  # numbers that are tried for one that has a check digit


def tfn(h: Holder) -> str:
    """Australia: tax file number."""
    from stdnum.au import tfn as known  # noqa: PLC0415

    for turn in range(_TRIES):
        body = str(h.number(1 + turn, 10_000_000, 99_999_999))
        check = known.checksum(body + "0")  # the last digit weighs ten, which is minus one here
        if check < 10:
            number = f"{body}{check}"
            return f"{number[:3]} {number[3:6]} {number[6:]}"
    raise AssertionError  # one body in eleven has no digit


def ird(h: Holder) -> str:
    """New Zealand: tax number; there is no other number of a person."""
    from stdnum.nz import ird as known  # noqa: PLC0415

    for turn in range(_TRIES):
        body = str(h.number(1 + turn, 10_100_000, 13_999_999))
        check = str(known.calc_check_digit(body))
        if len(check) == 1:
            number = body + check
            return f"{number[:3]}-{number[3:6]}-{number[6:]}"
    raise AssertionError  # few bodies have no digit


def tin_fj(h: Holder) -> str:
    """Fiji: tax number of a person, nine digits."""
    return f"{h.number(1, 10, 19)}-{h.digits(2, 5)}-{h.digits(3, 1)}-{h.digits(4, 1)}"
