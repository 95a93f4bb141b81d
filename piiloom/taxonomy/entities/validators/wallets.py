"""Addresses of crypto currencies: base58check, bech32 and StrKey, by the versions and prefixes of each currency."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection
from hashlib import sha256
from typing import Final

from piiloom.taxonomy.entities.validators.registry import validator_of_text

BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
RIPPLE_BASE58: Final = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
BECH32M: Final = 0x2BC830A3  # BIP 350: the checksum of witness versions from 1 on
_HASH: Final = 20  # bytes of the hash that an address stands for
_KEY: Final = 32
_STELLAR_VERSION: Final = 6 << 3
_COSMOS: Final = ("cosmos", "osmo", "terra", "juno", "celestia", "inj")
# TRON, Dogecoin (two), Dash; Zcash has versions of two bytes.
_OTHER_VERSIONS: Final = (b"\x41", b"\x1e", b"\x16", b"\x4c", b"\x1c\xb8", b"\x1c\xbd")


def _base58(text: str, alphabet: str = BASE58) -> bytes:
    """Decode *text*; b"" if a character is not in the alphabet."""
    number = 0
    for character in text:
        place = alphabet.find(character)
        if place < 0:
            return b""
        number = number * 58 + place
    zeros = len(text) - len(text.lstrip(alphabet[0]))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def _base58check(text: str, versions: Collection[bytes], alphabet: str = BASE58) -> bool:
    """Whether *text* is a version, a hash of 20 bytes and the first four bytes of the double SHA-256 of both."""
    data = _base58(text, alphabet)
    if not any(data.startswith(version) and len(data) == len(version) + _HASH + 4 for version in versions):
        return False
    return sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def bech32_remainder(prefix: str, values: Collection[int]) -> int:
    """The checksum of BIP 173 over *prefix* and *values* (five bits each, the last six are the check)."""
    from stdnum.bitcoin import bech32_checksum  # noqa: PLC0415 - it loads ssl and pydoc, 10 ms, and few runs have wallets

    high, low = [ord(c) >> 5 for c in prefix], [ord(c) & 31 for c in prefix]
    return bech32_checksum([*high, 0, *low, *values])


def _bech32(text: str, prefixes: Collection[str]) -> list[int]:
    """The values of *text* without its check; [] if the prefix is another or the check is wrong."""
    prefix, _, rest = text.lower().rpartition("1")
    if prefix not in prefixes or len(rest) < 7 or any(c not in BECH32 for c in rest):
        return []
    values = [BECH32.index(c) for c in rest]
    return values[:-6] if bech32_remainder(prefix, values) in (1, BECH32M) else []


@validator_of_text
def bitcoin_address(text: str) -> bool:
    """Version 0 or 5 in base58check, or a witness program in bech32 (bech32m). Source: BIP 13, 173, 350."""
    return _base58check(text, (b"\x00", b"\x05")) or bool(_bech32(text, ("bc",)))


@validator_of_text
def litecoin_address(text: str) -> bool:
    """Version 48 or 50 in base58check, or bech32 with ltc. Source: litecoin, chainparams.cpp."""
    return _base58check(text, (b"\x30", b"\x32")) or bool(_bech32(text, ("ltc",)))


@validator_of_text
def ripple_address(text: str) -> bool:
    """Version 0 in base58check with an alphabet that begins with r. Source: XRP Ledger, base58 encodings."""
    return _base58check(text, (b"\x00",), RIPPLE_BASE58)


@validator_of_text
def cardano_address(text: str) -> bool:
    """Bech32 with addr or stake, which is longer here than BIP 173 allows. Source: CIP-19."""
    return bool(_bech32(text, ("addr", "stake")))


@validator_of_text
def stellar_account(text: str) -> bool:
    """Base32 of version 6, a key of 32 bytes and their CRC-16 (XModem, low byte first). Source: SEP-23."""
    try:
        data = base64.b32decode(text)
    except binascii.Error:
        return False
    if len(data) != 1 + _KEY + 2 or data[0] != _STELLAR_VERSION:
        return False
    return binascii.crc_hqx(data[:-2], 0).to_bytes(2, "little") == data[-2:]


@validator_of_text
def solana_address(text: str) -> bool:
    """Base58 of a public key of 32 bytes; there is no check digit. Source: Solana documentation, accounts."""
    return len(_base58(text)) == _KEY


@validator_of_text
def other_wallet(text: str) -> bool:
    """TRON, Dogecoin, Dash, Zcash in base58check; chains of Cosmos in bech32. Source: chainparams of each; cosmos-sdk, bech32."""
    return _base58check(text, _OTHER_VERSIONS) or bool(_bech32(text, _COSMOS))
