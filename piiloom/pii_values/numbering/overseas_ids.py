"""National and tax ids of the Americas, Africa, Asia and Oceania. Check digits come from python-stdnum, where it knows them.

Reserved ranges: United States social security numbers of area 900-999 with group 01-49 (never issued; individual tax numbers use groups
from 50 on) and 987-65-4320 to 4329 (kept for advertisements); Canada social insurance numbers that begin with 0 (not assigned).
Singapore identity cards get a check letter of another series (K to X after S and T), so that no real card has it. Taiwan's check digit
and the shapes of Vietnam, the Philippines, the Emirates and Saudi Arabia are not in python-stdnum; the rules are stated below. The
countries of Oceania have no national id but the tax number; Fiji's has no published rule.
"""

from __future__ import annotations

from typing import Final

from piiloom.pii_values.numbering.holders import TURNS, Holder, check_of, first_checked, in_groups, in_shape, with_check

_VOWELS: Final = "AEIOU"
_STATES: Final = "AS BC BS CC CH CL CM CS DF DG GR GT HG JC MC MN MS NE NL NT OC PL QR QT SL SP SR TC TL TS VZ YN ZS".split()
_MA_OFFICES: Final = "A AB B BE BH BJ BK C CD D E EE F FC G H I J JB K L M N P Q R S T U W X Z".split()
_DIGITS: Final = "0123456789"
_BUT_O: Final = "ABCDEFGHIJKLMNPQRSTUVWXYZ"


def ssn(h: Holder) -> str:
    """United States: social security number from a reserved range."""
    return f"987-65-432{h.number(2, 0, 9)}" if h.number(1, 0, 19) == 0 else unissued_ssn(h)


def unissued_ssn(h: Holder) -> str:
    """United States: social security number of an area and group that were never issued."""
    return f"{h.number(2, 900, 999)}-{h.number(3, 1, 49):02d}-{h.number(4, 1, 9999):04d}"


def sin(h: Holder) -> str:
    """Canada: social insurance number that begins with 0."""
    return in_shape(with_check("0" + h.digits(1, 7), "luhn"), "### ### ###")


def cpf(h: Holder) -> str:
    """Brazil: tax number of a person (CPF)."""
    body = str(h.number(1, 100000000, 999999998))
    return in_shape(body + "".join(_mod_11(body)), "###.###.###-##")


def _mod_11(body: str) -> tuple[str, str]:
    """Return the two check digits of a CPF (the function in stdnum is private)."""
    first = sum((10 - at) * int(d) for at, d in enumerate(body)) * 10 % 11 % 10
    second = sum((11 - at) * int(d) for at, d in enumerate(body + str(first))) * 10 % 11 % 10
    return str(first), str(second)


def _inner(name: str, letters: str, start: int = 1) -> str:
    return next((c for c in name[start:] if c in letters), "X")


def _mexican_head(h: Holder) -> str:
    """Family name's first letter and vowel, X for the second family name, given name's first letter; birth date."""
    given, family = h.given or "X", h.family or "X"
    head = f"{family[0]}{_inner(family, _VOWELS)}X{given[0]}"
    return f"{head}{h.born:%y%m%d}"


def curp(h: Holder) -> str:
    """Mexico: names, birth date, sex, state, inner consonants, century, check digit; blacklisted words get an X."""
    consonants = "BCDFGHJKLMNPQRSTVWXYZ"
    inner = _inner(h.family, consonants) + "X" + _inner(h.given, consonants)
    century = h.one_of(2, _BUT_O[:10] if h.since_2000 else _DIGITS)
    return with_check(f"{_mexican_head(h)}{'M' if h.female else 'H'}{h.one_of(1, _STATES)}{inner}{century}", "mx.curp")


def rfc(h: Holder) -> str:
    """Mexico: tax number of a person; the same beginning as the CURP."""
    for turn in range(40):
        body = f"{_mexican_head(h)}{h.one_of(3 + 2 * turn, '123456789ABCDEFGHIJKLMNPQRSTUV')}{h.one_of(4 + 2 * turn, '123456789' + _BUT_O)}"
        check = check_of(body, "mx.rfc")
        if check in "0123456789A":
            return body + check
    return f"{_mexican_head(h)}000"


