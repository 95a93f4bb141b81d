"""National and tax ids of western and southern Europe; birth date, sex and name in them are the holder's. Check digits: python-stdnum.

United Kingdom: NHS numbers of the range kept for tests (999 …) and national insurance prefixes that are never allocated.
Elsewhere no range is kept, so a number may exist, as any valid one may.
"""

from __future__ import annotations

from typing import Final

from surrogates.kinds.holders import Holder

_NINO_PREFIXES: Final = ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ", "QQ")
_CENTURY: Final = 2000
_TRIES: Final = 60  # numbers that are tried for one that has a check digit
_IT_MONTHS: Final = "ABCDEHLMPRST"
_IT_PLACES: Final = ("A", "B", "C", "D", "E", "F", "G", "H", "L")
_VOWELS: Final = "AEIOU"


def nino(h: Holder) -> str:
    """United Kingdom: a national insurance number with a prefix that is not allocated."""
    pairs = h.digits(1, 6)
    return f"{_NINO_PREFIXES[h.number(2, 0, 7)]} {pairs[:2]} {pairs[2:4]} {pairs[4:]} {h.one_of(3, 'ABCD')}"


def nhs(h: Holder) -> str:
    """United Kingdom: an NHS number of the range kept for tests."""
    from stdnum.gb import nhs as known  # noqa: PLC0415 - loaded for the countries that need it

    for turn in range(_TRIES):
        body = "999" + h.digits(10 + turn, 6)
        check = known.checksum(body + "0")  # the last digit weighs one, so this is what it makes up for
        for digit in "0123456789":
            if (check + int(digit)) % 11 == 0:
                return f"{body[:3]} {body[3:6]} {body[6:]}{digit}"
    return "999 000 0018"


def utr(h: Holder) -> str:
    """United Kingdom: a unique taxpayer reference."""
    from stdnum.gb import utr as known  # noqa: PLC0415

    body = h.digits(1, 9)
    return known.calc_check_digit(body) + body


def pps(h: Holder) -> str:
    """Ireland."""
    from stdnum.ie import vat  # noqa: PLC0415

    body = str(h.number(1, 1000000, 9999999))
    return f"{body}{vat.calc_check_digit(body + 'A')}A"


def bsn(h: Holder) -> str:
    """The Netherlands."""
    from stdnum.nl import bsn as known  # noqa: PLC0415

    for turn in range(_TRIES):
        body = str(h.number(1 + turn, 10000000, 29999999))
        check = known.checksum(body + "0")
        if check < 10:
            return f"{body}{check}"
    return "111222333"


def rijksregister(h: Holder) -> str:
    """Belgium: birth date, odd serials for men."""
    serial = f"{h.sexed(1, 2, 997):03d}"
    body = f"{h.born:%y%m%d}{serial}"
    check = 97 - int(("2" if h.born.year >= _CENTURY else "") + body) % 97
    return f"{body[:2]}.{body[2:4]}.{body[4:6]}-{serial}.{check:02d}"


def steuer_id(h: Holder) -> str:
    """Germany: eleven digits, of the first ten exactly one twice."""
    from stdnum.iso7064 import mod_11_10  # noqa: PLC0415

    left = list("0123456789")
    body = [left.pop(h.number(1, 1, 9))]
    body += [left.pop(h.number(at, 0, 10 - at)) for at in range(2, 10)]
    again = body[h.number(11, 0, 8)]
    place = h.number(12, 1, 9)
    body.insert(place, again)
    text = "".join(body)
    number = text + mod_11_10.calc_check_digit(text)
    return " ".join((number[:2], number[2:5], number[5:8], number[8:]))


def sozialversicherung(h: Holder) -> str:
    """Austria: serial, check digit and birth date."""
    from stdnum.at import vnr  # noqa: PLC0415

    for turn in range(_TRIES):
        serial, day = str(h.number(1 + turn, 100, 999)), f"{h.born:%d%m%y}"
        check = vnr.calc_check_digit(f"{serial}0{day}")
        if len(check) == 1:
            return f"{serial}{check} {day}"
    return "1237 010180"


