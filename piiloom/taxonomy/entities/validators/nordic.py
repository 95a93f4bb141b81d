"""Sweden, Finland and Norway: the checks that python-stdnum has not."""

from __future__ import annotations

from typing import Final

from stdnum import luhn
from stdnum.fi import hetu, ytunnus
from stdnum.no import fodselsnummer
from stdnum.no import orgnr as norwegian_orgnr
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
