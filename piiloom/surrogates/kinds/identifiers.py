"""Ids, accounts and codes: national and tax ids, passports, licenses, cards, bank accounts, records, policies, cases, devices.

The rules, check digits and groups are those of ``pii_values.numbering``; this module says whose number it is, by which rule or in which
shape, and keeps the shape and the separators of the original. Countries without a rule get numbers of a neutral shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple
from unicodedata import normalize

from piiloom.foundation.seeding import below, mix, pick, salt_of
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.countries import facts_of, id_rule
from piiloom.pii_values.names.korean import syllable
from piiloom.pii_values.numbering.accounts import (
    bank_code,
    bitcoin,
    card_in_groups,
    card_number,
    ethereum,
    iban_of,
    in_fours,
    litecoin,
    national_account,
)
from piiloom.pii_values.numbering.holders import Holder, rule_of, with_check
from piiloom.pii_values.numbering.masks import digits_by_seed, fill_by_seed
from piiloom.pii_values.rewriting.calendars import in_words, other_word
from piiloom.pii_values.rewriting.values import reshaped
from piiloom.surrogates.kinds.kind import Draw, Drawing, adult_birth_date, home_of, numbered_seed, style_seed


class LettersFile(FileModel):
    """``letters.yaml``: letters of a script and how they are written in ASCII."""

    scripts: dict[str, dict[str, str]]


@cache
def _letters() -> dict[int, str]:
    tables = load_data("piiloom.surrogates", "letters.yaml", LettersFile).scripts
    return {ord(letter): plain for table in tables.values() for letter, plain in table.items()}


def ascii_letters(name: str) -> str:
    """Return *name* in lower-case ASCII letters; all else is dropped, so the result may be ""."""
    if name.isascii():
        return name.lower() if name.isalpha() else "".join(filter(str.isalpha, name)).lower()
    return _written_plainly(name)


@lru_cache(maxsize=65_536)
def _written_plainly(name: str) -> str:
    known = _letters()
    out = []
    for c in normalize("NFC", name.lower()):
        plain = known.get(ord(c), syllable(c))
        out.append(normalize("NFKD", c) if plain is None else plain)
    return "".join(c for c in "".join(out) if c.isascii() and c.isalpha()).lower()


_HOLDER: Final = salt_of("holder")


class Seeded(NamedTuple):
    """Choices that depend only on a seed and the salt of each: all ids of a person are drawn from one seed."""

    seed: int

    def number(self, salt: int, low: int, high: int) -> int:
        """As in ``Choices``."""
        return low + below(mix(self.seed, salt), high - low + 1)

    def digits(self, salt: int, count: int) -> str:
        """As in ``Choices``; at most nine, so that the draw has no noticeable bias."""
        return f"{below(mix(self.seed, salt), 10**count):0{count}d}"

    def serial(self, salt: int, count: int) -> str:
        """As in ``Choices``."""
        return str(self.number(salt, 10 ** (count - 1), 10**count - 1))

    def one_of(self, salt: int, items: Sequence[str]) -> str:
        """As in ``Choices``."""
        return pick(mix(self.seed, salt), items)


def holder_seed(draw: Draw) -> int:
    """Return the seed of all ids of the holder: the owner's, else one derived from the draw's own."""
    return mix(draw.seed, _HOLDER) if draw.owner is None else draw.owner.seed


def id_holder(draw: Draw, salt: int = 0) -> Holder:
    """Return the holder for *draw*: its owner, or a made-up adult if it has none. *salt* sets the choices of one id apart."""
    owner = draw.owner
    seed = holder_seed(draw)
    choices = Seeded(mix(seed, salt))
    if owner is not None:
        given, family = (ascii_letters(name).upper() for name in (owner.given, owner.family))
        return Holder(choices, owner.born, owner.gender == "female", given, family, draw.anchor)
    born = adult_birth_date(draw.anchor, seed)
    letters = "ABCDEFGHIKLMNOPRSTV"
    made_up = "".join(pick(mix(seed, at), letters if at % 2 else "AEIOU") for at in range(1, 9))
    return Holder(choices, born, bool(seed & 1), made_up[:4], made_up[3:], draw.anchor)


_ID: Final = salt_of("national_id")
_TAX: Final = salt_of("tax_id")
_PAPERS: Final = {name: salt_of(name) for name in ("passport", "driving_licence", "licence_plate")}
_SEPARATORS: Final = re.compile(r"[ .\-/]")


def _like(original: str, value: str) -> str:
    """Return *value* without separators if there is an original that has none."""
    return _SEPARATORS.sub("", value) if original and not _SEPARATORS.search(original.strip()) else value


def _id_number(draw: Draw, rule: str | None, salt: int) -> str:
    if rule is None:
        return fill_by_seed("%########", mix(holder_seed(draw), salt))
    # National and tax id use the same salt, so that they agree in countries where one is or contains the other.
    return _like(draw.original, rule_of(rule)(id_holder(draw, _ID)))


def national_id(draw: Draw) -> str:
    """Draw the owner's national id, without separators if the original has none.

    In the United Kingdom it is an NHS number for ``form="nhs"`` or if the original consists of digits.
    """
    country = home_of(draw)
    if country == "GB" and (draw.form == "nhs" or (draw.original and re.fullmatch(r"[0-9 ]+", draw.original))):
        return _id_number(draw, "western_european_ids:nhs", _ID)
    return _id_number(draw, id_rule(country), _ID)


def tax_id(draw: Draw) -> str:
    """Draw the owner's tax id, without separators if the original has none."""
    country = home_of(draw)
    return _id_number(draw, id_rule(country, tax=True), _TAX)


