"""National and tax ids of western and southern Europe, with the holder's birth date, sex and name. Check digits: python-stdnum.

United Kingdom: NHS numbers of the range reserved for tests (999 …) and national insurance prefixes that are never allocated.
The other countries reserve no range, so a drawn number may belong to somebody.
"""

from __future__ import annotations

from typing import Final

from piiloom.pii_values.numbering.check_digits import TURNS, check_of, checked, first_checked, grouped
from piiloom.pii_values.numbering.holders import Holder

_NINO_PREFIXES: Final = ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ", "QQ")
_AT_OFFICES: Final = ("03", "04", "06", "07", "08", "09", "10", "12", "15", "16")
_PT_LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"
_IT_MONTHS: Final = "ABCDEHLMPRST"
_IT_PLACES: Final = "ABCDEFGHL"
_VOWELS: Final = "AEIOU"


def nino(h: Holder) -> str:
    """United Kingdom: a national insurance number with a prefix that is not allocated."""
    pairs = h.digits(1, 6)
    return grouped(f"{h.one_of(2, _NINO_PREFIXES)}{pairs}{h.one_of(3, 'ABCD')}", "## ## ## ## #")


def nhs(h: Holder) -> str:
    """United Kingdom: an NHS number of the range reserved for tests."""
    for turn in TURNS:
        body = "999" + h.digits(10 + turn, 6)
        check = -int(check_of(body + "0", "gb.nhs:checksum")) % 11  # weight 1: the negative of the checksum with 0 there
        if check < 10:
            return grouped(f"{body}{check}", "### ### ####")
    return "999 000 0018"


def utr(h: Holder) -> str:
    """United Kingdom: a unique taxpayer reference."""
    body = h.digits(1, 9)
    return check_of(body, "gb.utr") + body


def pps(h: Holder) -> str:
    """Ireland: personal public service number."""
    return checked(str(h.number(1, 1000000, 9999999)), "ie.vat", "A") + "A"


def bsn(h: Holder) -> str:
    """The Netherlands: citizen service number."""
    return first_checked((str(h.number(1 + turn, 10000000, 29999999)) for turn in TURNS), "nl.bsn:checksum", "0")


def rijksregister(h: Holder) -> str:
    """Belgium: birth date, serial (odd for men), two check digits."""
    body = f"{h.born:%y%m%d}{h.sexed(1, 2, 997):03d}"
    check = 97 - int(("2" if h.since_2000 else "") + body) % 97
    return grouped(f"{body}{check:02d}", "##.##.##-###.##")


def steuer_id(h: Holder) -> str:
    """Germany: tax number of eleven digits; among the first ten exactly one digit occurs twice."""
    left = list("0123456789")
    body = [left.pop(h.number(1, 1, 9))]
    body += [left.pop(h.number(at, 0, 10 - at)) for at in range(2, 10)]
    again = body[h.number(11, 0, 8)]
    place = h.number(12, 1, 9)
    body.insert(place, again)
    return grouped(checked("".join(body), "iso7064.mod_11_10"), "## ### ### ###")


def sozialversicherung(h: Holder) -> str:
    """Austria: serial, check digit and birth date."""
    for turn in TURNS:
        serial, day = str(h.number(1 + turn, 100, 999)), f"{h.born:%d%m%y}"
        check = check_of(f"{serial}0{day}", "at.vnr")
        if len(check) == 1:
            return f"{serial}{check} {day}"
    return "1237 010180"


def abgabenkonto(h: Holder) -> str:
    """Austria: tax number."""
    return grouped(checked(h.one_of(1, _AT_OFFICES) + h.digits(2, 6), "at.tin", "0"), "##-###/####")


def ahv(h: Holder) -> str:
    """Switzerland: social insurance number."""
    return grouped(checked("756" + h.digits(1, 9), "ean"), "###.####.####.##")


def nir(h: Holder) -> str:
    """France: sex, year and month of birth, department, commune, serial, key."""
    department = h.number(1, 1, 95)
    body = (
        f"{2 if h.female else 1}{h.born:%y%m}{department if department != 20 else 21:02d}{h.number(2, 1, 580):03d}{h.number(3, 1, 650):03d}"
    )
    return grouped(checked(body, "fr.nir:calc_check_digits", "00"), "# ## ## ## ### ### ##")


def numero_fiscal(h: Holder) -> str:
    """France: tax number."""
    return grouped(checked(str(h.number(1, 0, 3)) + h.digits(2, 9), "fr.nif:calc_check_digits"), "## ## ### ### ###")


def dni(h: Holder) -> str:
    """Spain: identity card, which is the tax number too."""
    return checked(str(h.number(1, 10000000, 79999999)), "es.dni")


def cartao_cidadao(h: Holder) -> str:
    """Portugal: identity card."""
    return grouped(checked(f"{h.digits(1, 9)}{h.one_of(2, _PT_LETTERS)}{h.one_of(3, _PT_LETTERS)}", "pt.cc"), "######## # ###")


def nif_pt(h: Holder) -> str:
    """Portugal: tax number."""
    return grouped(checked(h.one_of(1, "123") + h.digits(2, 7), "pt.nif"), "### ### ###")


def _tax_code_part(name: str, *, given: bool) -> str:
    """Return the three letters for a name: consonants, then vowels, then X.

    In a given name with four or more consonants the second one is skipped.
    """
    consonants = [c for c in name if c not in _VOWELS]
    if given and len(consonants) > 3:
        del consonants[1]
    return ("".join(consonants) + "".join(c for c in name if c in _VOWELS) + "XXX")[:3]


def codice_fiscale(h: Holder) -> str:
    """Italy: names, birth date (40 added to a woman's day), a municipality, check letter."""
    day = h.born.day + (40 if h.female else 0)
    name = _tax_code_part(h.family, given=False) + _tax_code_part(h.given, given=True)
    body = f"{name}{h.born:%y}{_IT_MONTHS[h.born.month - 1]}{day:02d}{h.one_of(1, _IT_PLACES)}{h.number(2, 100, 899)}"
    return checked(body, "it.codicefiscale")
