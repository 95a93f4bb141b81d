"""Draw IP addresses and addresses of crypto wallets.

Network addresses come from the ranges that RFC 5737 and RFC 3849 reserve for documentation or RFC 1918, 4193 and 4291 for private networks.
Wallets have the right shape; no key is known for any of them.
"""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.numbering.holders import NETWORK_V6, NETWORKS

# Shortened, in full, of a MAC address, with an interface, of a private network. Places 6 and 7 have 8 bits, the others 16.
_V6: Final = (
    *(f"{NETWORK_V6}{rest}" for rest in ("::{0:x}", "::{0:x}:{1:x}", "::{0:x}:{1:x}:{2:x}", ":{0:x}::{1:x}", ":{0:x}:{1:x}::{2:x}")),
    *(f"{NETWORK_V6}:{rest}" for rest in ("{0:x}:{1:x}:{2:x}::{3:x}", "{0:x}:{1:x}:{2:x}:{3:x}:{4:x}:{5:x}")),
    NETWORK_V6 + ":{0:04x}:{1:04x}:{2:04x}:{3:04x}:{4:04x}:{5:04x}",
    *("fe80::{0:x}:{6:x}ff:fe{7:x}:{1:x}" + zone for zone in ("", "%eth0")),
    "fe80::{0:x}%en0",
    "fd{6:x}:{0:x}:{1:x}::{2:x}",
)
_CAPITALS: Final = 0.12
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
    number = rng.choice(_V6).format(*(rng.randint(1, 0xFFFF) for _ in range(6)), *(rng.randint(0x10, 0xFF) for _ in range(2)))
    return number.upper() if "%" not in number and rng.random() < _CAPITALS else number


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
