"""China, Hong Kong, Taiwan, Singapore, Vietnam, the Emirates and India: the checks that python-stdnum does not have."""

from __future__ import annotations

from datetime import date
from typing import Final

from stdnum import luhn, numdb
from stdnum.in_ import pan
from stdnum.iso7064 import mod_11_2
from stdnum.sg import uen

from piiloom.taxonomy.entities.validators.registry import validator

_OLDEST: Final = 1880  # nobody who has a number was born before
_YEAR: Final = 2100
_CN_PROVINCES: Final = frozenset("11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65".split())
_NRIC_WEIGHTS: Final = (2, 7, 6, 5, 4, 3, 2)
_PLATE_LETTERS: Final = "AZYXUTSRPMLKJHGEDCB"
_PLATE_WEIGHTS: Final = (9, 4, 5, 4, 3, 2)
_VN_PROVINCES: Final = frozenset(
    "01 02 04 06 08 10 11 12 14 15 17 19 20 22 24 25 26 27 30 31 33 34 35 36 37 38 40 42 44 45 46 48 49 51 52 54 56 58 60 62 64 "
    "66 67 68 70 72 74 75 77 79 80 82 83 84 86 87 89 91 92 93 94 95 96".split()
)
_VN_INSURED: Final = frozenset(
    "DN HX CH NN TK HC XK HT TB NO CT XB TN CS XN MS HD TE BT HN DT DK XD CC CK CB KC TS HS SV GB GD HG TQ TA TY LS PV CY QN CA CN "
    "TC ND TV TD XV".split()
)
_VN_PLATES: Final = frozenset((11, 12, *range(14, 42), 43, *range(47, 87), 88, 89, 90, *range(92, 96), 97, 98, 99))


def _is_date(text: str, *, earliest: int = _OLDEST) -> bool:
    """Whether the digits *text* are a date as yyyymmdd."""
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:])) >= date(earliest, 1, 1) and int(text[:4]) < _YEAR
    except ValueError:
        return False


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(weight * int(digit) for weight, digit in zip(weights, digits, strict=True))


@validator
def cn_old_identity(number: str) -> bool:
    """China, identity number before 1999 (GB 11643-1989): province among the six digits of the county, birth date yymmdd, serial."""
    return len(number) == 15 and number.isdigit() and number[:2] in _CN_PROVINCES and _is_date(f"19{number[6:12]}")


def _is_ric_of(number: str, beginnings: tuple[str, ...]) -> bool:
    """Whether *number* has the form and check character of a Chinese identity number and begins so."""
    number = number.upper()
    if len(number) != 18 or not number[:-1].isdigit() or not number.startswith(beginnings):
        return False
    return _is_date(number[6:14]) and bool(mod_11_2.is_valid(number))


@validator
def cn_resident_id(number: str) -> bool:
    """China (GB 11643-1999): a county that there is or was, birth date, serial, ISO 7064 MOD 11-2.

    ``stdnum.cn.ric`` asks for a county that there was in the year of birth. But the code is of the county where somebody lived when the
    number was given, which for those born before 1984 was long after their birth.
    """
    return _is_ric_of(number, tuple(_CN_PROVINCES)) and any("county" in found for _, found in numdb.get("cn/loc").info(number[:6]))


@validator
def cn_hmt_residence_permit(number: str) -> bool:
    """China, residents of Hong Kong (810000), Macau (820000) and Taiwan (830000): State Council 2018 no. 81, check as GB 11643."""
    return _is_ric_of(number, ("810000", "820000", "830000"))


@validator
def cn_foreigner_permanent_residence(number: str) -> bool:
    """China, foreigners' card of 2023: 9, province, ISO country number, birth date, serial, ISO 7064 MOD 11-2."""
    return number[1:3] in _CN_PROVINCES and _is_ric_of(number, ("9",))


@validator
def cn_disability_card(number: str) -> bool:
    """China, disability certificate: identity number, kind 1-7, grade 1-4, and for reissues B with their count."""
    tail = number[18:]
    reissued = len(tail) == 2 or (len(tail) == 4 and tail[2] == "B" and tail[3].isdigit())
    return reissued and tail[0] in "1234567" and tail[1] in "1234" and cn_resident_id(number[:18])


@validator
def cn_student_registration(number: str) -> bool:
    """China, pupil's registration (Ministry of Education 2013 no. 7): a letter and the identity number."""
    return len(number) == 19 and number[0] in "GLJ" and cn_resident_id(number[1:])


