"""Addresses of devices and ids of accounts in hexadecimal. IP addresses are of networks kept for documents, MAC addresses local ones."""

from __future__ import annotations

from typing import Final

from piiloom.pii_values.numbering.holders import Holder
from piiloom.pii_values.numbering.reserved import NETWORK_V6, NETWORKS

HEX: Final = "0123456789abcdef"


def hexadecimal(h: Holder, salt: int, count: int) -> str:
    """Draw *count* hexadecimal digits."""
    return "".join(h.one_of(salt + at, HEX) for at in range(count))


def ipv4(h: Holder) -> str:
    """Draw an address of a network for documents, or of one that anybody may use at home."""
    last = f"{h.number(1, 1, 254)}"
    home = f"192.168.{h.number(2, 0, 254)}.{last}"
    large = f"10.{h.number(3, 0, 254)}.{h.number(4, 0, 254)}.{last}"
    return h.one_of(5, (f"{h.one_of(6, NETWORKS)}.{last}", home, large))


def ipv6(h: Holder) -> str:
    """Draw an address of the network for documents, or a local one, written in full or with a gap."""
    groups = [h.one_of(10 * at + 5, HEX[1:]) + hexadecimal(h, 10 * at, 3) for at in range(1, 7)]
    full = f"{NETWORK_V6}:" + ":".join(groups)
    gap = f"{NETWORK_V6}:{groups[0]}::{groups[1]}:{h.number(80, 1, 9999)}"
    # A local address holds the MAC address of its card with ff:fe in the middle.
    local = f"fe80::{groups[2]}:{groups[3][:2]}ff:fe{groups[4][:2]}:{groups[5]}"
    return h.one_of(81, (full, gap, local, full.upper()))


def mac(h: Holder) -> str:
    """Draw the address of one device, locally given (bit 2 of the first octet), as one of the usual systems writes it."""
    plain = h.one_of(1, HEX) + h.one_of(2, "26ae") + hexadecimal(h, 3, 10)
    pairs = [plain[at : at + 2] for at in range(0, 12, 2)]
    return h.one_of(20, (":".join(pairs), ":".join(pairs).upper(), "-".join(pairs).upper()))


def uuid(h: Holder) -> str:
    """Draw a random UUID (version 4)."""
    plain = hexadecimal(h, 1, 30)
    return f"{plain[:8]}-{plain[8:12]}-4{plain[12:15]}-{h.one_of(40, '89ab')}{plain[15:18]}-{plain[18:30]}"


def hex16(h: Holder) -> str:
    """Draw 64 bits in hexadecimal."""
    return hexadecimal(h, 1, 16)


def hex40(h: Holder) -> str:
    """Draw 160 bits in hexadecimal."""
    return hexadecimal(h, 1, 40)