def paper(name: str) -> Drawing:
    """Return the drawing function for a paper: a number in a shape of the country."""
    salt = _PAPERS[name]

    def drawn(draw: Draw) -> str:
        seed = numbered_seed(draw, salt)
        mask = pick(mix(seed, 1), getattr(facts_of(home_of(draw)), name))
        if "{" in mask:
            holder = id_holder(draw)
            mask = mask.replace("{yymmdd}", f"{holder.born:%y%m%d}").replace("{ddmmyy}", f"{holder.born:%d%m%y}")
            mask = mask.replace("{F}", holder.family[:1] or "X")
        return _like(draw.original, fill_by_seed(mask, seed))

    return drawn


_CARD: Final = salt_of("payment_card")
_ACCOUNT: Final = salt_of("bank_account")
# Prefixes of card numbers that card networks and processors publish for tests, and the numbers' lengths. The other digits are free.
_TEST_CARDS: Final = tuple(
    (head, 15 if head[0] == "3" else 16) for head in "411111 401288 424242 400005 555555 510510 222300 378282 371449 601111".split()
)


class _Places(Seeded):
    """Seeded choices whose digits are drawn place by place, since accounts and cards have long runs of them."""

    def digits(self, salt: int, count: int) -> str:
        """As in ``Choices``."""
        return digits_by_seed(mix(self.seed, salt), count)


def payment_card(draw: Draw) -> str:
    """Draw a card number with a published test prefix and a valid Luhn digit, with the separator that the original has."""
    seed = numbered_seed(draw, _CARD)
    head, length = pick(seed, _TEST_CARDS)
    original = draw.original.strip()
    sign = next((c for c in original if c in " -"), "") if original else pick(mix(seed, 2), (" ", " ", "-", ""))
    return card_in_groups(card_number(head, length, _Places(seed)), sign)


def _bic(choices: _Places, country: str) -> str:
    place = choices.one_of(7, "ABCDEFGHJKLMNPRSTUVW") + choices.one_of(8, "23456789")
    return f"{bank_code(choices)}{country}{place}" + choices.one_of(9, ("", "", "XXX"))


def _routing(choices: _Places, _: str) -> str:
    """Return a number of the American Bankers Association. The first two digits are a district of the Fed."""
    return with_check(f"{choices.number(7, 1, 12):02d}{choices.digits(8, 6)}", "us.rtn")


def _sort_code(choices: _Places, _: str) -> str:
    return "-".join(f"{choices.number(7 + at, 10, 99)}" for at in range(3))