def abgabenkonto(h: Holder) -> str:
    """Austria: tax number."""
    from stdnum.at import tin  # noqa: PLC0415

    body = ("03", "04", "06", "07", "08", "09", "10", "12", "15", "16")[h.number(1, 0, 9)] + h.digits(2, 6)
    number = body + tin.calc_check_digit(body + "0")
    return f"{number[:2]}-{number[2:5]}/{number[5:]}"


def ahv(h: Holder) -> str:
    """Switzerland."""
    from stdnum import ean  # noqa: PLC0415

    body = "756" + h.digits(1, 9)
    number = body + ean.calc_check_digit(body)
    return ".".join((number[:3], number[3:7], number[7:11], number[11:]))


def nir(h: Holder) -> str:
    """France: sex, year and month of birth, department, commune, serial, key."""
    from stdnum.fr import nir as known  # noqa: PLC0415

    department = h.number(1, 1, 95)
    body = (
        f"{2 if h.female else 1}{h.born:%y%m}{department if department != 20 else 21:02d}{h.number(2, 1, 580):03d}{h.number(3, 1, 650):03d}"
    )
    key = known.calc_check_digits(body + "00")
    return " ".join((body[0], body[1:3], body[3:5], body[5:7], body[7:10], body[10:13], key))


def numero_fiscal(h: Holder) -> str:
    """France: tax number."""
    from stdnum.fr import nif  # noqa: PLC0415

    body = str(h.number(1, 0, 3)) + h.digits(2, 9)
    number = body + nif.calc_check_digits(body)
    return " ".join((number[:2], number[2:4], number[4:7], number[7:10], number[10:]))


def dni(h: Holder) -> str:
    """Spain: identity card, which is the tax number too."""
    from stdnum.es import dni as known  # noqa: PLC0415

    body = str(h.number(1, 10000000, 79999999))
    return body + known.calc_check_digit(body)


def cartao_cidadao(h: Holder) -> str:
    """Portugal: identity card."""
    from stdnum.pt import cc  # noqa: PLC0415

    body = f"{h.digits(1, 9)}{h.one_of(2, 'ABCDEFGHJKLMNPRSTUVWXYZ')}{h.one_of(3, 'ABCDEFGHJKLMNPRSTUVWXYZ')}"
    return f"{body[:8]} {body[8]} {body[9:]}{cc.calc_check_digit(body)}"


def nif_pt(h: Holder) -> str:
    """Portugal: tax number."""
    from stdnum.pt import nif  # noqa: PLC0415

    body = h.one_of(1, "123") + h.digits(2, 7)
    number = body + nif.calc_check_digit(body)
    return " ".join((number[:3], number[3:6], number[6:]))


def _tax_code_part(name: str, *, given: bool) -> str:
    """Three letters for a name: consonants, then vowels, then X; a given name of four consonants loses its second."""
    consonants = [c for c in name if c not in _VOWELS]
    if given and len(consonants) > 3:
        del consonants[1]
    return ("".join(consonants) + "".join(c for c in name if c in _VOWELS) + "XXX")[:3]


def codice_fiscale(h: Holder) -> str:
    """Italy: names, birth date (40 added to a woman's day), a municipality, check letter."""
    from stdnum.it import codicefiscale  # noqa: PLC0415

    day = h.born.day + (40 if h.female else 0)
    name = _tax_code_part(h.family, given=False) + _tax_code_part(h.given, given=True)
    body = f"{name}{h.born:%y}{_IT_MONTHS[h.born.month - 1]}{day:02d}{_IT_PLACES[h.number(1, 0, 8)]}{h.number(2, 100, 899)}"
    return body + str(codicefiscale.calc_check_digit(body))
