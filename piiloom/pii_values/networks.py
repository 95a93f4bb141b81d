"""Draw IP addresses and addresses of crypto wallets.

Network addresses come from the ranges that RFC 5737 and RFC 3849 reserve for documentation or RFC 1918 for private networks.
Wallets have the right shape; no key is known for any of them.
"""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.numbering.holders import NETWORK_V6, NETWORKS

_HEX: Final = "0123456789abcdef"
_BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"  # the alphabet of BIP 173
_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def draw_ip_address(rng: random.Random) -> str:
    """Draw an IPv4 address of a private or documentation range, sometimes an IPv6 address."""
    dice = rng.random()
    if dice < 0.3:
        return f"{NETWORKS[int(rng.random() * len(NETWORKS))]}.{rng.randint(1, 254)}"
    if dice < 0.55:
        return f"192.168.{rng.randint(0, 254)}.{rng.randint(2, 254)}"
    if dice < 0.75:
        return f"10.{rng.randint(0, 255)}.{rng.randint(0, 255)}.{rng.randint(2, 254)}"
    if dice < 0.85:
        return f"172.{rng.randint(16, 31)}.{rng.randint(0, 255)}.{rng.randint(2, 254)}"
    groups = [f"{rng.randint(1, 0xFFFF):x}" for _ in range(4)]
    return f"{NETWORK_V6}::{':'.join(groups[: rng.randint(2, 4)])}"


def draw_wallet(rng: random.Random) -> str:
    """An Ethereum address (0x and 40 hex digits) or a Bitcoin one (bc1q…, 1…)."""
    dice = rng.random()
    if dice < 0.55:
        return f"0x{_from(_HEX, 40, rng)}"
    if dice < 0.85:
        return f"bc1q{_from(_BECH32, 38, rng)}"
    return f"1{_from(_BASE58, 33, rng)}"


def _from(alphabet: str, count: int, rng: random.Random) -> str:
    return "".join(rng.choices(alphabet, k=count))
