"""National and tax ids of Europe and Turkey, with the holder's birth date, sex and name. Check digits: python-stdnum.

Ranges reserved for tests are used where they exist. United Kingdom: NHS numbers of the test range (999 …) and national insurance prefixes
that are never allocated. Sweden: birth numbers 980-999 (Skatteverket). Finland: individual numbers 900-999 (never issued permanently; the
population register uses them for tests). Norway: months 81-92 (Skatteetaten's synthetic people). The other countries reserve no range, so
a drawn number may belong to somebody.
"""

from __future__ import annotations

from typing import Final

from piiloom.pii_values.numbering.holders import TURNS, Holder, check_of, first_checked, in_shape, with_check

_NINO_PREFIXES: Final = ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ", "QQ")
_AT_OFFICES: Final = ("03", "04", "06", "07", "08", "09", "10", "12", "15", "16")
_PT_LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"
_IT_MONTHS: Final = "ABCDEHLMPRST"
_IT_PLACES: Final = "ABCDEFGHL"
_ITALIAN_VOWELS: Final = "AEIOU"


def nino(h: Holder) -> str:
    """United Kingdom: a national insurance number with a prefix that is not allocated."""
    pairs = h.digits(1, 6)
    return in_shape(f"{h.one_of(2, _NINO_PREFIXES)}{pairs}{h.one_of(3, 'ABCD')}", "## ## ## ## #")


def nhs(h: Holder) -> str:
    """United Kingdom: an NHS number of the range reserved for tests."""
    for turn in TURNS:
        body = "999" + h.digits(10 + turn, 6)
        check = -int(check_of(body + "0", "gb.nhs:checksum")) % 11  # weight 1: the negative of the checksum with 0 there
        if check < 10:
            return in_shape(f"{body}{check}", "### ### ####")
    return "999 000 0018"


def utr(h: Holder) -> str:
    """United Kingdom: a unique taxpayer reference."""
    body = h.digits(1, 9)
    return check_of(body, "gb.utr") + body


def pps(h: Holder) -> str:
    """Ireland: personal public service number."""
    return with_check(str(h.number(1, 1000000, 9999999)), "ie.vat", "A") + "A"


def bsn(h: Holder) -> str:
    """The Netherlands: citizen service number."""
    return first_checked((str(h.number(1 + turn, 10000000, 29999999)) for turn in TURNS), "nl.bsn:checksum", "0")


def rijksregister(h: Holder) -> str:
    """Belgium: birth date, serial (odd for men), two check digits."""
    body = f"{h.born:%y%m%d}{h.sexed(1, 2, 997):03d}"
    check = 97 - int(("2" if h.since_2000 else "") + body) % 97
    return in_shape(f"{body}{check:02d}", "##.##.##-###.##")


def steuer_id(h: Holder) -> str:
    """Germany: tax number of eleven digits; among the first ten exactly one digit occurs twice."""
    left = list("0123456789")
    body = [left.pop(h.number(1, 1, 9))]
    body += [left.pop(h.number(at, 0, 10 - at)) for at in range(2, 10)]
    again = body[h.number(11, 0, 8)]
    place = h.number(12, 1, 9)
    body.insert(place, again)
    return in_shape(with_check("".join(body), "iso7064.mod_11_10"), "## ### ### ###")


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
    return in_shape(with_check(h.one_of(1, _AT_OFFICES) + h.digits(2, 6), "at.tin", "0"), "##-###/####")


def ahv(h: Holder) -> str:
    """Switzerland: social insurance number."""
    return in_shape(with_check("756" + h.digits(1, 9), "ean"), "###.####.####.##")


def nir(h: Holder) -> str:
    """France: sex, year and month of birth, department, commune, serial, key."""
    department = h.number(1, 1, 95)
    body = (
        f"{2 if h.female else 1}{h.born:%y%m}{department if department != 20 else 21:02d}{h.number(2, 1, 580):03d}{h.number(3, 1, 650):03d}"
    )
    return in_shape(with_check(body, "fr.nir:calc_check_digits", "00"), "# ## ## ## ### ### ##")


def numero_fiscal(h: Holder) -> str:
    """France: tax number."""
    return in_shape(with_check(str(h.number(1, 0, 3)) + h.digits(2, 9), "fr.nif:calc_check_digits"), "## ## ### ### ###")


def dni(h: Holder) -> str:
    """Spain: identity card, which is the tax number too."""
    return with_check(str(h.number(1, 10000000, 79999999)), "es.dni")


