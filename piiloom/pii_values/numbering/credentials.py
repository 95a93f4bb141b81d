"""Addresses of devices, tokens and keys: random ones in the forms of real ones; none opens anything.

IP addresses are of networks kept for documents, MAC addresses local ones.
"""

from __future__ import annotations

import base64
import json
import string
from typing import Final

from piiloom.pii_values.numbering.holders import NETWORK_V6, NETWORKS, Holder

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


_ALPHANUMERIC: Final = string.ascii_letters + string.digits
_BASE64: Final = _ALPHANUMERIC + "+/"
_LINE: Final = 64  # characters of a line in PEM


def _letters(h: Holder, salt: int, count: int, alphabet: str = _ALPHANUMERIC) -> str:
    return "".join(h.one_of(salt + at, alphabet) for at in range(count))


def _url_safe(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data, separators=(",", ":")).encode()).decode().rstrip("=")


def session(h: Holder) -> str:
    """Draw a session id of a web framework."""
    return h.one_of(1, (hexadecimal(h, 10, 32), hexadecimal(h, 50, 32).upper(), _letters(h, 90, 26), f"sess_{_letters(h, 130, 24)}"))


def jwt(h: Holder) -> str:
    """Draw a JSON web token."""
    head = _url_safe({"alg": h.one_of(1, ("HS256", "RS256", "ES256")), "typ": "JWT"})
    body = _url_safe({"sub": h.digits(2, 8), "iat": 1_700_000_000 + h.number(3, 0, 50_000_000)})
    return f"{head}.{body}.{_letters(h, 10, 43, _ALPHANUMERIC + '-_')[:-1]}A"


def opaque(h: Holder) -> str:
    """Draw a token that says nothing."""
    return _letters(h, 10, h.number(1, 32, 48))


def api_key(h: Holder) -> str:
    """Draw a key as services make them."""
    return h.one_of(1, (_letters(h, 10, 32), hexadecimal(h, 60, 40), f"key_live_{_letters(h, 110, 24)}", f"api_{hexadecimal(h, 150, 32)}"))


def secret40(h: Holder) -> str:
    """Draw forty characters of base64."""
    return _letters(h, 10, 39, _BASE64) + h.one_of(1, _ALPHANUMERIC)


def azure_key(h: Holder) -> str:
    """Draw an account key of a storage."""
    return f"AccountKey={_letters(h, 10, 86, _BASE64)}=="


def ssh_public(h: Holder) -> str:
    """Draw a public key of Ed25519 with its owner."""
    owner = h.one_of(1, ("anna", "mika", "linh", "rui", "dana"))
    return f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_letters(h, 10, 43, _BASE64)} {owner}@{h.one_of(2, ('laptop', 'desk', 'nas'))}"


def private_key(h: Holder) -> str:
    """Draw the block of a private key, of a few lines only."""
    kind = h.one_of(1, ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"))
    body = _letters(h, 10, h.number(2, 3, 5) * _LINE, _BASE64)
    lines = [body[at : at + _LINE] for at in range(0, len(body), _LINE)]
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])
