"""National and tax ids of Europe; birth date, sex and name in them are the holder's. Check digits come from python-stdnum.

Where an authority keeps numbers for tests they are taken: Sweden birth numbers 980-999 (Skatteverket), Finland individual numbers
900-999 (never given for good; DVV uses them for tests), Norway months 81-92 (Skatteetaten's synthetic people), United Kingdom NHS
numbers 999 … and national insurance prefixes that are never allocated. Elsewhere a number may exist, as any valid one may.
"""

from __future__ import annotations

from typing import Final

from surrogates.kinds.holders import Holder

_NINO_PREFIXES: Final = ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ", "QQ")
_CENTURY: Final = 2000
_TRIES: Final = 60


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
    for at in range(2, 10):
        body.append(left.pop(h.number(at, 0, len(left) - 1)))
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


_IT_MONTHS: Final = "ABCDEHLMPRST"
_IT_PLACES: Final = ("A", "B", "C", "D", "E", "F", "G", "H", "L")
_VOWELS: Final = "AEIOU"


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


def pesel(h: Holder) -> str:
    """Poland: birth date (20 added to the month from 2000 on), sex in the tenth digit."""
    from stdnum.pl import pesel as known  # noqa: PLC0415

    month = h.born.month + (20 if h.born.year >= _CENTURY else 0)
    body = f"{h.born:%y}{month:02d}{h.born:%d}{h.digits(1, 3)}{h.sexed(2, 0, 9)}"
    return body + str(known.calc_check_digit(body))


def nip(h: Holder) -> str:
    """Poland: tax number."""
    from stdnum.pl import nip as known  # noqa: PLC0415

    for turn in range(_TRIES):
        body = f"{h.number(1 + turn, 101, 998)}{h.digits(100 + turn, 6)}"
        check = known.checksum(body + "0")
        if check < 10:
            return f"{body[:3]}-{body[3:6]}-{body[6:8]}-{body[8]}{check}"
    return "111-111-11-11"


def personnummer(h: Holder) -> str:
    """Sweden: birth date, a birth number that is kept for tests (even for women), Luhn digit; "+" from the year one turns 100."""
    from stdnum import luhn  # noqa: PLC0415

    body = f"{h.born:%y%m%d}98{h.sexed(1, 0, 9)}"
    sign = "+" if h.anchor.year - h.born.year >= 100 else "-"
    return f"{body[:6]}{sign}{body[6:]}{luhn.calc_check_digit(body)}"


def hetu(h: Holder) -> str:
    """Finland: birth date, sign of the century, an individual number kept for tests (even for women), check character."""
    serial = h.sexed(1, 900, 999)
    check = "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(f"{h.born:%d%m%y}{serial}") % 31]  # stdnum keeps its function for itself
    return f"{h.born:%d%m%y}{'A' if h.born.year >= _CENTURY else '-'}{serial}{check}"


def fodselsnummer(h: Holder) -> str:
    """Norway: birth date with 80 added to the month (synthetic people), a serial of the century (even for women), two check digits."""
    from stdnum.no import fodselsnummer as known  # noqa: PLC0415

    low, high = (500, 999) if h.born.year >= _CENTURY else (0, 499)
    for turn in range(_TRIES):
        body = f"{h.born:%d}{h.born.month + 80}{h.born:%y}{h.sexed(1 + turn, low, high):03d}"
        first = str(known.calc_check_digit1(body))
        second = str(known.calc_check_digit2(body + first)) if len(first) == 1 else "10"
        if len(second) == 1:
            return f"{body[:6]} {body[6:]}{first}{second}"
    raise AssertionError  # one serial in six has no check digits: sixty in a row do not happen


def cpr(h: Holder) -> str:
    """Denmark: birth date, a serial whose first digit tells the century and whose last the sex."""
    first = h.one_of(1, "0123" if h.born.year < _CENTURY else "4567")
    return f"{h.born:%d%m%y}-{first}{h.digits(2, 2)}{h.sexed(3, 0, 9)}"


def rodne_cislo(h: Holder) -> str:
    """The Czech Republic and Slovakia: birth date (50 added to a woman's month), nine digits before 1954, ten with a check digit since."""
    head = f"{h.born:%y}{h.born.month + (50 if h.female else 0):02d}{h.born:%d}"
    serial = h.digits(1, 3)
    if h.born.year < 1954:
        return f"{head}/{serial if serial != '000' else '001'}"
    return f"{head}/{serial}{int(head + serial) % 11 % 10}"


