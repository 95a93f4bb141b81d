"""Networks, devices, wallets (base58check, bech32, StrKey), parcels, blood donations and authors (ORCID, ISNI, IPI)."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Collection
from hashlib import sha256
from typing import Final

from stdnum import isni as isni_rule
from stdnum import luhn
from stdnum.iso7064 import mod_37_2

from piiloom.taxonomy.entities.validators.registry import validator, validator_of_text

_HEX: Final = frozenset("0123456789abcdef")
_EID_LENGTH: Final = 32


@validator_of_text
def ip_address(text: str) -> bool:
    """An address of either version that has a digit ("add::bed" is code). Source: RFC 791, RFC 4291."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(c.isdigit() for c in text)


@validator
def mac_address(number: str) -> bool:
    """EUI-48 of one device: twelve hexadecimal digits; not zero, and its group bit is not set. Source: IEEE Std 802, section 8.

    The broadcast address and those of multicast groups have the group bit.
    """
    plain = number.replace(":", "").lower()
    return len(plain) == 12 and _HEX.issuperset(plain) and plain.strip("0") != "" and int(plain[1], 16) % 2 == 0


@validator
def imei(number: str) -> bool:
    """Fifteen digits with a Luhn digit; python-stdnum also takes 14 and 16 digits, which have none. Source: 3GPP TS 23.003, section 6.2."""
    return len(number) == 15 and number.isdigit() and number.strip("0") != "" and luhn.is_valid(number)


@validator
def esim_eid(number: str) -> bool:
    """EID of an eSIM: 32 digits, of which the remainder modulo 97 is 1. Source: GSMA SGP.29, section 4."""
    return len(number) == _EID_LENGTH and number.isdigit() and int(number) % 97 == 1


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


_S10_WEIGHTS: Final = (8, 6, 4, 2, 3, 5, 9, 7)


def ups_check(body: str) -> int:
    """The check digit over 15 characters behind 1Z: every second one counts twice; a letter counts its code less 63, modulo 10."""
    values = [int(c) if c.isdigit() else (ord(c) - 63) % 10 for c in body]
    return -(sum(values[::2]) + 2 * sum(values[1::2])) % 10


@validator
def ups_tracking(number: str) -> bool:
    """1Z, fifteen capitals or digits, a check digit. Source: UPS Guide to Labeling, tracking number check digit."""
    return len(number) == 18 and number[:2] == "1Z" and number[2:].isalnum() and number[-1] == str(ups_check(number[2:-1]))


@validator
def postal_item(number: str) -> bool:
    """Service, eight digits and a check digit (weights 8 6 4 2 3 5 9 7, modulo 11), country. Source: UPU standard S10."""
    digits = number[2:11]
    if len(number) != 13 or not digits.isdigit():
        return False
    rest = 11 - sum(int(d) * weight for d, weight in zip(digits, _S10_WEIGHTS, strict=False)) % 11
    return int(digits[8]) == {10: 0, 11: 5}.get(rest, rest)


@validator
def dhl_waybill(number: str) -> bool:
    """Ten digits; the last is the remainder of the others modulo 7. Source: DHL Express, waybill number check digit."""
    return len(number) == 10 and number.isdigit() and int(number[:9]) % 7 == int(number[9])


@validator
def isbt_donation(number: str) -> bool:
    """Donation identification number of 13 characters, at times two flag digits, a check character over the 13 (ISO 7064 modulo 37-2).

    Source: ISBT 128 Standard Technical Specification, data structure 001 and appendix A.
    """
    plain = number.lstrip("=")
    return len(plain) in (14, 16) and bool(mod_37_2.is_valid(plain[:13] + plain[-1]))


_SIXTEEN: Final = re.compile(r"\d{15}[\dX]$")
# The blocks that the ISNI agency keeps for ORCID.
_ORCID_BLOCKS: Final = (("000000015000000", "000000035000000"), ("000900000000000", "000901000000000"))


def _sixteen(text: str) -> str:
    """The last sixteen characters of *text* without blanks and hyphens, if they are a number with a right check; else ""."""
    found = _SIXTEEN.search(re.sub(r"[ -]", "", text))
    return found[0] if found and isni_rule.is_valid(found[0]) else ""


@validator_of_text
def orcid(text: str) -> bool:
    """An ISNI of the blocks kept for ORCID, also as a web address. Source: ORCID, structure of the ORCID identifier."""
    number = _sixteen(text)
    return any(first <= number[:15] <= last for first, last in _ORCID_BLOCKS)


@validator_of_text
def isni(text: str) -> bool:
    """Sixteen places, the last modulo 11-2, also as a web address. Source: ISO 27729."""
    return bool(_sixteen(text))


@validator_of_text
def ipi_name_number(text: str) -> bool:
    """Nine digits and two check digits: weights 10 to 2, modulo 101; numbers are written without zeros before them, too.

    Source: CISAC, IPI system (IPI name number).
    """
    digits = re.sub(r"\D", "", text).zfill(11)
    if len(digits) != 11 or digits.strip("0") == "":
        return False
    rest = sum(int(d) * weight for d, weight in zip(digits[:9], range(10, 1, -1), strict=True)) % 101
    return int(digits[9:]) == ((101 - rest) % 100 if rest else 0)
