"""National and tax ids of central and eastern Europe and Turkey, with the holder's birth date and sex. Check digits: python-stdnum.

These countries reserve no range for tests, so a drawn number may belong to somebody.
"""

from __future__ import annotations

from piiloom.pii_values.numbering.check_digits import TURNS, checked, first_checked, grouped
from piiloom.pii_values.numbering.holders import Holder


def _born(h: Holder, added: int) -> str:
    """Return the birth date as YYMMDD, with *added* added to the month."""
    return f"{h.born:%y}{h.born.month + added:02d}{h.born:%d}"


def pesel(h: Holder) -> str:
    """Poland: birth date (20 added to the month from 2000 on), sex in the tenth digit."""
    return checked(f"{_born(h, 20 if h.since_2000 else 0)}{h.digits(1, 3)}{h.sexed(2, 0, 9)}", "pl.pesel")


def nip(h: Holder) -> str:
    """Poland: tax number."""
    bodies = (f"{h.number(1 + turn, 101, 998)}{h.digits(100 + turn, 6)}" for turn in TURNS)
    return grouped(first_checked(bodies, "pl.nip:checksum", "0"), "###-###-##-##")


def rodne_cislo(h: Holder) -> str:
    """The Czech Republic and Slovakia: birth date (50 added to a woman's month), nine digits before 1954, ten with a check digit since."""
    head = _born(h, 50 if h.female else 0)
    serial = h.digits(1, 3)
    if h.born.year < 1954:
        return f"{head}/{serial if serial != '000' else '001'}"
    return f"{head}/{serial}{int(head + serial) % 11 % 10}"


def cnp(h: Holder) -> str:
    """Romania: sex and century, birth date, county, serial, check digit."""
    return checked(f"{h.sex_digit(5, 1)}{h.born:%y%m%d}{h.number(1, 1, 46):02d}{h.number(2, 1, 999):03d}", "ro.cnp")


def amka(h: Holder) -> str:
    """Greece: birth date, serial with the sex in its last digit, Luhn digit."""
    return checked(f"{h.born:%d%m%y}{h.digits(1, 3)}{h.sexed(2, 0, 9)}", "luhn")


def afm(h: Holder) -> str:
    """Greece: tax number."""
    return checked(h.one_of(1, "014") + h.digits(2, 7), "gr.vat")


def kimlik(h: Holder) -> str:
    """Turkey: identity number, which is the tax number too."""
    return checked(str(h.number(1, 100000000, 999999999)), "tr.tckimlik:calc_check_digits")


def egn(h: Holder) -> str:
    """Bulgaria: birth date (40 added to the month from 2000 on), sex in the ninth digit (odd for women), check digit."""
    return checked(f"{_born(h, 40 if h.since_2000 else 0)}{h.digits(1, 2)}{h.sexed(2, 0, 9, male_odd=False)}", "bg.egn")


def oib(h: Holder) -> str:
    """Croatia: identity and tax number."""
    return checked(str(h.number(1, 1, 9)) + h.digits(2, 9), "iso7064.mod_11_10")


def emso(h: Holder) -> str:
    """Slovenia: birth date, region 50, serial from 500 on for women, check digit."""
    serial = h.number(1, 500, 999) if h.female else h.number(1, 0, 499)
    return checked(f"{h.born:%d%m}{h.born.year % 1000:03d}50{serial:03d}", "si.emso")


def rnokpp(h: Holder) -> str:
    """Ukraine: days since 1899, serial with the sex, check digit."""
    return checked(f"{(h.born.toordinal() - 693594):05d}{h.digits(1, 3)}{h.sexed(2, 0, 9)}", "ua.rntrc", "0")


def inn(h: Holder) -> str:
    """Russia: tax number of a person."""
    return checked(f"{h.number(1, 10, 79):02d}{h.digits(2, 8)}", "ru.inn:calc_personal_check_digits")
