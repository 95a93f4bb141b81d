"""National and tax ids of Asia and Oceania. Check digits come from python-stdnum, where it knows them.

Singapore identity cards bear a last letter of the other series (K to X after S and T), so that no card has them. Taiwan's check digit
and the shapes of Vietnam, the Philippines, the Emirates, Saudi Arabia and Fiji are not in python-stdnum; the rules are stated below.
"""

from __future__ import annotations

from typing import Final

from surrogates.kinds.holders import Holder

_UNISSUED: Final = "KLMNPQRTUWX"
_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
# Districts whose code held for every birth year from 1905 on (checked with stdnum).
_COUNTIES: Final = ("110101 110102 110105 110106 110108 120101 120102 120103 310101 310104 310105 310106 310110").split()
_TW_CODES: Final = {c: n for n, c in enumerate("ABCDEFGHJKLMNPQRSTUVXYWZIO", 10)}
_ID_PLACES: Final = (
    "1101",
    "1201",
    "1301",
    "1401",
    "1601",
    "1801",
    "3201",
    "3204",
    "3273",
    "3301",
    "3302",
    "3374",
    "3401",
    "3404",
    "3501",
    "3507",
    "3578",
    "5101",
    "5103",
    "5171",
    "6101",
    "7301",
    "7371",
)
_TRIES: Final = 60


def aadhaar(h: Holder) -> str:
    """India: twelve digits, Verhoeff digit, no palindrome."""
    from stdnum import verhoeff  # noqa: PLC0415 - loaded for the countries that need it

    for turn in range(_TRIES):
        body = str(h.number(1 + turn, 2, 9)) + h.digits(100 + turn, 10)
        number = body + str(verhoeff.calc_check_digit(body))
        if number != number[::-1]:
            return f"{number[:4]} {number[4:8]} {number[8:]}"
    raise AssertionError  # palindromes are one in a million


def pan(h: Holder) -> str:
    """India: tax number; the fifth letter is the family name's first."""
    initial = h.family[:1] or "X"
    return (
        f"{h.one_of(1, _LETTERS)}{h.one_of(2, _LETTERS)}{h.one_of(3, _LETTERS)}P{initial}{h.number(4, 1, 9999):04d}{h.one_of(5, _LETTERS)}"
    )


def nric_sg(h: Holder) -> str:
    """Singapore: S (born before 2000) or T, year of birth, digits, a letter that no card bears."""
    return f"{'T' if h.born.year >= 2000 else 'S'}{h.born:%y}{h.digits(1, 5)}{h.one_of(2, _UNISSUED)}"


def my_number(h: Holder) -> str:
    """Japan: individual number."""
    from stdnum.jp import in_  # noqa: PLC0415

    body = h.digits(1, 11)
    number = body + str(in_.calc_check_digit(body))
    return " ".join((number[:4], number[4:8], number[8:]))


def rrn(h: Holder) -> str:
    """Korea: birth date, sex and century, place, serial, check digit."""
    from stdnum.kr import rrn as known  # noqa: PLC0415

    first = (4 if h.female else 3) if h.born.year >= 2000 else (2 if h.female else 1)
    body = f"{h.born:%y%m%d}{first}{h.number(1, 0, 95):02d}{h.digits(2, 3)}"
    return f"{body[:6]}-{body[6:]}{known.calc_check_digit(body)}"


def brn(h: Holder) -> str:
    """Korea: business number."""
    return f"{h.number(1, 101, 999)}-{h.number(2, 1, 79):02d}-{h.number(3, 10, 99999):05d}"


def ric(h: Holder) -> str:
    """China: county, birth date, serial (even for women), check character."""
    from stdnum.cn import ric as known  # noqa: PLC0415

    body = f"{_COUNTIES[h.number(1, 0, len(_COUNTIES) - 1)]}{h.born:%Y%m%d}{h.sexed(2, 2, 999):03d}"
    return body + str(known.calc_check_digit(body + "0"))


