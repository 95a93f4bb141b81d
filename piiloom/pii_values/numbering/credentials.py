"""Tokens and keys: random ones in the forms of real ones; none opens anything."""

from __future__ import annotations

import base64
import json
import string
from typing import Final

from piiloom.pii_values.numbering.holders import Holder
from piiloom.pii_values.numbering.network_ids import hexadecimal

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