@validator
def cn_physician_qualification(number: str) -> bool:
    """China, physician's qualification: year, province, level, two digits of the kind, identity number."""
    return len(number) == 27 and number[4:6] in _CN_PROVINCES and 1949 <= int(number[:4]) < _YEAR and cn_resident_id(number[9:])


@validator
def cn_organization_code(number: str) -> bool:
    """China, organization code (GB 11714-1997): weights 3 7 9 10 5 8 4 2 on values 0-35, 11 minus the sum modulo 11, X for 10."""
    if len(number) != 9 or not number.isascii() or not number.isalnum():
        return False
    try:
        total = sum(weight * int(sign, 36) for weight, sign in zip((3, 7, 9, 10, 5, 8, 4, 2), number[:8], strict=True))
    except ValueError:
        return False
    return number[8] == "0123456789X"[-total % 11]


@validator
def hk_identity_card(number: str) -> bool:
    """Hong Kong: one or two letters (A is 10, a blank 36), six digits; with weights 9 to 2 and the check character a multiple of 11."""
    bare = number.replace("(", "").replace(")", "")
    body, check = bare[:-1], bare[-1:]
    if len(body) not in (7, 8) or not (check.isdigit() or check == "A") or not body[-6:].isdigit() or not body[:-6].isalpha():
        return False
    values = [36] * (8 - len(body)) + [int(sign, 36) for sign in body]
    total = sum(weight * value for weight, value in zip(range(9, 1, -1), values, strict=True))
    return (total + int(check, 16)) % 11 == 0


@validator
def tw_identity_card(number: str) -> bool:
    """Taiwan: the letter as two digits, weights 1 and 9 to 1, 1; a multiple of ten (Household Registration; since 2021 foreigners too)."""
    if len(number) != 10 or number[0] not in "ABCDEFGHJKLMNPQRSTUVXYWZIO":
        return False
    second = number[1] if number[1].isdigit() else str("ABCDEFGHJK".find(number[1]) % 10)
    if not number[2:].isdigit():
        return False
    tens, units = divmod("ABCDEFGHJKLMNPQRSTUVXYWZIO".index(number[0]) + 10, 10)
    total = tens + 9 * units + _weighted(second + number[2:9], (8, 7, 6, 5, 4, 3, 2, 1)) + int(number[9])
    return total % 10 == 0


@validator
def sg_nric_fin(number: str) -> bool:
    """Singapore, NRIC and FIN: weights 2 7 6 5 4 3 2, 4 added for T and G, 3 for M, modulo 11 into the letters of the series.

    Published in many libraries; the M series of 2022 as in GovTech's form (M1234567K is right).
    """
    number = number.upper()
    if len(number) != 9 or not number[1:8].isdigit() or number[0] not in "STFGM":
        return False
    rest = (_weighted(number[1:8], _NRIC_WEIGHTS) + {"T": 4, "G": 4, "M": 3}.get(number[0], 0)) % 11
    if number[0] == "M":
        return number[8] == "KLJNPQRTUWX"[10 - rest]
    return number[8] == ("JZIHGFEDCBA" if number[0] in "ST" else "XWUTRQPNMLK")[rest]


@validator
def sg_vehicle_plate(number: str) -> bool:
    """Singapore, plates: last two letters of the prefix (A is 1) and four digits, weights 9 4 5 4 3 2, modulo 19 into the check letter."""
    letters = number.rstrip("ABCDEFGHJKLMPRSTUXYZ").rstrip("0123456789")
    digits, check = number[len(letters) : -1], number[-1:]
    if not 1 <= len(letters) <= 3 or not 1 <= len(digits) <= 4 or not digits.isdigit() or not letters.isalpha():
        return False
    values = [0] * (2 - len(letters[-2:])) + [ord(letter) - 64 for letter in letters[-2:]]
    if len(letters) == 3:
        values = [ord(letter) - 64 for letter in letters[1:]]
    total = sum(weight * value for weight, value in zip(_PLATE_WEIGHTS, values + [int(digit) for digit in digits.zfill(4)], strict=True))
    return check == _PLATE_LETTERS[total % 19]


@validator
def sg_postal_code(number: str) -> bool:
    """Singapore: six digits, of which the first two are a sector in use (01-73 and 75-82)."""
    return len(number) == 6 and number.isdigit() and 1 <= int(number[:2]) <= 82 and number[:2] != "74"