def id_tw(h: Holder) -> str:
    """Taiwan: letter, 1 for men and 2 for women, digits; the weighted sum is a multiple of ten (rule of the Household Registration)."""
    letter = h.one_of(1, "ABCDEFGHJKLMNPQTUVXWZIO")
    body = f"{2 if h.female else 1}{h.digits(2, 7)}"
    tens, units = divmod(_TW_CODES[letter], 10)
    total = tens + 9 * units + sum(weight * int(digit) for weight, digit in zip(range(8, 0, -1), body, strict=True))
    return f"{letter}{body}{-total % 10}"


def cccd(h: Holder) -> str:
    """Vietnam: province, sex and century (0 to 3), year of birth, serial."""
    province = (
        1,
        4,
        8,
        20,
        22,
        25,
        27,
        30,
        31,
        33,
        36,
        37,
        38,
        40,
        42,
        44,
        46,
        48,
        49,
        51,
        52,
        56,
        60,
        66,
        68,
        72,
        74,
        75,
        77,
        79,
        80,
        82,
        87,
        89,
        92,
        94,
    )
    first = (2 if h.born.year >= 2000 else 0) + h.female
    return f"{province[h.number(1, 0, len(province) - 1)]:03d}{first}{h.born:%y}{h.digits(2, 6)}"


def mst(h: Holder) -> str:
    """Vietnam: tax number."""
    from stdnum.vn import mst as known  # noqa: PLC0415

    for turn in range(_TRIES):
        body = str(h.number(3 + turn, 800_000_000, 899_999_999))
        check = str(known.calc_check_digit(body))
        if len(check) == 1 and body[2:] != "0000000":
            return body + check
    raise AssertionError  # one body in eleven has no digit


def pin_th(h: Holder) -> str:
    """Thailand: identity and tax number."""
    from stdnum.th import pin  # noqa: PLC0415

    body = h.one_of(1, "1345") + h.digits(2, 6) + h.digits(3, 5)
    number = body + str(pin.calc_check_digit(body))
    return "-".join((number[0], number[1:5], number[5:10], number[10:12], number[12]))


def nik(h: Holder) -> str:
    """Indonesia: district, birth date (40 added to a woman's day), serial."""
    district = _ID_PLACES[h.number(1, 0, len(_ID_PLACES) - 1)] + f"{h.number(2, 1, 12):02d}"
    return f"{district}{h.born.day + (40 if h.female else 0):02d}{h.born:%m%y}{h.number(3, 1, 99):04d}"


def npwp(h: Holder) -> str:
    """Indonesia: tax number of the old form."""
    from stdnum import luhn  # noqa: PLC0415

    body = "0" + h.digits(4, 7)
    number = f"{body}{luhn.calc_check_digit(body)}{h.number(5, 10, 999):03d}000"
    return f"{number[:2]}.{number[2:5]}.{number[5:8]}.{number[8]}-{number[9:12]}.{number[12:]}"


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
    from stdnum import luhn  # noqa: PLC0415

    body = f"784{h.born.year}{h.digits(1, 7)}"
    return f"784-{h.born.year}-{body[7:]}-{luhn.calc_check_digit(body)}"


def id_sa(h: Holder) -> str:
    """Saudi Arabia: 1 for citizens, 2 for residents; Luhn digit."""
    from stdnum import luhn  # noqa: PLC0415

    body = h.one_of(1, "12") + h.digits(2, 8)
    return body + str(luhn.calc_check_digit(body))


def vat_ae(h: Holder) -> str:
    """The Emirates: tax registration number, fifteen digits."""
    return f"100{h.digits(2, 6)}{h.digits(3, 6)}"


def vat_sa(h: Holder) -> str:
    """Saudi Arabia: tax number, fifteen digits from 3 to 3."""
    return f"3{h.digits(2, 7)}{h.digits(3, 6)}3"


def teudat_zehut(h: Holder) -> str:
    """Israel: identity and tax number."""
    from stdnum import luhn  # noqa: PLC0415

    body = h.digits(1, 8) if h.number(2, 0, 9) == 0 else f"{h.number(1, 10_000_000, 69_999_999):08d}"
    return body + str(luhn.calc_check_digit(body)) if int(body) else "000000018"
