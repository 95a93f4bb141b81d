"""Check digits of the Netherlands and Belgium that python-stdnum doesn't know, and of numbers that both share with other countries."""

from __future__ import annotations

from typing import Final

from stdnum.be import ogm_vcs
from stdnum.iso7064 import mod_97_10
from stdnum.nl import bsn

from piiloom.taxonomy.entities.validators.registry import validator, validator_of_text

_PAYMENT_WEIGHTS: Final = (2, 4, 8, 5, 10, 9, 7, 3, 6, 1)  # from the right, repeated
# Length of a payment reference: its second digit, which tells how many digits follow it. References of 16 digits have none.
_LENGTH_CODES: Final = {9: "7", 10: "8", 11: "9", 12: "0", 13: "1", 14: "2"}


def _payment_check(body: str) -> str:
    total = sum(int(digit) * _PAYMENT_WEIGHTS[at % 10] for at, digit in enumerate(reversed(body)))
    return str(total % 11 if total % 11 < 2 else 11 - total % 11)


@validator
def dutch_payment_reference(number: str) -> bool:
    """Betalingskenmerk: check digit first (weights 2 4 8 5 10 9 7 3 6 1 from the right, modulo 11; 10 is written 1, 11 is 0).

    References of 9 to 14 digits carry a length code in the second place. Source: Betaalvereniging Nederland, "Specificaties
    betalingskenmerk", with the examples 5000 0567 8901 2345 and 12 2345 3462 2567.
    """
    if not number.isdecimal() or len(number) not in {*_LENGTH_CODES, 16}:
        return False
    return number[1] == _LENGTH_CODES.get(len(number), number[1]) and number[0] == _payment_check(number[1:])


@validator
def dutch_big_number(number: str) -> bool:
    """BIG-nummer: eleven digits, the second of which is 9; check digit first, by the rule of a payment reference.

    Source: the validator of the software house presis (github.com/presisnl/bignumber-validator.js), whose weights are those of a
    payment reference of 11 digits, where a 9 in second place is the length code.
    """
    return len(number) == 11 and dutch_payment_reference(number)


@validator
def dutch_bank_account(number: str) -> bool:
    """Account numbers before IBAN, of nine or ten digits: weights 9 … 1 (10 … 1) add up to a multiple of 11 ("elfproef").

    Source: Betaalvereniging Nederland; Wikipedia "Elfproef", with the example 12 34 56 789.
    """
    if not number.isdecimal() or len(number) not in (9, 10) or int(number) == 0:
        return False
    return sum(int(digit) * (len(number) - at) for at, digit in enumerate(number)) % 11 == 0


@validator
def dutch_payroll_tax_number(number: str) -> bool:
    """Loonheffingennummer: nine digits that pass the test of BSN and RSIN, L and two digits.

    Source: Belastingdienst, Handboek Loonheffingen.
    """
    return len(number) == 12 and number[9] == "L" and number[10:].isdecimal() and number[10:] != "00" and bool(bsn.is_valid(number[:9]))


@validator
def dutch_tax_assessment(number: str) -> bool:
    """Aanslagnummer: BSN or RSIN, a letter for the tax, year, serial number.

    Source: Belastingdienst, "Aanslagnummer of betalingskenmerk".
    """
    return number[:9].isdecimal() and number[9:10].isalpha() and number[10:].isdecimal() and bool(bsn.is_valid(number[:9]))


@validator
def dutch_eori(number: str) -> bool:
    """EORI number of the Netherlands: NL and the RSIN or BSN. Source: Douane, "EORI-nummer"."""
    return number.startswith("NL") and len(number) == 11 and number[2:].isdecimal() and bool(bsn.is_valid(number[2:]))


@validator
def sepa_creditor_id(number: str) -> bool:
    """SEPA creditor identifier: country, two check digits (ISO 7064 mod 97-10 without the business code), business code, national part.

    Source: European Payments Council, EPC262-08 "Creditor Identifier Overview", with the example DE98ZZZ09999999999.
    """
    if len(number) < 8 or not number.isalnum() or not number.isascii() or not number[2:4].isdecimal():
        return False
    return bool(mod_97_10.is_valid(number[7:] + number[:4]))


@validator
def energy_connection(number: str) -> bool:
    """EAN code of an electricity or gas connection: GS1 number of 18 digits, weights 3 and 1 from the left, multiple of ten.

    Source: GS1 General Specifications, 7.9 "Standard check digit calculations" (GSRN), with the example
    376104250021234569 (an SSCC: same rule).
    """
    if not number.isdecimal() or len(number) != 18:
        return False
    return sum(int(digit) * (3 if at % 2 == 0 else 1) for at, digit in enumerate(number)) % 10 == 0


def _belgian_97(body: str, check: str) -> bool:
    return 97 - int(body) % 97 == int(check)


@validator
def belgian_bank_account(number: str) -> bool:
    """Account numbers before IBAN, 123-1234567-12: the rest of the first ten divided by 97, 97 for 0. Source: Febelfin; stdnum be.iban."""
    return number.isdecimal() and len(number) == 12 and (int(number[:10]) % 97 or 97) == int(number[10:])


@validator
def belgian_establishment(number: str) -> bool:
    """Vestigingseenheidsnummer: ten digits, first 2 to 8; 97 minus the rest of the first eight.

    Source: FOD Economie, KBO Open Data Cookbook, with 2.000.000.339 as the first number of its sample.
    """
    return number.isdecimal() and len(number) == 10 and number[0] in "2345678" and _belgian_97(number[:8], number[8:])


@validator
def belgian_riziv(number: str) -> bool:
    """RIZIV/INAMI number: six digits, two check digits (97 minus the rest, since 2012 also 89 minus it), then perhaps three.

    Source: RIZIV, "Ontwikkelingen rond RIZIV-nummers" for software houses (modulo 97 and 89); a published number is 1-83347-80-004.
    """
    if not number.isdecimal() or len(number) not in (8, 11):
        return False
    body, check = int(number[:6]), int(number[6:8])
    return body > 0 and check in (97 - body % 97, 89 - body % 89)


@validator_of_text
def belgian_structured_reference(text: str) -> bool:
    """Gestructureerde mededeling, also between three plus signs or asterisks: ``stdnum.be.ogm_vcs``."""
    return bool(ogm_vcs.is_valid(text.replace("*", "").replace("-", "")))
