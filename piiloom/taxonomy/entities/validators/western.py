"""Check digits of the Netherlands and Belgium that python-stdnum doesn't know, and of numbers that both share with other countries.

Check digits of Brazilian and Portuguese numbers that python-stdnum does not have.

Each function gets the number without blanks, dots, slashes and hyphens. Where two rules are in use (the voter id of São Paulo
and Minas Gerais), both pass.

United Kingdom and United States: the checks that python-stdnum does not have.
"""

from __future__ import annotations

import re
from binascii import crc_hqx
from datetime import date
from itertools import cycle
from typing import TYPE_CHECKING, Final

from stdnum import luhn
from stdnum.be import ogm_vcs
from stdnum.gb import nhs
from stdnum.iso7064 import mod_97_10
from stdnum.nl import bsn

from piiloom.taxonomy.entities.validators.registry import validator, validator_of_text

if TYPE_CHECKING:
    from collections.abc import Iterable


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


_STATES = frozenset("11 12 13 14 15 16 17 21 22 23 24 25 26 27 28 29 31 32 33 35 41 42 43 50 51 52 53".split())  # IBGE codes
_FISCAL_MODELS = frozenset("55 57 58 59 62 63 65 66 67".split())


def _weighted(digits: str, weights: Iterable[int]) -> int:
    """Sum of the digits, each times its weight; letters count as in the alphanumeric CNPJ (ASCII code minus 48)."""
    return sum((ord(digit) - 48) * weight for digit, weight in zip(digits, weights, strict=False))


def _all_same(number: str) -> bool:
    return len(set(number)) == 1


def _modulo_11(digits: str) -> int:
    """Remainder of the sum with weights 2 to 9, over and over from the right."""
    return _weighted(digits[::-1], cycle(range(2, 10))) % 11


def _modulo_10(digits: str) -> int:
    """Check digit with weights 2 and 1 from the right, digits of the products added."""
    total = sum(sum(divmod(int(digit) * weight, 10)) for digit, weight in zip(reversed(digits), cycle((2, 1)), strict=False))
    return -total % 10


@validator
def br_rg_sp(number: str) -> bool:
    """RG of São Paulo: weights 2 to 9 on eight digits, 100 on the check (X is 10), divisible by 11 (IIRGD, as widely implemented)."""
    if not re.fullmatch(r"\d{8}[\dXx]", number) or _all_same(number):
        return False
    check = 10 if number[8] in "Xx" else int(number[8])
    return (_weighted(number[:8], range(2, 10)) + 100 * check) % 11 == 0


@validator
def br_cnh(number: str) -> bool:
    """CNH: weights 9 to 1, then 1 to 9; a first remainder of 10 takes two from the second (CONTRAN; same in validate-docbr)."""
    if not re.fullmatch(r"\d{11}", number) or _all_same(number):
        return False
    first = _weighted(number[:9], range(9, 0, -1)) % 11
    second = _weighted(number[:9], range(1, 10)) % 11
    if first == 10:
        first, second = 0, (second - 2) % 11
    return number[9:] == f"{first}{0 if second == 10 else second}"


@validator
def br_cns(number: str) -> bool:
    """CNS: the sum of the digits times 15 to 1 is divisible by 11; numbers from 1 and 2 carry 000 or 001 (DATASUS)."""
    if not re.fullmatch(r"[12]\d{10}00[01]\d|[789]\d{14}", number):
        return False
    return _weighted(number, range(15, 0, -1)) % 11 == 0


