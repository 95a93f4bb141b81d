"""Addresses of crypto currencies, with right checks over random hashes: nobody has their keys."""

from __future__ import annotations

import base64
import binascii
from hashlib import sha256
from typing import Final

from piiloom.pii_values.numbering.holders import Holder
from piiloom.taxonomy.entities.validators.international import BASE58, BECH32, BECH32M, RIPPLE_BASE58, bech32_remainder

_STELLAR_VERSION: Final = 6 << 3
_WITNESS_PROGRAM: Final = 32  # values of five bits for 20 bytes
_TAPROOT: Final = 52  # for 32 bytes


def _bytes(h: Holder, salt: int, count: int) -> bytes:
    return bytes(h.number(salt + at, 0, 255) for at in range(count))


def _base58(data: bytes, alphabet: str = BASE58) -> str:
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, place = divmod(number, 58)
        text = alphabet[place] + text
    return alphabet[0] * (len(data) - len(data.lstrip(b"\0"))) + text


def _base58check(version: bytes, data: bytes, alphabet: str = BASE58) -> str:
    body = version + data
    return _base58(body + sha256(sha256(body).digest()).digest()[:4], alphabet)


def _bech32(prefix: str, values: list[int], constant: int = 1) -> str:
    rest = bech32_remainder(prefix, [*values, 0, 0, 0, 0, 0, 0]) ^ constant
    check = [rest >> 5 * (5 - at) & 31 for at in range(6)]
    return f"{prefix}1" + "".join(BECH32[value] for value in [*values, *check])


def _fives(h: Holder, salt: int, count: int) -> list[int]:
    """Draw *count* values of five bits; the last is 0, so that filler bits are, too."""
    return [*(h.number(salt + at, 0, 31) for at in range(count - 1)), 0]


def _hash_address(h: Holder, *versions: int, alphabet: str = BASE58) -> str:
    return _base58check(bytes([h.one_of(1, [chr(one) for one in versions]).encode("latin-1")[0]]), _bytes(h, 10, 20), alphabet)


def bitcoin(h: Holder) -> str:
    """Draw an address of Bitcoin in one of its four forms."""
    segwit = _bech32("bc", [0, *_fives(h, 50, _WITNESS_PROGRAM)])
    taproot = _bech32("bc", [1, *_fives(h, 100, _TAPROOT)], BECH32M)
    return h.one_of(2, (_hash_address(h, 0, 5), segwit, segwit, taproot))


def litecoin(h: Holder) -> str:
    """Draw an address of Litecoin."""
    return h.one_of(2, (_hash_address(h, 48, 50), _bech32("ltc", [0, *_fives(h, 50, _WITNESS_PROGRAM)])))


def ethereum(h: Holder) -> str:
    """Draw an address of Ethereum in small letters."""
    return "0x" + _bytes(h, 1, 20).hex()


def monero(h: Holder) -> str:
    """Draw an address of the form of Monero's; its own check is left out."""
    return "4" + h.one_of(1, "0123456789AB") + "".join(h.one_of(10 + at, BASE58) for at in range(93))


def ripple(h: Holder) -> str:
    """Draw an address of the XRP Ledger."""
    return _hash_address(h, 0, alphabet=RIPPLE_BASE58)


def cardano(h: Holder) -> str:
    """Draw an address of Cardano: one of a payment with a stake, or of a stake alone."""
    return h.one_of(1, (_bech32("addr", [0, *_fives(h, 10, 91)]), _bech32("stake", [28, *_fives(h, 110, 46)])))


def stellar(h: Holder) -> str:
    """Draw an account of Stellar."""
    body = bytes([_STELLAR_VERSION]) + _bytes(h, 1, 32)
    return base64.b32encode(body + binascii.crc_hqx(body, 0).to_bytes(2, "little")).decode()


def solana(h: Holder) -> str:
    """Draw an address of Solana."""
    return _base58(bytes([h.number(1, 16, 255)]) + _bytes(h, 2, 31))


def other(h: Holder) -> str:
    """Draw an address of TRON, Dogecoin, Dash, Zcash or a chain of Cosmos."""
    version = h.one_of(1, ("\x41", "\x1e", "\x4c", "\x1c\xb8")).encode("latin-1")
    return h.one_of(
        2, (_base58check(version, _bytes(h, 10, 20)), _bech32(h.one_of(3, ("cosmos", "osmo")), _fives(h, 50, _WITNESS_PROGRAM)))
    )