def cnp(h: Holder) -> str:
    """Romania: sex and century, birth date, county, serial, check digit."""
    from stdnum.ro import cnp as known  # noqa: PLC0415

    first = (6 if h.female else 5) if h.born.year >= _CENTURY else (2 if h.female else 1)
    body = f"{first}{h.born:%y%m%d}{h.number(1, 1, 46):02d}{h.number(2, 1, 999):03d}"
    return body + str(known.calc_check_digit(body))


def amka(h: Holder) -> str:
    """Greece: birth date, serial with the sex in its last digit, Luhn digit."""
    from stdnum import luhn  # noqa: PLC0415

    body = f"{h.born:%d%m%y}{h.digits(1, 3)}{h.sexed(2, 0, 9)}"
    return body + str(luhn.calc_check_digit(body))


def afm(h: Holder) -> str:
    """Greece: tax number."""
    from stdnum.gr import vat  # noqa: PLC0415

    body = h.one_of(1, "014") + h.digits(2, 7)
    return body + str(vat.calc_check_digit(body))


def kimlik(h: Holder) -> str:
    """Turkey: identity number, which is the tax number too."""
    from stdnum.tr import tckimlik  # noqa: PLC0415

    body = str(h.number(1, 100000000, 999999999))
    return body + str(tckimlik.calc_check_digits(body))


def isikukood(h: Holder) -> str:
    """Estonia and Lithuania: sex and century, birth date, serial, check digit."""
    from stdnum.ee import ik  # noqa: PLC0415

    first = (6 if h.female else 5) if h.born.year >= _CENTURY else (4 if h.female else 3)
    body = f"{first}{h.born:%y%m%d}{h.digits(1, 3)}"
    return body + str(ik.calc_check_digit(body + "0"))


def personas_kods(h: Holder) -> str:
    """Latvia: birth date, century, serial, check digit."""
    from stdnum.lv import pvn  # noqa: PLC0415

    body = f"{h.born:%d%m%y}{h.born.year // 100 - 18}{h.digits(1, 3)}"
    return f"{body[:6]}-{body[6:]}{pvn.calc_check_digit_pers(body)}"


def egn(h: Holder) -> str:
    """Bulgaria: birth date (40 added to the month from 2000 on), sex in the ninth digit (odd for women), check digit."""
    from stdnum.bg import egn as known  # noqa: PLC0415

    month = h.born.month + (40 if h.born.year >= _CENTURY else 0)
    body = f"{h.born:%y}{month:02d}{h.born:%d}{h.digits(1, 2)}{h.sexed(2, 0, 9, male_odd=False)}"
    return body + str(known.calc_check_digit(body))


def oib(h: Holder) -> str:
    """Croatia."""
    from stdnum.iso7064 import mod_11_10  # noqa: PLC0415

    body = str(h.number(1, 1, 9)) + h.digits(2, 9)
    return body + str(mod_11_10.calc_check_digit(body))


def emso(h: Holder) -> str:
    """Slovenia: birth date, region 50, serial from 500 on for women, check digit."""
    from stdnum.si import emso as known  # noqa: PLC0415

    serial = h.number(1, 500, 999) if h.female else h.number(1, 0, 499)
    body = f"{h.born:%d%m}{h.born.year % 1000:03d}50{serial:03d}"
    return body + str(known.calc_check_digit(body))


def rnokpp(h: Holder) -> str:
    """Ukraine: days since 1899, serial with the sex, check digit."""
    from stdnum.ua import rntrc  # noqa: PLC0415

    body = f"{(h.born.toordinal() - 693594):05d}{h.digits(1, 3)}{h.sexed(2, 0, 9)}"
    return body + str(rntrc.calc_check_digit(body + "0"))


def inn(h: Holder) -> str:
    """Russia: tax number of a person."""
    from stdnum.ru import inn as known  # noqa: PLC0415

    body = f"{h.number(1, 10, 79):02d}{h.digits(2, 8)}"
    return body + str(known.calc_personal_check_digits(body))
