"""National and tax ids of central and eastern Europe and Turkey; birth date and sex in them are the holder's. Check digits: python-stdnum.

No range is kept for tests in these countries, so a number may exist, as any valid one may.
"""

from __future__ import annotations

from typing import Final

from surrogates.kinds.holders import Holder

_CENTURY: Final = 2000
_TRIES: Final = 60  # numbers that are tried for one that has a check digit


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
