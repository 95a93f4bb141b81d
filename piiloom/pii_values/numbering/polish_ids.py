"""Numbers of Poland whose check digits masks can't hit by chance."""

from __future__ import annotations

from typing import Final

from piiloom.pii_values.numbering.check_digits import TURNS, first_checked
from piiloom.pii_values.numbering.holders import Holder
from piiloom.taxonomy.entities.validators.polish import crc_8

_HEX: Final = "0123456789ABCDEF"


def einvoice(h: Holder) -> str:
    """Return a number of the national system of e-invoices: NIP, date, twelve hexadecimal digits, CRC-8 of all that."""
    bodies = (f"{h.number(10 + turn, 101, 998)}{h.digits(100 + turn, 6)}" for turn in TURNS)
    nip = first_checked(bodies, "pl.nip:checksum", "0")
    day = f"{h.number(1, 2024, 2026)}{h.number(2, 1, 12):02d}{h.number(3, 1, 28):02d}"
    body = f"{nip}-{day}-" + "".join(h.one_of(200 + place, _HEX) for place in range(12))
    return f"{body}-{crc_8(body):02X}"