def dni_ar(h: Holder) -> str:
    """Argentina: identity card, seven or eight digits that grow with the year of birth."""
    number = min(69_999_999, max(4_000_000, (h.born.year - 1950) * 800_000 + 8_000_000 + h.number(1, 0, 799_999)))
    return in_groups(number, ".", pairs=False)


def cuit(h: Holder) -> str:
    """Argentina: tax number: 20 for men or 27 for women, the identity card's number, check digit."""
    card = f"{int(dni_ar(h).replace('.', '')):08d}"
    for head in ("27", "23") if h.female else ("20", "23"):
        check = check_of(head + card, "ar.cuit")
        if len(check) == 1:
            return f"{head}-{card}-{check}"
    return f"24-{card}-{check_of('24' + card, 'ar.cuit')}"


def cedula(h: Holder) -> str:
    """Colombia: identity card; ten digits from 1.000.000.000 on for people born since 1987, else eight."""
    number = h.number(1, 1_000_000_000, 1_140_000_000) if h.born.year >= 1987 else h.number(1, 10_000_000, 99_999_999)
    return in_groups(number, ".", pairs=False)


def nit(h: Holder) -> str:
    """Colombia: tax number: the identity card's with a check digit."""
    body = cedula(h)
    return f"{body}-{check_of(body.replace('.', ''), 'co.nit')}"


def rut(h: Holder) -> str:
    """Chile: identity and tax number."""
    number = h.number(1, 5_000_000, 24_999_999)
    return f"{in_groups(number, '.', pairs=False)}-{check_of(str(number), 'cl.rut')}"


def dni_pe(h: Holder) -> str:
    """Peru: identity card."""
    return str(h.number(1, 10_000_000, 79_999_999))


def ruc(h: Holder) -> str:
    """Peru: tax number of a person: 10, the identity card's number, check digit."""
    return with_check("10" + dni_pe(h), "pe.ruc", "0")


def id_za(h: Holder) -> str:
    """South Africa: birth date, serial from 5000 on for men, citizenship, check digit."""
    serial = h.number(1, 0, 4999) if h.female else h.number(1, 5000, 9999)
    return with_check(f"{h.born:%y%m%d}{serial:04d}08", "luhn")


def tin_za(h: Holder) -> str:
    """South Africa: tax number."""
    return with_check(h.one_of(1, "0123") + h.digits(2, 8), "luhn")


def nin_ng(h: Holder) -> str:
    """Nigeria: eleven digits."""
    return str(h.number(1, 1, 9)) + h.digits(2, 5) + h.digits(3, 5)


def tin_ng(h: Holder) -> str:
    """Nigeria: tax number."""
    return f"{h.digits(4, 8)}-0001"


def id_ke(h: Holder) -> str:
    """Kenya: eight digits."""
    return str(h.number(1, 10_000_000, 39_999_999))


def pin_ke(h: Holder) -> str:
    """Kenya: tax number of a person."""
    return f"A{h.digits(2, 9)}{h.one_of(3, _BUT_O)}"


def id_eg(h: Holder) -> str:
    """Egypt: century, birth date, governorate, serial with the sex; the last digit has no published rule."""
    century = 3 if h.since_2000 else 2
    return f"{century}{h.born:%y%m%d}{h.number(1, 11, 29)}{h.digits(2, 3)}{h.sexed(3, 0, 9)}{h.digits(4, 1)}"


def tn_eg(h: Holder) -> str:
    """Egypt: tax number."""
    return in_shape(h.digits(5, 9), "###-###-###")


def cin_ma(h: Holder) -> str:
    """Morocco: one or two letters of the office and five or six digits."""
    return f"{h.one_of(1, _MA_OFFICES)}{h.number(2, 100_000, 999_999)}"


