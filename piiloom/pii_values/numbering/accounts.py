"""Payment cards, bank accounts, wallets of crypto currencies, and other numbers with check digits that no country gives alone."""

from __future__ import annotations

import base64
import binascii
from hashlib import sha256
from itertools import pairwise
from typing import Final

from piiloom.pii_values.numbering.holders import BANKS, Holder, NumberChoices, check_of, with_check
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