@validator
def sg_cpf_submission_number(number: str) -> bool:
    """Singapore, CPF: UEN, NRIC or FIN, three letters of the payment and two digits."""
    holder, payment = number[:-5], number[-5:]
    return payment[:3].isalpha() and payment[3:].isdigit() and (sg_nric_fin(holder) or bool(uen.is_valid(holder)))


@validator
def sg_nus_matric(number: str) -> bool:
    """Singapore, National University: the sum of the seven digits modulo 13 into YXWURNMLJHEAB (A0123456J is right)."""
    return len(number) == 9 and number[0] == "A" and number[1:8].isdigit() and number[8] == "YXWURNMLJHEAB"[sum(map(int, number[1:8])) % 13]


@validator
def vn_cccd(number: str) -> bool:
    """Vietnam (Decree 137/2015/NĐ-CP, Circular 07/2016/TT-BCA): province, sex and century 0-3, two digits of the year that is past."""
    if len(number) != 12 or not number.isdigit() or number[0] != "0" or number[1:3] not in _VN_PROVINCES or number[3] not in "0123":
        return False
    return number[3] in "01" or int(number[4:6]) <= 27


@validator
def vn_social_insurance(number: str) -> bool:
    """Vietnam, social insurance: ten digits, of which the first two are a province (Decision 346/QĐ-BHXH)."""
    return len(number) == 10 and number.isdigit() and number[:2] in _VN_PROVINCES | {"97"}


@validator
def vn_health_insurance(number: str) -> bool:
    """Vietnam, health insurance (Decision 1351/QĐ-BHXH): group, benefit 1-5, province, ten digits."""
    if len(number) != 15 or number[:2] not in _VN_INSURED or not number[2:].isdigit():
        return False
    return number[2] in "12345" and number[3:5] in _VN_PROVINCES | {"97"}


@validator
def vn_driving_licence(number: str) -> bool:
    """Vietnam, card licences since 2012: province, sex and century, year of the test (1960 to 2027), seven digits."""
    if len(number) != 12 or not number.isdigit() or number[:2] not in _VN_PROVINCES or number[2] not in "0123":
        return False
    return int(number[3:5]) <= 27 or int(number[3:5]) >= 60


@validator
def vn_vehicle_plate(number: str) -> bool:
    """Vietnam: plates begin with the two digits of a province (Circular 24/2023/TT-BCA, annex) or 80."""
    return len(number) >= 7 and number[:2].isdigit() and int(number[:2]) in _VN_PLATES


@validator
def postal_item(number: str) -> bool:
    """UPU S10: two letters, eight digits and a check digit (weights 8 6 4 2 3 5 9 7), country."""
    if len(number) != 13 or not number[2:11].isdigit():
        return False
    check = 11 - _weighted(number[2:10], (8, 6, 4, 2, 3, 5, 9, 7)) % 11
    return int(number[10]) == {10: 0, 11: 5}.get(check, check)


_GSTIN_LENGTH: Final = 15
_GSTIN_SIGNS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_GST_STATES: Final = frozenset((*range(1, 39), 97))
_LENGTH: Final = 15
_COUNTRY: Final = "784"  # ISO 3166 numeric code of the Emirates
_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2035  # a year of birth: some years ahead, so that the rule needs no clock


@validator
def emirates_id(number: str) -> bool:
    """Emirates ID: 784, year of birth, seven digits, Luhn digit over all fifteen.

    Rule: Federal Authority for Identity and Citizenship, as stated in Microsoft Purview's "U.A.E. identity card number" and in the
    idnumbers library (nationalid.are). Cards without a right Luhn digit are told of; they are missed.
    """
    if len(number) != _LENGTH or not number.isdecimal() or not number.startswith(_COUNTRY):
        return False
    return _FIRST_YEAR <= int(number[3:7]) <= _LAST_YEAR and bool(luhn.is_valid(number))


@validator
def in_gstin(number: str) -> bool:
    """India, goods and services tax: state, PAN of the holder, entity, Z, Luhn sign modulo 36 (CGST Rules 2017, rule 10).

    ``stdnum.in_.gstin`` ends at state 37: it knows neither Ladakh (38, since 2020) nor "other territory" (97).
    """
    if len(number) != _GSTIN_LENGTH or not number[:2].isdecimal() or int(number[:2]) not in _GST_STATES:
        return False
    if number[12] == "0" or number[13] != "Z":
        return False
    return bool(pan.is_valid(number[2:12]) and luhn.is_valid(number, _GSTIN_SIGNS))