def ice_ma(h: Holder) -> str:
    """Morocco: common number of a business; two digits that make it a multiple of 97."""
    body = f"00{h.digits(3, 7)}{h.digits(4, 4)}"
    return f"{body}{-int(body + '00') % 97:02d}"


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
        number = with_check(str(h.number(1 + turn, 2, 9)) + h.digits(100 + turn, 10), "verhoeff")
        if number != number[::-1]:
            return in_shape(number, "#### #### ####")
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
    return in_shape(with_check(h.digits(1, 11), "jp.in_"), "#### #### ####")


def rrn(h: Holder) -> str:
    """Korea: birth date, sex and century, place, serial, check digit."""
    body = f"{h.born:%y%m%d}{h.sex_digit(3, 1)}{h.number(1, 0, 95):02d}{h.digits(2, 3)}"
    return in_shape(with_check(body, "kr.rrn"), "######-#######")


def brn(h: Holder) -> str:
    """Korea: business number."""
    return f"{h.number(1, 101, 999)}-{h.number(2, 1, 79):02d}-{h.number(3, 10, 99999):05d}"


def ric(h: Holder) -> str:
    """China: county, birth date, serial (even for women), check character."""
    return with_check(f"{h.one_of(1, _COUNTIES)}{h.born:%Y%m%d}{h.sexed(2, 2, 999):03d}", "cn.ric", "0")


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
    return in_shape(with_check(h.one_of(1, "1345") + h.digits(2, 6) + h.digits(3, 5), "th.pin"), "#-####-#####-##-#")


def nik(h: Holder) -> str:
    """Indonesia: district, birth date (40 added to a woman's day), serial."""
    district = h.one_of(1, _ID_PLACES) + f"{h.number(2, 1, 12):02d}"
    return f"{district}{h.born.day + (40 if h.female else 0):02d}{h.born:%m%y}{h.number(3, 1, 99):04d}"


def npwp(h: Holder) -> str:
    """Indonesia: tax number of the old form."""
    return in_shape(f"{with_check('0' + h.digits(4, 7), 'luhn')}{h.number(5, 10, 999):03d}000", "##.###.###.#-###.###")


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
    return in_shape(with_check(f"784{h.born.year}{h.digits(1, 7)}", "luhn"), "###-####-#######-#")


def id_sa(h: Holder) -> str:
    """Saudi Arabia: 1 for citizens, 2 for residents; Luhn digit."""
    return with_check(h.one_of(1, "12") + h.digits(2, 8), "luhn")


def vat_ae(h: Holder) -> str:
    """The Emirates: tax registration number, fifteen digits."""
    return f"100{h.digits(2, 6)}{h.digits(3, 6)}"


def vat_sa(h: Holder) -> str:
    """Saudi Arabia: tax number, fifteen digits from 3 to 3."""
    return f"3{h.digits(2, 7)}{h.digits(3, 6)}3"


def teudat_zehut(h: Holder) -> str:
    """Israel: identity and tax number."""
    body = h.digits(1, 8) if h.number(2, 0, 9) == 0 else f"{h.number(1, 10_000_000, 69_999_999):08d}"
    return with_check(body, "luhn") if int(body) else "000000018"


def tfn(h: Holder) -> str:
    """Australia: tax file number."""
    bodies = (h.serial(1 + turn, 8) for turn in TURNS)
    # The last digit has weight 10, which is -1 modulo 11, so it equals the checksum with 0 in its place.
    return in_shape(first_checked(bodies, "au.tfn:checksum", "0"), "### ### ###")


def ird(h: Holder) -> str:
    """New Zealand: tax number; there is no other number of a person."""
    bodies = (str(h.number(1 + turn, 10_100_000, 13_999_999)) for turn in TURNS)
    return in_shape(first_checked(bodies, "nz.ird"), "###-###-###")


def tin_fj(h: Holder) -> str:
    """Fiji: tax number of a person, nine digits."""
    return f"{h.number(1, 10, 19)}-{h.digits(2, 5)}-{h.digits(3, 1)}-{h.digits(4, 1)}"