# What an account is called by where a tag says so: "[SWIFT_CODE]", "[BITCOIN ADDRESS]".
_OTHER_FORMS: Final[Mapping[str, Callable[[_Places, str], str]]] = {"bic": _bic, "routing": _routing, "sort_code": _sort_code}
_WALLETS: Final[Mapping[str, Callable[[Holder], str]]] = {"bitcoin": bitcoin, "ethereum": ethereum, "litecoin": litecoin}
_WITH_IBAN: Final = ("GB", "DE", "FR", "NL", "ES", "IT", "IE", "BE")  # where the country has none itself, and an IBAN is asked for


def bank_account(draw: Draw) -> str:
    """Draw an IBAN with valid check digits and a made-up bank, or a national account number.

    The latter is used if the country has no IBAN, or if the original does not begin with letters and a national shape is known. Forms:
    iban, whatever the country; bic, routing, sort_code; bitcoin, ethereum, litecoin.
    """
    country = home_of(draw)
    facts = facts_of(country)
    seed = numbered_seed(draw, _ACCOUNT)
    if not draw.original and draw.form in _OTHER_FORMS:
        return _OTHER_FORMS[draw.form](_Places(seed), country)
    if not draw.original and draw.form in _WALLETS:
        return _WALLETS[draw.form](id_holder(draw._replace(owner=None, seed=seed)))
    if draw.form == "iban" and facts.iban is None:
        country = pick(mix(seed, 6), _WITH_IBAN)
        facts = facts_of(country)
    original = draw.original.strip()
    if facts.iban is not None and not (original and facts.bank_account and not original[:2].isalpha()):
        choices = _Places(seed)
        number = iban_of(country, fill_by_seed(facts.iban.replace("{bank}", bank_code(choices)), seed), choices)
        spaced = " " in original if original else below(mix(seed, 3), 3) > 0
        return in_fours(number) if spaced else number
    value = national_account(country, fill_by_seed(pick(mix(seed, 4), facts.bank_account or ["%#########"]), seed))
    return re.sub(r"[ .\-/]", "", value) if original and original.isalnum() else value


_SHAPES: Final[dict[str, tuple[str, ...]]] = {
    "medical_record": (
        "#######", "########", "MRN ######", "##-##-##", "###-##-##", "@######", "MR%######", "###-###-###", "%#####", "H########",
    ),
    "student_id": (
        "S#######", "{year}####", "{year}-#####", "u%######", "%########", "A########", "STU-######", "@@######", "W0#######",
        "s%######",
    ),
    "employee_id": ("EMP-#####", "E######", "00#####", "@#####", "EID######", "###-####", "P#######", "W-######", "%#####", "KN-####"),
    "policy_number": (
        "@@@#########", "W#### ##### ##", "#########-0#", "@@@###@#####", "H########", "####-####-###", "M#########", "POL-########",
        "@#-#######",
    ),
    "case_number": (
        "{year}-CV-######", "CLM-######", "{yy}-#####", "C-{year}-#####", "{yy}/####", "CASE-#######", "####/{year}", "@@/#####/{yy}",
        "{year}/####", "@ {yy}/####",
    ),
    "id_number": (
        "%#######", "@@######", "######", "@#######", "###-###-###", "%#########", "@@-####-##", "REF-######", "ID-#####", "####-####",
        "@##-#####", "%####",
    ),
    "device_id": (
        "@@-######", "SN#########", "?????-?????-?????", "IMEI %%############%", "@#@####@##", "DEV-######", "&&&&-####", "????????????",
    ),
    "parcel": ("@ ####", "@ ###", "####", "%##/#", "@@@## @ ####", "Lot ##", "%###"),
    "password": ("&&&&&%##!", "@&&&&&##", "@&&&_####", "&&&&&&##$", "@&&#&&#!", "&&#@&&#?&", "@&&&&-@&&&&", "&&&&&&&&"),
}  # fmt: skip
_BY_FORM: Final = {"cvv": "###", "pin": "####", "otp": "######"}  # passwords that are numbers
_YEARS: Final = 9  # the year in a number is less than this many years before the anchor
_VIN: Final = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
_VIN_VALUES: Final = {c: int(v) for c, v in zip(_VIN, "123456781234579234567890123456789", strict=True)}
_SERIAL: Final = 12  # index of the first place that is always a digit
_VIN_WEIGHTS: Final = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_HEADS: Final = (
    "bal bran cal cor dal dor el fal gar hal jas kel lor mar mel nor or pal quin ral sel tal tor ul val ver wel yar zel zor".split()
)
_MIDDLES: Final = ("a", "e", "i", "o", "an", "er", "il", "on", "ar", "en")
_TAILS: Final = "dan den dis lan len lin mar mon nar nel ren rin ris ros tan tis van vis wen x".split()
_SHORT: Final = 3