@validator
def br_pis(number: str) -> bool:
    """PIS, PASEP, NIT, NIS: weights 3298765432, check digit 11 minus remainder, 10 and 11 give 0 (Caixa; same in brutils)."""
    if not re.fullmatch(r"\d{11}", number) or _all_same(number):
        return False
    return (11 - _weighted(number, (3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) % 11) % 11 % 10 == int(number[10])


@validator
def br_voter_id(number: str) -> bool:
    """Voter id: weights 2 to 9 on the sequence, 7 to 9 on state and first check digit, 10 gives 0 (TSE Resolução 23.659/2021 art. 36).

    In São Paulo and Minas Gerais (01, 02) many implementations let a remainder of 0 give 1: that passes, too.
    """
    match = re.fullmatch(r"(\d{8})\d?(0[1-9]|1\d|2[0-8])(\d)(\d)", number)
    if not match or (len(number) == 13 and match[2] not in {"01", "02"}):
        return False
    sequence, state, first, second = match.groups()

    def fits(total: int, digit: str) -> bool:
        rest = total % 11
        return int(digit) == rest % 10 or (rest == 0 and digit == "1" and state in {"01", "02"})

    return fits(_weighted(sequence, range(2, 10)), first) and fits(_weighted(state + first, range(7, 10)), second)


@validator
def br_renavam(number: str) -> bool:
    """RENAVAM: weights 3298765432, ten times the sum mod 11, 10 gives 0 (DENATRAN; same in validate-docbr)."""
    if not re.fullmatch(r"\d{11}", number) or _all_same(number):
        return False
    return _weighted(number, (3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) * 10 % 11 % 10 == int(number[10])


@validator
def br_certificate(number: str) -> bool:
    """Civil register entry (32 digits): weights rise from 2 (1 for the second) to 10, then from 0; 10 gives 1 (Provimento CNJ 63/2017)."""
    if not re.fullmatch(r"\d{32}", number):
        return False

    def check(digits: str) -> int:
        start = 32 - len(digits)
        return (rest := _weighted(digits, ((start + place) % 11 for place in range(len(digits)))) % 11) - 9 * (rest == 10)

    first = check(number[:30])
    return number[30:] == f"{first}{check(number[:30] + str(first))}"


@validator
def br_legal_process(number: str) -> bool:
    """Court case number NNNNNNN-DD.AAAA.J.TR.OOOO: with the check digits at the end, the number mod 97 is 1 (CNJ Resolução 65/2008)."""
    if not re.fullmatch(r"\d{9}(?:19|20)\d{2}[1-9]\d{6}", number):
        return False
    return int(number[:7] + number[9:] + number[7:9]) % 97 == 1


@validator
def br_property_registry(number: str) -> bool:
    """CNM of a property, CCCCCC.L.NNNNNNN-DD: mod 97 is 1 (Provimento CNJ 149/2023 art. 330, ISO 7064 mod 97-10); the book is 2 or 3."""
    return bool(re.fullmatch(r"\d{6}[23]\d{9}", number)) and int(number) % 97 == 1


@validator
def br_fiscal_key(number: str) -> bool:
    """Access key of an electronic fiscal document (44): state, month, model, last digit mod 11 with weights 2 to 9 (Manual da NF-e)."""
    match = re.fullmatch(r"(\d{2})\d{2}(\d{2})[0-9A-Z]{12}\d{2}(\d{2})\d{21}(\d)", number)
    if not match or match[1] not in _STATES or not 1 <= int(match[2]) <= 12 or match[3] not in _FISCAL_MODELS:
        return False
    rest = _modulo_11(number[:43])
    return int(match[4]) == (0 if rest < 2 else 11 - rest)


@validator
def br_boleto(number: str) -> bool:
    """Line of a bank's payment slip (47): three fields mod 10, one digit mod 11 over the bar code (Carta-Circular BCB 2.926/2000)."""
    if not re.fullmatch(r"\d{47}", number):
        return False
    fields = (number[:9], number[10:20], number[21:31])
    if any(_modulo_10(field) != int(number[place]) for field, place in zip(fields, (9, 20, 31), strict=True)):
        return False
    check = 11 - _modulo_11(number[:4] + number[33:47] + number[4:9] + fields[1] + fields[2])
    return int(number[32]) == (1 if check > 9 else check)


@validator
def br_collection_slip(number: str) -> bool:
    """Line of a bill of taxes or utilities (48): four blocks and one general digit, mod 10 or 11 as the third digit says (FEBRABAN)."""
    if not re.fullmatch(r"8\d[6-9]\d{45}", number):
        return False

    def check(digits: str) -> int:
        if number[2] in "67":
            return _modulo_10(digits)
        return 0 if (rest := _modulo_11(digits)) < 2 else 11 - rest

    blocks = [number[start : start + 12] for start in range(0, 48, 12)]
    code = "".join(block[:11] for block in blocks)
    return all(check(block[:11]) == int(block[11]) for block in blocks) and check(code[:3] + code[4:]) == int(code[3])


@validator_of_text
def br_pix_payload(text: str) -> bool:
    """BR Code: the last four characters are the CRC-16/CCITT-FALSE of all before (Manual do BR Code; EMV QRCPS field 63)."""
    return text[-8:-4] == "6304" and text.isascii() and text[-4:].upper() == f"{crc_hqx(text[:-4].encode(), 0xFFFF):04X}"


@validator
def br_ie_sp(number: str) -> bool:
    """State registration of São Paulo (12): ninth digit by weights 1,3-8,10, twelfth by 3,2,10-2, the remainder's last digit (SEFAZ-SP)."""
    if not re.fullmatch(r"\d{12}", number) or _all_same(number):
        return False
    first = _weighted(number, (1, 3, 4, 5, 6, 7, 8, 10)) % 11 % 10
    second = _weighted(number, (3, 2, 10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11 % 10
    return (first, second) == (int(number[8]), int(number[11]))


@validator
def br_cno(number: str) -> bool:
    """CNO, formerly CEI (12): weights 74185216374; tens and units of the sum are added, ten minus the last digit (Receita Federal)."""
    if not re.fullmatch(r"\d{12}", number) or _all_same(number):
        return False
    tens, units = divmod(_weighted(number, (7, 4, 1, 8, 5, 2, 1, 6, 3, 7, 4)) % 100, 10)
    return -(tens + units) % 10 == int(number[11])


@validator
def upu_s10(number: str) -> bool:
    """Postal item number: weights 86423597, 11 minus remainder, 10 gives 0 and 11 gives 5 (UPU standard S10)."""
    if not re.fullmatch(r"[A-Z]{2}\d{9}[A-Z]{2}", number):
        return False
    check = 11 - _weighted(number[2:10], (8, 6, 4, 2, 3, 5, 9, 7)) % 11
    return int(number[10]) == {10: 0, 11: 5}.get(check, check)


@validator
def pt_niss(number: str) -> bool:
    """NISS: weights 29 23 19 17 13 11 7 5 3 2, nine minus the sum's last digit (Segurança Social; same in django-localflavor)."""
    if not re.fullmatch(r"[12]\d{10}", number):
        return False
    return 9 - _weighted(number, (29, 23, 19, 17, 13, 11, 7, 5, 3, 2)) % 10 == int(number[10])


@validator
def pt_civil_id(number: str) -> bool:
    """BI, and the number at the head of the citizen card: weights 9 to 1 mod 11; a check of 10 is printed as 0."""
    if not re.fullmatch(r"\d{7,8}\d", number) or _all_same(number):
        return False
    total = _weighted(number.zfill(9)[:8], range(9, 1, -1))
    return (total + int(number[-1])) % 11 == 0 or (number[-1] == "0" and (total + 10) % 11 == 0)


@validator
def pt_nib(number: str) -> bool:
    """NIB: 21 digits, mod 97 is 1 (ISO 7064; Banco de Portugal)."""
    return bool(re.fullmatch(r"\d{21}", number)) and int(number) % 97 == 1


_PNC: Final = re.compile(r"(?:\d{2})?(\d{2})/(\d{1,7})([A-Z])")
_PNC_LETTERS: Final = "ZABCDEFGHJKLMNPQRTUVWXY"
_MPAN_PRIMES: Final = (3, 5, 7, 13, 17, 19, 23, 29, 31, 37, 41, 43)
_NO_NINO: Final = frozenset("BG GB KN NK NT TN ZZ".split())
_WOMEN: Final = 50  # added to the month of birth of women


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


@validator
def gb_chi(number: str) -> bool:
    """Scottish CHI number: birth date, three digits, a check digit as that of NHS numbers. Source: Public Health Scotland, CHI number."""
    if not (len(number) == 10 and number.isdigit()):
        return False
    day, month, year = int(number[:2]), int(number[2:4]), int(number[4:6])
    return any(_is_day(century + year, month, day) for century in (1900, 2000)) and bool(nhs.is_valid(number))


@validator
def gb_nino(number: str) -> bool:
    """National Insurance numbers have a prefix that HMRC gives; some pairs of letters are never given. Source: HMRC NIM39110."""
    return number[:2].upper() not in _NO_NINO and number[2:8].isdigit()


@validator
def gb_uln(number: str) -> bool:
    """Unique learner number: weights 10 to 2, the check digit is 10 less the remainder modulo 11, which is not 0.

    Source: Learning Records Service, ULN specification.
    """
    if not (len(number) == 10 and number.isdigit()):
        return False
    rest = sum(int(d) * weight for d, weight in zip(number[:9], range(10, 1, -1), strict=True)) % 11
    return rest != 0 and 10 - rest == int(number[9])


@validator
def gb_driver_number(number: str) -> bool:
    """Decade, month (50 more for women), day and year of birth behind five places of the surname. Source: DVLA INS57P."""
    plain = number.upper()
    born = plain[5:11]
    if len(plain) not in (16, 18) or not born.isdigit():
        return False
    year, month, day = int(born[0] + born[5]), int(born[1:3]), int(born[3:5])
    month -= _WOMEN if month > _WOMEN else 0
    return any(_is_day(century + year, month, day) for century in (1900, 2000))


@validator
def gb_mpan(number: str) -> bool:
    """The last 13 digits of an MPAN: the digits times primes, modulo 11, modulo 10. Source: Master Registration Agreement, schedule 8.

    Distributors are 10 to 23 (regions) and 24 to 39 (independent networks).
    """
    core = number.upper().lstrip("S")[-13:]
    if len(core) != 13 or not core.isdigit() or not 10 <= int(core[:2]) <= 39:
        return False
    return sum(int(d) * prime for d, prime in zip(core, _MPAN_PRIMES, strict=False)) % 11 % 10 == int(core[12])


@validator_of_text
def gb_pnc_id(text: str) -> bool:
    """Year and serial number; the letter is the two-digit year and seven-digit serial modulo 23. Source: Home Office, PNC identifiers."""
    found = _PNC.fullmatch(text.upper())
    return found is not None and _PNC_LETTERS[int(found[1] + found[2].zfill(7)) % 23] == found[3]


_NPI_PREFIX: Final = "80840"  # the issuer of health identifiers of the United States (ISO/IEC 7812)


@validator
def us_npi(number: str) -> bool:
    """Ten digits, the first 1 or 2; the Luhn digit is that of 80840 and the number. Source: 45 CFR 162.406."""
    return len(number) == 10 and number[0] in "12" and number.isdigit() and bool(luhn.is_valid(_NPI_PREFIX + number))


@validator
def us_dea(number: str) -> bool:
    """Two letters (the second may be 9), six digits and a check digit: digits 1, 3, 5 and twice digits 2, 4, 6, modulo 10.

    Source: DEA Office of Diversion Control, registration numbers (21 CFR 1301.13).
    """
    digits = number[2:]
    if len(digits) != 7 or not digits.isdigit() or digits.strip("0") == "":
        return False
    values = [int(d) for d in digits]
    return (sum(values[:6:2]) + 2 * sum(values[1:6:2])) % 10 == values[6]