def cartao_cidadao(h: Holder) -> str:
    """Portugal: identity card."""
    return in_shape(with_check(f"{h.digits(1, 9)}{h.one_of(2, _PT_LETTERS)}{h.one_of(3, _PT_LETTERS)}", "pt.cc"), "######## # ###")


def nif_pt(h: Holder) -> str:
    """Portugal: tax number."""
    return in_shape(with_check(h.one_of(1, "123") + h.digits(2, 7), "pt.nif"), "### ### ###")


def _tax_code_part(name: str, *, given: bool) -> str:
    """Return the three letters for a name: consonants, then vowels, then X.

    In a given name with four or more consonants the second one is skipped.
    """
    consonants = [c for c in name if c not in _ITALIAN_VOWELS]
    if given and len(consonants) > 3:
        del consonants[1]
    return ("".join(consonants) + "".join(c for c in name if c in _ITALIAN_VOWELS) + "XXX")[:3]


def codice_fiscale(h: Holder) -> str:
    """Italy: names, birth date (40 added to a woman's day), a municipality, check letter."""
    day = h.born.day + (40 if h.female else 0)
    name = _tax_code_part(h.family, given=False) + _tax_code_part(h.given, given=True)
    body = f"{name}{h.born:%y}{_IT_MONTHS[h.born.month - 1]}{day:02d}{h.one_of(1, _IT_PLACES)}{h.number(2, 100, 899)}"
    return with_check(body, "it.codicefiscale")


def _born(h: Holder, added: int) -> str:
    """Return the birth date as YYMMDD, with *added* added to the month."""
    return f"{h.born:%y}{h.born.month + added:02d}{h.born:%d}"


def pesel(h: Holder) -> str:
    """Poland: birth date (20 added to the month from 2000 on), sex in the tenth digit."""
    return with_check(f"{_born(h, 20 if h.since_2000 else 0)}{h.digits(1, 3)}{h.sexed(2, 0, 9)}", "pl.pesel")


def nip(h: Holder) -> str:
    """Poland: tax number."""
    bodies = (f"{h.number(1 + turn, 101, 998)}{h.digits(100 + turn, 6)}" for turn in TURNS)
    return in_shape(first_checked(bodies, "pl.nip:checksum", "0"), "###-###-##-##")


def rodne_cislo(h: Holder) -> str:
    """The Czech Republic and Slovakia: birth date (50 added to a woman's month), nine digits before 1954, ten with a check digit since."""
    head = _born(h, 50 if h.female else 0)
    serial = h.digits(1, 3)
    if h.born.year < 1954:
        return f"{head}/{serial if serial != '000' else '001'}"
    return f"{head}/{serial}{int(head + serial) % 11 % 10}"


def cnp(h: Holder) -> str:
    """Romania: sex and century, birth date, county, serial, check digit."""
    return with_check(f"{h.sex_digit(5, 1)}{h.born:%y%m%d}{h.number(1, 1, 46):02d}{h.number(2, 1, 999):03d}", "ro.cnp")


def amka(h: Holder) -> str:
    """Greece: birth date, serial with the sex in its last digit, Luhn digit."""
    return with_check(f"{h.born:%d%m%y}{h.digits(1, 3)}{h.sexed(2, 0, 9)}", "luhn")


def afm(h: Holder) -> str:
    """Greece: tax number."""
    return with_check(h.one_of(1, "014") + h.digits(2, 7), "gr.vat")


def kimlik(h: Holder) -> str:
    """Turkey: identity number, which is the tax number too."""
    return with_check(str(h.number(1, 100000000, 999999999)), "tr.tckimlik:calc_check_digits")


def egn(h: Holder) -> str:
    """Bulgaria: birth date (40 added to the month from 2000 on), sex in the ninth digit (odd for women), check digit."""
    return with_check(f"{_born(h, 40 if h.since_2000 else 0)}{h.digits(1, 2)}{h.sexed(2, 0, 9, male_odd=False)}", "bg.egn")


def oib(h: Holder) -> str:
    """Croatia: identity and tax number."""
    return with_check(str(h.number(1, 1, 9)) + h.digits(2, 9), "iso7064.mod_11_10")


def emso(h: Holder) -> str:
    """Slovenia: birth date, region 50, serial from 500 on for women, check digit."""
    serial = h.number(1, 500, 999) if h.female else h.number(1, 0, 499)
    return with_check(f"{h.born:%d%m}{h.born.year % 1000:03d}50{serial:03d}", "si.emso")