def coded(kind: str) -> Drawing:
    """Return the drawing function for a code in the original's shape, or in a usual one."""
    salt = salt_of(kind)
    shapes = _SHAPES[kind]

    def drawn(draw: Draw) -> str:
        seed = numbered_seed(draw, salt) if kind in _OWNED else mix(draw.seed, salt)
        if any(map(str.isalnum, draw.original)):
            return reshaped(draw.original, seed)
        mask = _BY_FORM.get(draw.form) or pick(style_seed(draw, salt), shapes)
        if "{" in mask:
            year = draw.anchor.year - below(mix(seed, 1), _YEARS)
            mask = mask.replace("{year}", str(year)).replace("{yy}", f"{year % 100:02d}")
        return fill_by_seed(mask, seed)

    return drawn


_OWNED: Final = frozenset({"medical_record", "student_id", "employee_id", "policy_number", "password"})

_NUMBER_SALT: Final = salt_of("number")
_LETTER: Final = salt_of("letter")
_VEHICLE: Final = salt_of("vehicle_id")
_GENERIC: Final = salt_of("generic")


def vehicle_id(draw: Draw) -> str:
    """Draw a vehicle identification number (ISO 3779) with the check digit that North America requires (49 CFR 565).

    An original that does not have 17 characters is only reshaped.
    """
    seed = mix(draw.seed, _VEHICLE)
    if draw.original and len(draw.original.strip()) != 17:
        return reshaped(draw.original, seed)
    body = [pick(mix(seed, at), _VIN if at < _SERIAL else _VIN[-10:]) for at in range(17)]
    total = sum(weight * _VIN_VALUES[c] for weight, c in zip(_VIN_WEIGHTS, body, strict=True))
    body[8] = "X" if total % 11 == 10 else str(total % 11)
    return "".join(body)


def number(draw: Draw) -> str:
    """Draw a number with as many digits as the original, or two to four without one; words stay words, and counts are small."""
    seed = mix(draw.seed, _NUMBER_SALT)
    original = draw.original
    if any(map(str.isdigit, original)):
        return reshaped(original, seed)
    if original:
        other = other_word(original, draw.language, lambda old: old % 12 + 1 + below(seed, 5))
        if other is not None:
            return other
    if draw.form == "direction":
        return pick(seed, ("N", "NE", "E", "SE", "S", "SW", "W", "NW"))
    if draw.form == "count":
        return str(2 + below(seed, 11))
    if draw.form == "words":
        return in_words(2 + below(seed, 11), draw.language) or str(2 + below(seed, 11))
    return fill_by_seed(pick(mix(seed, 1), ("%#", "%##", "%###", "%##")), seed)


def letter(draw: Draw) -> str:
    """Draw a capital letter, or a value in the shape of the original if there is one."""
    seed = mix(draw.seed, _LETTER)
    return reshaped(draw.original, seed) if any(map(str.isalnum, draw.original)) else fill_by_seed("@", seed)


def generic(draw: Draw) -> str:
    """Draw a meaningless made-up name, about as long as the original, else of about seven letters."""
    seed = mix(draw.seed, _GENERIC)
    original = draw.original.strip()
    if any(map(str.isdigit, original)):
        return reshaped(original, seed)
    length = len(original) if len(original) > _SHORT else 0
    word = pick(mix(seed, 1), _HEADS)
    turn = 2
    while len(word) + _SHORT < length:
        word += pick(mix(seed, turn), _MIDDLES)
        turn += 1
    word += ("" if length or seed & 3 else pick(mix(seed, 40), _MIDDLES)) + pick(mix(seed, 41), _TAILS)
    return word.upper() if original.isupper() and len(original) > 1 else word.capitalize()
