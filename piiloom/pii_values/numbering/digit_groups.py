"""Group the digits of a large number."""

from __future__ import annotations


def in_groups(number: int, sign: str, *, pairs: bool) -> str:
    """Write *number* with *sign* between thousands; with *pairs*, as in India, the digits above them are grouped in twos: "9,60,000"."""
    if not pairs or number < 100_000:
        return f"{number:,}".replace(",", sign)
    head, tail = divmod(number, 1000)
    found = []
    while head:
        head, pair = divmod(head, 100)
        found.append(f"{pair:02d}" if head else str(pair))
    return sign.join([*reversed(found), f"{tail:03d}"])
