"""Payment cards, bank accounts, wallets of crypto currencies, and other numbers with check digits that no country gives alone.

Addresses of devices, tokens and keys: random ones in the forms of real ones; none opens anything.

IP addresses are of networks kept for documents, MAC addresses local ones.
"""

from __future__ import annotations

import base64
import binascii
import json
import string
from hashlib import sha256
from itertools import pairwise
from typing import Final

from piiloom.pii_values.numbering.holders import BANKS, NETWORK_V6, NETWORKS, Holder, NumberChoices, check_of, with_check
from piiloom.pii_values.numbering.masks import LETTERS
from piiloom.taxonomy.entities.validators.travel_documents import vin as valid_vin
from piiloom.taxonomy.entities.validators.wallets import BASE58, BECH32, BECH32M, RIPPLE_BASE58, bech32_remainder

# Belgian bank codes that exist: python-stdnum rejects others.
_BELGIAN_BANKS: Final = tuple("001 035 050 063 068 091 103 111 143 220 310 363 377 400 440 523 643 732 750 850 860 967 979".split())
_TRIES: Final = 40


def card_number(head: str, length: int, choices: NumberChoices) -> str:
    """Draw a card number of *length* digits that begins with *head*; the last one is its Luhn digit."""
    return with_check(head + choices.digits(1, length - 1 - len(head)), "luhn")


def card_in_groups(number: str, sign: str) -> str:
    """Write a card number in groups of four (of fifteen digits: four, six and five) with *sign* between them."""
    cuts = (0, 4, 10, 15) if len(number) == 15 else (0, 4, 8, 12, 16)
    return sign.join(number[a:b] for a, b in pairwise(cuts))


def bank_code(choices: NumberChoices) -> str:
    """Draw a made-up bank code of four letters."""
    return choices.one_of(5, BANKS)


def iban_of(country: str, body: str, choices: NumberChoices) -> str:
    """Return an IBAN of *country* with its ISO 7064 check digits.

    *body* is the part after the check digits. For Belgium, Spain and Norway it is changed so that the national check digits are valid, too.
    """
    match country:
        case "BE":
            body = choices.one_of(6, _BELGIAN_BANKS) + body[3:10]
            body += f"{int(body) % 97 or 97:02d}"
        case "ES":
            body = body[:8] + check_of(body, "es.ccc:calc_check_digits") + body[10:]
        case "NO":
            body = _norwegian(body, choices)
        case _:
            pass
    return f"{country}{check_of(f'{country}00{body}', 'iban:calc_check_digits')}{body}"


def in_fours(number: str) -> str:
    """Write an IBAN in groups of four."""
    return " ".join(number[at : at + 4] for at in range(0, len(number), 4))


def _norwegian(body: str, choices: NumberChoices) -> str:
    """Return ten digits and their check digit (weights 5 4 3 2 7 6 5 4 3 2, modulo 11).

    Numbers without a check digit are skipped. *body* is returned if all ``_TRIES`` have none.
    """
    for turn in range(_TRIES):
        ten = f"{1000 + int(body[:4]) % 9000}" + choices.digits(10 + turn, 6)
        check = -sum(int(d) * w for d, w in zip(ten, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2), strict=True)) % 11
        if check < 10 and ten[4:6] != "00":
            return f"{ten}{check}"
    return body


def national_account(country: str, value: str) -> str:
    """Set the check digits of a national account number (not an IBAN), in countries that have them."""
    if country == "AR":
        number = with_check(value[:7], "ar.cbu") + value[8:21]
        return number + check_of(number[8:], "ar.cbu")
    if country == "MA":  # RIB: bank, town, account, key modulo 97 (Bank Al-Maghrib)
        return f"{value[:22]}{97 - int(value[:22] + '00') % 97:02d}"
    if country == "MX":  # CLABE: weights 3 7 1, modulo 10 (Banco de México)
        body = value[:17]
        return body + str(-sum(int(d) * (3, 7, 1)[at % 3] % 10 for at, d in enumerate(body)) % 10)
    return value


# The first digits of issuers and the length of their numbers.
_CARDS: Final = "4539:16 4716:16 4929:16 5105:16 5425:16 2223:16 2720:16 378:15 341:15 6011:16 6215:16 3530:16 6759:16 3600:14".split()
_SIM_ISSUERS: Final = "894600 894707 893585 894800 893104 893200 893510 8955 89971 8484 8986 8965 8991".split()
_SIM_LENGTHS: Final = ("19", "20")
_AMERICAN_MAKERS: Final = "1GC 1FT 1HG 2HG 3VW 4T1 5YJ LSV LFV".split()
_OTHER_MAKERS: Final = "WVWZZZ YV1BW8 VF1RFB TMBJJ7 WDB203 ZFA312 SALLAA VSSZZZ".split()
_FACILITIES: Final = "G1234 W0987 S2105 A9999 P3310".split()
_VIN_CHECKS: Final = "0123456789X"


def payment_card(h: Holder) -> str:
    """Draw the number of a card with its Luhn digit, in one of the ways it is written."""
    head, _, length = h.one_of(20, _CARDS).partition(":")
    number = card_number(head, int(length), h.choices)
    if len(number) == 14:
        return h.one_of(21, (number, f"{number[:4]} {number[4:10]} {number[10:]}"))
    return h.one_of(21, (number, card_in_groups(number, " "), card_in_groups(number, " "), card_in_groups(number, "-")))


def iccid(h: Holder) -> str:
    """Draw the number of a SIM card with its Luhn digit."""
    head = h.one_of(1, [one for one in _SIM_ISSUERS if one.startswith("89")])
    length = int(h.one_of(2, _SIM_LENGTHS))
    return with_check(head + h.digits(3, length - 1 - len(head)), "luhn")


def vin(h: Holder) -> str:
    """Draw the number of a vehicle: of makers for North America and China with the check digit, of others without."""
    model = "".join(h.one_of(10 + at, LETTERS + "123456789") for at in range(5))
    tail = h.one_of(20, "FGHJKLMNPRST") + h.one_of(21, LETTERS) + h.digits(22, 6)
    american = h.one_of(23, _AMERICAN_MAKERS) + model
    with_check = next(number for check in _VIN_CHECKS if valid_vin(number := f"{american}{check}{tail}"))
    other = h.one_of(24, _OTHER_MAKERS) + model[:2] + "Z" + tail
    return h.one_of(25, (with_check, other))


def donation(h: Holder) -> str:
    """Draw the number of a donation as it is written beside its bar code (ISBT 128)."""
    facility, year, serial = h.one_of(1, _FACILITIES), f"{h.number(2, 20, 26)}", h.digits(3, 6)
    check = check_of(facility + year + serial, "iso7064.mod_37_2")
    return h.one_of(4, (f"{facility} {year} {serial} {check}", f"{facility}{year}{serial}{check}"))


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