def rnokpp(h: Holder) -> str:
    """Ukraine: days since 1899, serial with the sex, check digit."""
    return with_check(f"{(h.born.toordinal() - 693594):05d}{h.digits(1, 3)}{h.sexed(2, 0, 9)}", "ua.rntrc", "0")


def inn(h: Holder) -> str:
    """Russia: tax number of a person."""
    return with_check(f"{h.number(1, 10, 79):02d}{h.digits(2, 8)}", "ru.inn:calc_personal_check_digits")


def personnummer(h: Holder) -> str:
    """Sweden: birth date, a birth number reserved for tests (even for women), Luhn digit; "+" from the year the holder turns 100."""
    sign = "+" if h.anchor.year - h.born.year >= 100 else "-"
    return in_shape(with_check(f"{h.born:%y%m%d}98{h.sexed(1, 0, 9)}", "luhn"), f"######{sign}####")


def hetu(h: Holder) -> str:
    """Finland: birth date, sign of the century, an individual number reserved for tests (even for women), check character."""
    serial = h.sexed(1, 900, 999)
    check = "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(f"{h.born:%d%m%y}{serial}") % 31]  # the function in stdnum is private
    return f"{h.born:%d%m%y}{'A' if h.since_2000 else '-'}{serial}{check}"


def fodselsnummer(h: Holder) -> str:
    """Norway: birth date with 80 added to the month (synthetic people), a serial of the century (even for women), two check digits."""
    low, high = (500, 999) if h.since_2000 else (0, 499)
    for turn in TURNS:
        body = f"{h.born:%d}{h.born.month + 80}{h.born:%y}{h.sexed(1 + turn, low, high):03d}"
        number = with_check(body, "no.fodselsnummer:calc_check_digit1")
        number = with_check(number, "no.fodselsnummer:calc_check_digit2") if len(number) == 10 else ""
        if len(number) == 11:
            return in_shape(number, "###### #####")
    raise AssertionError  # one serial in six has no check digits: sixty in a row do not happen


def cpr(h: Holder) -> str:
    """Denmark: birth date, a serial whose first digit encodes the century and whose last digit encodes the sex (odd for men)."""
    first = h.one_of(1, "4567" if h.since_2000 else "0123")
    return f"{h.born:%d%m%y}-{first}{h.digits(2, 2)}{h.sexed(3, 0, 9)}"


def isikukood(h: Holder) -> str:
    """Estonia and Lithuania: sex and century, birth date, serial, check digit."""
    return with_check(f"{h.sex_digit(5, 3)}{h.born:%y%m%d}{h.digits(1, 3)}", "ee.ik", "0")


def personas_kods(h: Holder) -> str:
    """Latvia: birth date, century, serial, check digit."""
    body = f"{h.born:%d%m%y}{h.born.year // 100 - 18}{h.digits(1, 3)}"
    return in_shape(with_check(body, "lv.pvn:calc_check_digit_pers"), "######-#####")


_BELGIAN_BANKS: Final = ("001", "063", "103", "320", "363", "730", "733", "734", "735", "750", "853", "973", "979")


def iban(h: Holder) -> str:
    """Return an IBAN, in groups of four or without blanks: the national account has two check digits of its own.

    They follow the rule of a structured reference: the rest of ten digits divided by 97.
    """
    account = h.one_of(1, _BELGIAN_BANKS) + h.digits(2, 7)
    account = with_check(account, "be.ogm_vcs:calc_check_digits")
    number = f"BE{check_of(f'BE00{account}', 'iban:calc_check_digits')}{account}"
    return in_shape(number, "#### #### #### ####") if h.number(3, 1, 3) > 1 else number


_HEX: Final = "0123456789ABCDEF"


def einvoice(h: Holder) -> str:
    """Return a number of the national system of e-invoices: NIP, date, twelve hexadecimal digits, CRC-8 of all that."""
    from piiloom.taxonomy.entities.validators.northern import crc_8  # noqa: PLC0415 - imports python-stdnum

    bodies = (f"{h.number(10 + turn, 101, 998)}{h.digits(100 + turn, 6)}" for turn in TURNS)
    nip = first_checked(bodies, "pl.nip:checksum", "0")
    day = f"{h.number(1, 2024, 2026)}{h.number(2, 1, 12):02d}{h.number(3, 1, 28):02d}"
    body = f"{nip}-{day}-" + "".join(h.one_of(200 + place, _HEX) for place in range(12))
    return f"{body}-{crc_8(body):02X}"
