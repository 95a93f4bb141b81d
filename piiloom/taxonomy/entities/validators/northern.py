"""Sweden, Finland and Norway: the checks that python-stdnum does not have. A Swedish bank has its own rule, by clearing number.

Check digits of Poland that python-stdnum doesn't know.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from stdnum import iban, luhn
from stdnum.fi import hetu, ytunnus
from stdnum.no import fodselsnummer
from stdnum.no import orgnr as norwegian_orgnr
from stdnum.pl import nip
from stdnum.se import orgnr as swedish_orgnr

from piiloom.taxonomy.entities.validators.registry import validator, validator_of_text

_FINNISH_CHECKS: Final = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_DUF_WEIGHTS: Final = (4, 6, 3, 2, 4, 6, 3, 2, 7, 5)
_FIRST_DUF_YEAR: Final = 1960
_LAST_DUF_YEAR: Final = 2060


def _all_digits(number: str, *lengths: int) -> bool:
    return number.isascii() and number.isdigit() and len(number) in lengths


@validator
def se_samordningsnummer(number: str) -> bool:
    """Swedish coordination number: a personnummer with 60 added to the day; the Luhn digit is that of the number as written.

    Source: lagen (2022:1697) om samordningsnummer; Skatteverket, SKV 707.
    """
    plain = number.replace("+", "")
    if not _all_digits(plain, 10, 12):
        return False
    ten = plain[-10:]
    return 61 <= int(ten[4:6]) <= 91 and 1 <= int(ten[2:4]) <= 12 and luhn.is_valid(ten)


@validator
def se_hsa_id(number: str) -> bool:
    """HSA id of Swedish health care: SE, the organisation number of the issuer, a hyphen (stripped here), a serial of the issuer.

    Source: Inera, "HSA-id" (HSA-katalogen, tekniska anvisningar); the issuer's number has the Luhn digit of organisation numbers.
    """
    return number[:2].upper() == "SE" and number[12:].isalnum() and swedish_orgnr.is_valid(number[2:12])


@validator
def se_peppol_address(number: str) -> bool:
    """Swedish Peppol address: scheme 0007 (ISO 6523) and an organisation number. Source: Peppol code list of participant schemes."""
    return number.startswith("0007:") and swedish_orgnr.is_valid(number[5:])


@validator
def nordic_metering_point(number: str) -> bool:
    """GSRN of a metering point (anläggnings-id, käyttöpaikkatunnus, målepunkt-id): 18 digits, GS1 modulus 10.

    Source: GS1 General Specifications, section 7.9 (check digit of a GSRN).
    """
    if not _all_digits(number, 18):
        return False
    return sum(int(digit) * (1 if at % 2 == 0 else 3) for at, digit in enumerate(reversed(number))) % 10 == 0


@validator_of_text
def fi_henkilotunnus(text: str) -> bool:
    """Finnish personal identity code, in which the hyphen is a sign of the century (so it must not be stripped).

    Source: Government decree 128/2010 section 2, with the century signs of decree 690/2022; python-stdnum fi.hetu.
    """
    return hetu.is_valid(text.replace(" ", ""))


@validator_of_text
def fi_temporary_henkilotunnus(text: str) -> bool:
    """Temporary code: individual number 900 to 999, given by a hospital or used for tests; otherwise as a henkilötunnus.

    Source: DVV, henkilötunnus; python-stdnum fi.hetu (allow_temporary).
    """
    plain = text.replace(" ", "")
    return plain[7:8] == "9" and hetu.is_valid(plain, allow_temporary=True)


@validator
def fi_check_character(number: str) -> bool:
    """Digits and a check character modulus 31: SATU (8 digits) and the permanent building id VTJ-PRT (9 digits, the first of them 1).

    Source: DVV on the sähköinen asiointitunnus and on the pysyvä rakennustunnus; the character is that of the henkilötunnus.
    """
    body, check = number[:-1], number[-1:].upper()
    return _all_digits(body, 8, 9) and check == _FINNISH_CHECKS[int(body) % 31]


@validator
def fi_reference(number: str) -> bool:
    """Finnish payment reference (viitenumero): 4 to 20 digits, weights 7, 3, 1 from the right, modulus 10.

    Source: Finance Finland, "Kotimaisen viitteen rakenneohje".
    """
    return _all_digits(number, *range(4, 21)) and int(number) > 0 and _weighted_731(number)


def _weighted_731(number: str) -> bool:
    total = sum(int(digit) * (7, 3, 1)[at % 3] for at, digit in enumerate(reversed(number[:-1])))
    return (10 - total % 10) % 10 == int(number[-1])


@validator
def fi_bank_account(number: str) -> bool:
    """Finnish national account number before IBAN: filled to 14 digits, Luhn.

    The filling zeros stand after the sixth digit, for banks beginning with 4 or 5 after the seventh. Source: Finance Finland,
    "Suomalaiset rahalaitostunnukset ja BIC-koodit" (machine format of account numbers).
    """
    if not _all_digits(number, *range(8, 15)) or number[0] not in "1234568":
        return False
    head = 7 if number[0] in "45" else 6
    return luhn.is_valid(number[:head] + "0" * (14 - len(number)) + number[head:])


@validator
def fi_learner_number(number: str) -> bool:
    """Finnish learner number: OID 1.2.246.562.24 (its dots are stripped here) and 11 digits, the last one as in a payment reference.

    Source: Finnish National Agency for Education, oppijanumerorekisteri; its OIDGenerator ("IBM 1 3 7").
    """
    arc, last = number[:10], number[10:]
    return arc == "1224656224" and _all_digits(last, 11) and last[0] != "0" and _weighted_731(last)


@validator
def fi_ovt(number: str) -> bool:
    """Finnish OVT code of an e-invoice address: 0037, a business id, up to five characters of the owner. Source: JHS 179, ISO 6523."""
    number = number.removeprefix("0216:")
    rest = number[12:]
    return number.startswith("0037") and ytunnus.is_valid(number[4:12]) and len(rest) <= 5 and (not rest or rest.isalnum())


def _norwegian_digits(number: str) -> bool:
    return fodselsnummer.calc_check_digit1(number) == number[9] and fodselsnummer.calc_check_digit2(number) == number[10]


@validator
def no_synthetic_fodselsnummer(number: str) -> bool:
    """Fødselsnummer of the synthetic people of the tax administration's test register: 80 added to the month.

    Source: Skatteetaten, "Syntetiske fødselsnummer" (Tenor testdata). Check digits are those of the number as written.
    """
    if not _all_digits(number, 11):
        return False
    day, month = int(number[:2]), int(number[2:4]) - 80
    return 1 <= day <= 31 and 1 <= month <= 12 and _norwegian_digits(number)


@validator
def no_fh_nummer(number: str) -> bool:
    """FH number (felles hjelpenummer): 800000000 to 999999999 without meaning, then two check digits as in a fødselsnummer.

    Source: Direktoratet for e-helse, HIS 1116-1 "Identifikatorer for personer - syntaks for felles hjelpenummer".
    """
    return _all_digits(number, 11) and number[0] in "89" and _norwegian_digits(number)


@validator
def no_duf_nummer(number: str) -> bool:
    """DUF number of the immigration register: year, six digits of a serial, two check digits (weighted sum modulus 11, "00" to "10").

    Source: UDI, "DUF-nummer"; Statistics Norway (SSB), validation of KOSTRA reports.
    """
    if not _all_digits(number, 12) or not _FIRST_DUF_YEAR <= int(number[:4]) <= _LAST_DUF_YEAR:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number[:10], _DUF_WEIGHTS, strict=True))
    return total % 11 == int(number[10:])


@validator
def no_kid(number: str) -> bool:
    """KID of a Norwegian payment: 4 to 25 digits, the last by modulus 10 (Luhn) or modulus 11 (weights 2 to 7 from the right).

    Source: Mastercard Payment Services (Nets), "KID". A hyphen for remainder 10 is stripped before, so it is not checked.
    """
    if not _all_digits(number, *range(4, 26)) or int(number) == 0:
        return False
    total = sum(int(digit) * (2 + at % 6) for at, digit in enumerate(reversed(number[:-1])))
    return luhn.is_valid(number) or (11 - total % 11) % 11 == int(number[-1])


@validator
def no_peppol_address(number: str) -> bool:
    """Norwegian Peppol address: scheme 0192 and an organisation number. Source: Peppol code list; Digdir, ELMA."""
    return number.startswith("0192:") and norwegian_orgnr.is_valid(number[5:])


# First clearing number, last, and how accounts of this range are checked: see _swedish_account.
_CLEARING: Final = (
    (1100, 2099, "a"),
    (2300, 2399, "b"),
    (2400, 2499, "a"),
    (3300, 3300, "c"),
    (3782, 3782, "c"),
    (3000, 3999, "a"),
    (4000, 4999, "b"),
    (5000, 5999, "a"),
    (6000, 6999, "h"),
    (7000, 7999, "a"),
    (8000, 8999, "s"),
    (9020, 9029, "b"),
    (9040, 9049, "b"),
    (9060, 9079, "a"),
    (9100, 9109, "b"),
    (9120, 9149, "a"),
    (9150, 9169, "b"),
    (9170, 9179, "a"),
    (9180, 9189, "c"),
    (9190, 9199, "b"),
    (9230, 9239, "a"),
    (9250, 9259, "a"),
    (9260, 9269, "b"),
    (9270, 9289, "a"),
    (9300, 9349, "c"),
    (9390, 9399, "b"),
    (9400, 9469, "a"),
    (9470, 9479, "b"),
    (9500, 9549, "p"),
    (9550, 9569, "b"),
    (9570, 9579, "c"),
    (9580, 9589, "a"),
    (9590, 9599, "b"),
    (9630, 9639, "a"),
    (9640, 9679, "b"),
    (9680, 9689, "a"),
    (9700, 9719, "b"),
    (9750, 9759, "b"),
    (9780, 9789, "b"),
    (9880, 9889, "b"),
    (9890, 9899, "c"),
    (9960, 9969, "p"),
)


@validator
def se_bank_account(number: str) -> bool:
    """Swedish clearing number and account number, checked as the bank of the clearing number does it.

    Source: Bankgirot, "Bankernas kontonummer" (the two account types and their comments), by range of clearing numbers.
    """
    digits = "".join(character for character in number if character.isdigit())
    if not 11 <= len(digits) <= 15:
        return False
    clearing = int(digits[:4])
    kind = next((kind for first, last, kind in _CLEARING if first <= clearing <= last), None)
    return kind is not None and _swedish_account(digits, kind)


def _swedish_account(digits: str, kind: str) -> bool:
    """Check an account by the kind of its bank.

    a: 7 digits, modulus 11 without the first digit of the clearing number; b: with it; c: 10 digits, modulus 10; h: Handelsbanken,
    9 digits, modulus 11; s: Swedbank, modulus 10, perhaps with a fifth clearing digit; p: Plusgirot, up to 10 digits, modulus 10.
    """
    account = digits[4:]
    if kind in "ab":
        return len(account) == 7 and _modulus_11(digits[1:] if kind == "a" else digits)
    if kind == "c":
        return len(account) == 10 and luhn.is_valid(account)
    if kind == "h":
        return len(account) in (8, 9) and _modulus_11(account)
    if kind == "s":
        return luhn.is_valid(account) or (luhn.is_valid(digits[:5]) and luhn.is_valid(digits[5:]))
    return len(account) <= 10 and luhn.is_valid(account)


def _modulus_11(digits: str) -> bool:
    """Whether the sum weighted 1 to 10 from the right, and 1 again, is a multiple of 11."""
    return sum(int(digit) * (at % 10 + 1) for at, digit in enumerate(reversed(digits))) % 11 == 0


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
