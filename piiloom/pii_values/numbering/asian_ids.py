"""National and tax ids of Asia. Check digits come from python-stdnum, where it knows them.

Singapore identity cards get a check letter of another series (K to X after S and T), so that no real card has it. Taiwan's check digit
and the shapes of Vietnam, the Philippines, the Emirates and Saudi Arabia are not in python-stdnum; the rules are stated below.
"""

from __future__ import annotations

from typing import Final

from piiloom.pii_values.numbering.check_digits import TURNS, checked, first_checked, grouped
from piiloom.pii_values.numbering.holders import Holder

NRIC_ENDS: Final = "KLMNPQRTUWX"  # letters that no card beginning with S or T ends in
_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
# Districts whose code was valid for every birth year from 1905 on (checked with stdnum).
_COUNTIES: Final = ("110101 110102 110105 110106 110108 120101 120102 120103 310101 310104 310105 310106 310110").split()
_TW_CODES: Final = {c: n for n, c in enumerate("ABCDEFGHJKLMNPQRSTUVXYWZIO", 10)}
_ID_PLACES: Final = (
    "1101 1201 1301 1401 1601 1801 3201 3204 3273 3301 3302 3374 3401 3404 3501 3507 3578 5101 5103 5171 6101 7301 7371".split()
)
_VN_PROVINCES: Final = (
    "001 004 008 020 022 025 027 030 031 033 036 037 038 040 042 044 046 048 049 051 052 056 060 066 "
    "068 072 074 075 077 079 080 082 087 089 092 094"
).split()


def aadhaar(h: Holder) -> str:
    """India: twelve digits, Verhoeff digit, no palindrome."""
    for turn in TURNS:
        number = checked(str(h.number(1 + turn, 2, 9)) + h.digits(100 + turn, 10), "verhoeff")
        if number != number[::-1]:
            return grouped(number, "#### #### ####")
    raise AssertionError  # palindromes are one in a million


def pan(h: Holder, letters: str = _LETTERS) -> str:
    """India: tax number; the fifth letter is the family name's first, the others are from *letters*."""
    head = "".join(h.one_of(at, letters) for at in (1, 2, 3))
    return f"{head}P{h.family[:1] or 'X'}{h.number(4, 1, 9999):04d}{h.one_of(5, letters)}"


def nric_sg(h: Holder) -> str:
    """Singapore: S (born before 2000) or T, year of birth, digits, a check letter that no real card has."""
    return f"{'T' if h.since_2000 else 'S'}{h.born:%y}{h.digits(1, 5)}{h.one_of(2, NRIC_ENDS)}"


def my_number(h: Holder) -> str:
    """Japan: individual number."""
    return grouped(checked(h.digits(1, 11), "jp.in_"), "#### #### ####")


def rrn(h: Holder) -> str:
    """Korea: birth date, sex and century, place, serial, check digit."""
    body = f"{h.born:%y%m%d}{h.sex_digit(3, 1)}{h.number(1, 0, 95):02d}{h.digits(2, 3)}"
    return grouped(checked(body, "kr.rrn"), "######-#######")


def brn(h: Holder) -> str:
    """Korea: business number."""
    return f"{h.number(1, 101, 999)}-{h.number(2, 1, 79):02d}-{h.number(3, 10, 99999):05d}"


def ric(h: Holder) -> str:
    """China: county, birth date, serial (even for women), check character."""
    return checked(f"{h.one_of(1, _COUNTIES)}{h.born:%Y%m%d}{h.sexed(2, 2, 999):03d}", "cn.ric", "0")


def id_tw(h: Holder) -> str:
    """Taiwan: letter, 1 for men and 2 for women, digits; the weighted sum is a multiple of ten (rule of the Household Registration)."""
    letter = h.one_of(1, "ABCDEFGHJKLMNPQTUVXWZIO")
    body = f"{2 if h.female else 1}{h.digits(2, 7)}"
    tens, units = divmod(_TW_CODES[letter], 10)
    total = tens + 9 * units + sum(weight * int(digit) for weight, digit in zip(range(8, 0, -1), body, strict=True))
    return f"{letter}{body}{-total % 10}"


def cccd(h: Holder) -> str:
    """Vietnam: province, sex and century (0 to 3), year of birth, serial."""
    return f"{h.one_of(1, _VN_PROVINCES)}{h.sex_digit(2, 0)}{h.born:%y}{h.digits(2, 6)}"


def mst(h: Holder) -> str:
    """Vietnam: tax number."""
    bodies = (str(h.number(3 + turn, 800_000_000, 899_999_999)) for turn in TURNS)
    return first_checked((body for body in bodies if body[2:] != "0000000"), "vn.mst")


def pin_th(h: Holder) -> str:
    """Thailand: identity and tax number."""
    return grouped(checked(h.one_of(1, "1345") + h.digits(2, 6) + h.digits(3, 5), "th.pin"), "#-####-#####-##-#")


def nik(h: Holder) -> str:
    """Indonesia: district, birth date (40 added to a woman's day), serial."""
    district = h.one_of(1, _ID_PLACES) + f"{h.number(2, 1, 12):02d}"
    return f"{district}{h.born.day + (40 if h.female else 0):02d}{h.born:%m%y}{h.number(3, 1, 99):04d}"


def npwp(h: Holder) -> str:
    """Indonesia: tax number of the old form."""
    return grouped(f"{checked('0' + h.digits(4, 7), 'luhn')}{h.number(5, 10, 999):03d}000", "##.###.###.#-###.###")


def philsys(h: Holder) -> str:
    """The Philippines: card number of the national id, four groups of four."""
    return "-".join(h.digits(at, 4) for at in range(1, 5))


def tin_ph(h: Holder) -> str:
    """The Philippines: tax number of a person."""
    return f"{h.number(5, 100, 999)}-{h.digits(6, 3)}-{h.digits(7, 3)}-000"


def nric_my(h: Holder) -> str:
    """Malaysia: birth date, state of birth, serial that is odd for men."""
    return f"{h.born:%y%m%d}-{h.number(1, 1, 16):02d}-{h.digits(2, 3)}{h.sexed(3, 0, 9)}"


def tin_my(h: Holder) -> str:
    """Malaysia: tax number of a person."""
    return f"IG{h.digits(4, 6)}{h.digits(5, 5)}"


def emirates_id(h: Holder) -> str:
    """The Emirates: country, year of birth, serial, Luhn digit."""
    return grouped(checked(f"784{h.born.year}{h.digits(1, 7)}", "luhn"), "###-####-#######-#")


def id_sa(h: Holder) -> str:
    """Saudi Arabia: 1 for citizens, 2 for residents; Luhn digit."""
    return checked(h.one_of(1, "12") + h.digits(2, 8), "luhn")


def vat_ae(h: Holder) -> str:
    """The Emirates: tax registration number, fifteen digits."""
    return f"100{h.digits(2, 6)}{h.digits(3, 6)}"


def vat_sa(h: Holder) -> str:
    """Saudi Arabia: tax number, fifteen digits from 3 to 3."""
    return f"3{h.digits(2, 7)}{h.digits(3, 6)}3"


def teudat_zehut(h: Holder) -> str:
    """Israel: identity and tax number."""
    body = h.digits(1, 8) if h.number(2, 0, 9) == 0 else f"{h.number(1, 10_000_000, 69_999_999):08d}"
    return checked(body, "luhn") if int(body) else "000000018"
