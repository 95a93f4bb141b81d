"""Check digits of Poland that python-stdnum doesn't know."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from stdnum import iban
from stdnum.pl import nip

from piiloom.taxonomy.entities.validators.registry import validator, validator_of_text

_LAND_REGISTER_LETTERS: Final = "XABCDEFGHIJKLMNOPRSTUWYZ"  # X is 10, A 11; there is no Q and no V
_TAX_OFFICE_ACCOUNT: Final = "10100071222"  # bank and office; then 1 (PESEL) or 2 (NIP)
_ZUS_ACCOUNT: Final = "60000002026"
_CRC_POLYNOMIAL: Final = 0x07


def _weighted(values: Iterable[int], weights: tuple[int, ...]) -> int:
    return sum(value * weight for value, weight in zip(values, weights, strict=True))


def _document(number: str, letters: int, weights: tuple[int, ...]) -> bool:
    series, digits = number[:letters], number[letters:]
    if len(number) != 9 or not (series.isascii() and series.isalpha() and digits.isdecimal()):
        return False
    return _weighted((int(sign, 36) for sign in number), weights) % 10 == 0


@validator
def polish_identity_card(number: str) -> bool:
    """Dowód osobisty: three letters and six digits, the first of which is the check digit; weights 7 3 1 9 7 3 1 7 3, A is 10.

    Source: ICAO Doc 9303 weights as described at romek.info/ut/paszport.html; examples ABA300000 (Wikipedia) and ABS123456.
    """
    return _document(number, 3, (7, 3, 1, 9, 7, 3, 1, 7, 3))


@validator
def polish_passport(number: str) -> bool:
    """Paszport: two letters and seven digits, the first of which is the check digit; weights 7 3 9 1 7 3 1 7 3, A is 10.

    Source: as for the identity card; the example of several libraries (id-pl, polish-identification-numbers) is CC7999486.
    """
    return _document(number, 2, (7, 3, 9, 1, 7, 3, 1, 7, 3))


@validator
def polish_bank_account(number: str) -> bool:
    """NRB: an IBAN without its PL. Source: Zarządzenie nr 7/2017 Prezesa NBP; ISO 13616."""
    return number.isdecimal() and len(number) == 26 and bool(iban.is_valid(f"PL{number}"))


@validator
def polish_tax_account(number: str) -> bool:
    """Mikrorachunek podatkowy: an NRB of bank 10100071, office 222, then 1 and a PESEL or 2 and a NIP. Source: podatki.gov.pl."""
    return number[2:13] == _TAX_OFFICE_ACCOUNT and number[13:14] in ("1", "2") and polish_bank_account(number)


@validator
def polish_social_insurance_account(number: str) -> bool:
    """Numer rachunku składkowego: an NRB of 60000002 and 026. Source: ZUS, eskladka.pl."""
    return number[2:13] == _ZUS_ACCOUNT and polish_bank_account(number)


@validator
def polish_doctor(number: str) -> bool:
    """PWZ of doctors and dentists: the first of seven digits is the sum of the others times 1 to 6, modulo 11; it isn't 0.

    Source: Naczelna Izba Lekarska, "Zasady weryfikowania nr prawa wykonywania zawodu", with the example 5425740.
    """
    if not number.isdecimal() or len(number) != 7 or number[0] == "0":
        return False
    return _weighted(map(int, number[1:]), (1, 2, 3, 4, 5, 6)) % 11 == int(number[0])


@validator
def polish_land_register(number: str) -> bool:
    """Księga wieczysta: court of four characters, eight digits, check digit; weights 1 3 7 repeated, modulo 10, X is 10, A is 11.

    Source: Rozporządzenie w sprawie zakładania i prowadzenia ksiąg wieczystych w systemie teleinformatycznym, as described at
    romek.info/ut/ksiega-wieczysta.html with the example KA1S/00012345/6.
    """
    court, digits = number[:4], number[4:]
    if len(digits) != 9 or not digits.isdecimal():
        return False
    values = [int(sign) if sign.isdecimal() else _LAND_REGISTER_LETTERS.find(sign) + 10 for sign in court + digits[:8]]
    return min(values[:4]) >= 0 and _weighted(values, (1, 3, 7) * 4) % 10 == int(digits[8])


@validator
def polish_eori(number: str) -> bool:
    """EORI number of Poland: PL, the NIP, five zeros. Source: podatki.gov.pl, PUESC "EORI"."""
    return number.startswith("PL") and number.endswith("00000") and len(number) == 17 and bool(nip.is_valid(number[2:12]))


def crc_8(text: str) -> int:
    """CRC-8 with polynomial 0x07, starting from 0."""
    crc = 0
    for byte in text.encode("ascii"):
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ _CRC_POLYNOMIAL if crc & 0x80 else crc << 1) & 0xFF
    return crc


@validator_of_text
def polish_einvoice(text: str) -> bool:
    """Numer KSeF: NIP, date, twelve hexadecimal digits, CRC-8 of all that.

    Source: Ministerstwo Finansów, ksef-docs "Numer KSeF", with the example 5265877635-20250826-0100001AF629-AF.
    """
    parts = text.split("-")
    if [len(part) for part in parts] != [10, 8, 12, 2] or not text.isascii():
        return False
    try:
        datetime.strptime(parts[1], "%Y%m%d")  # noqa: DTZ007 - only whether there is such a day
        check = int(parts[3], 16)
    except ValueError:
        return False
    return bool(nip.is_valid(parts[0])) and crc_8(text[:-3]) == check
