"""National and tax ids of the Americas and of Africa. Check digits come from python-stdnum.

Reserved ranges: United States social security numbers of area 900-999 with group 01-49 (never issued; individual tax numbers use groups
from 50 on) and 987-65-4320 to 4329 (kept for advertisements); Canada social insurance numbers that begin with 0 (not assigned).
"""

from __future__ import annotations

from typing import Final

from piiloom.pii_values.numbering.check_digits import check_of, checked, grouped
from piiloom.pii_values.numbering.digit_groups import in_groups
from piiloom.pii_values.numbering.holders import Holder

_VOWELS: Final = "AEIOU"
_STATES: Final = "AS BC BS CC CH CL CM CS DF DG GR GT HG JC MC MN MS NE NL NT OC PL QR QT SL SP SR TC TL TS VZ YN ZS".split()
_MA_OFFICES: Final = "A AB B BE BH BJ BK C CD D E EE F FC G H I J JB K L M N P Q R S T U W X Z".split()
_DIGITS: Final = "0123456789"
_LETTERS: Final = "ABCDEFGHIJKLMNPQRSTUVWXYZ"


def ssn(h: Holder) -> str:
    """United States: social security number from a reserved range."""
    return f"987-65-432{h.number(2, 0, 9)}" if h.number(1, 0, 19) == 0 else unissued_ssn(h)


def unissued_ssn(h: Holder) -> str:
    """United States: social security number of an area and group that were never issued."""
    return f"{h.number(2, 900, 999)}-{h.number(3, 1, 49):02d}-{h.number(4, 1, 9999):04d}"


def sin(h: Holder) -> str:
    """Canada: social insurance number that begins with 0."""
    return grouped(checked("0" + h.digits(1, 7), "luhn"), "### ### ###")


def cpf(h: Holder) -> str:
    """Brazil: tax number of a person (CPF)."""
    body = str(h.number(1, 100000000, 999999998))
    return grouped(body + "".join(_mod_11(body)), "###.###.###-##")


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
    century = h.one_of(2, _LETTERS[:10] if h.since_2000 else _DIGITS)
    return checked(f"{_mexican_head(h)}{'M' if h.female else 'H'}{h.one_of(1, _STATES)}{inner}{century}", "mx.curp")


def rfc(h: Holder) -> str:
    """Mexico: tax number of a person; the same beginning as the CURP."""
    for turn in range(40):
        body = (
            f"{_mexican_head(h)}{h.one_of(3 + 2 * turn, '123456789ABCDEFGHIJKLMNPQRSTUV')}{h.one_of(4 + 2 * turn, '123456789' + _LETTERS)}"
        )
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
    return checked("10" + dni_pe(h), "pe.ruc", "0")


def id_za(h: Holder) -> str:
    """South Africa: birth date, serial from 5000 on for men, citizenship, check digit."""
    serial = h.number(1, 0, 4999) if h.female else h.number(1, 5000, 9999)
    return checked(f"{h.born:%y%m%d}{serial:04d}08", "luhn")


def tin_za(h: Holder) -> str:
    """South Africa: tax number."""
    return checked(h.one_of(1, "0123") + h.digits(2, 8), "luhn")


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
    return f"A{h.digits(2, 9)}{h.one_of(3, _LETTERS)}"


def id_eg(h: Holder) -> str:
    """Egypt: century, birth date, governorate, serial with the sex; the last digit has no published rule."""
    century = 3 if h.since_2000 else 2
    return f"{century}{h.born:%y%m%d}{h.number(1, 11, 29)}{h.digits(2, 3)}{h.sexed(3, 0, 9)}{h.digits(4, 1)}"


def tn_eg(h: Holder) -> str:
    """Egypt: tax number."""
    return grouped(h.digits(5, 9), "###-###-###")


def cin_ma(h: Holder) -> str:
    """Morocco: one or two letters of the office and five or six digits."""
    return f"{h.one_of(1, _MA_OFFICES)}{h.number(2, 100_000, 999_999)}"


def ice_ma(h: Holder) -> str:
    """Morocco: common number of a business; two digits that make it a multiple of 97."""
    body = f"00{h.digits(3, 7)}{h.digits(4, 4)}"
    return f"{body}{-int(body + '00') % 97:02d}"
