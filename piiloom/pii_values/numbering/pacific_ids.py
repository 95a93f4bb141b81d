"""Tax numbers of Oceania, whose countries have no other national id. Check digits: python-stdnum; Fiji's has no published rule."""

from __future__ import annotations

from piiloom.pii_values.numbering.check_digits import TURNS, first_checked, grouped
from piiloom.pii_values.numbering.holders import Holder


def tfn(h: Holder) -> str:
    """Australia: tax file number."""
    bodies = (h.serial(1 + turn, 8) for turn in TURNS)
    # The last digit has weight 10, which is -1 modulo 11, so it equals the checksum with 0 in its place.
    return grouped(first_checked(bodies, "au.tfn:checksum", "0"), "### ### ###")


def ird(h: Holder) -> str:
    """New Zealand: tax number; there is no other number of a person."""
    bodies = (str(h.number(1 + turn, 10_100_000, 13_999_999)) for turn in TURNS)
    return grouped(first_checked(bodies, "nz.ird"), "###-###-###")


def tin_fj(h: Holder) -> str:
    """Fiji: tax number of a person, nine digits."""
    return f"{h.number(1, 10, 19)}-{h.digits(2, 5)}-{h.digits(3, 1)}-{h.digits(4, 1)}"
