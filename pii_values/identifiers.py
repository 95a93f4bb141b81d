"""Draw numbers with check digits: payment cards, bank accounts and national ids. Check digits are computed with python-stdnum.

If an authority reserves a range or never issues it, numbers are drawn from that range, so that they belong to no living person:

* US social security numbers: area 900-999 with group 01-49. Areas from 900 on were never issued as SSN, and tax ids (ITIN)
  with these areas use groups 50 and above. stdnum rejects them, as it should.
* GB NHS numbers 999 000 0000 to 999 999 9999 (reserved for tests; valid check digit), and national insurance numbers with the
  never allocated prefixes of ``_NINO_PREFIXES``.
* CA social insurance numbers that begin with 0 (not assigned; the Luhn digit is right, stdnum rejects the first digit).
* AU tax file numbers and IN Aadhaar and PAN have no such range: the check digit is right, the rest is random.
* SG identity card numbers end in a letter of the other series (K to X after S and T), so no card has them; stdnum has no rule.
* Other locales: a random number that the stdnum module named in ``data/countries.yaml`` accepts; for SE personal numbers, birth
  numbers are from 980 on, which the tax agency reserves for test persons.
* US, CA, AU, IN and SG account numbers have no check digit; the shape is the usual one. GB accounts are IBANs of made-up banks.
"""

from __future__ import annotations

import importlib
import random
from datetime import date
from typing import Final

from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.countries import CheckedId, country_of, from_mask, shaped
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.languages import Gender

_NINO_PREFIXES: Final = ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ", "QQ")
_BANKS: Final = ("HRTW", "LMBK", "QVST", "RDGE", "WLKN", "ZPHR", "KLDR", "BRXT", "FNWK", "TRVX")
_TRIES: Final = 100  # most number bodies to try until one has valid check digits
_UNISSUED_LETTERS: Final = "KLMNPQRTUWX"
_PAN_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def digits(count: int, rng: random.Random) -> str:
    """*count* random digits."""
    return f"{int(rng.random() * 10**count):0{count}d}"


def draw_payment_card(locale: str, rng: random.Random) -> str:
    """Draw a card number with an issuer's prefix and a valid Luhn digit; in groups, with dashes or in one piece."""
    from stdnum import luhn  # noqa: PLC0415 - checks are needed only when a code is drawn

    dice = rng.random()
    if dice < 0.45:
        head, length = "4", 16
    elif dice < 0.75:
        head, length = (str(rng.randint(51, 55)) if rng.random() < 0.7 else str(rng.randint(2221, 2720))), 16
    elif dice < 0.88 and locale != "en_IN":
        head, length = rng.choice(("34", "37")), 15
    else:
        head, length = rng.choice(("6011", "65") if locale != "en_IN" else ("60", "65", "81", "82")), 16
    body = head + digits(length - 1 - len(head), rng)
    number = body + luhn.calc_check_digit(body)
    cuts = (4, 10) if length == 15 else (4, 8, 12)
    separator = rng.choice((" ", " ", "-", ""))
    return separator.join(number[a:b] for a, b in zip((0, *cuts), (*cuts, length), strict=True))


def draw_bank_account(locale: str, rng: random.Random) -> str:
    """An account number in the usual shape of the locale."""
    match locale:
        case "en_GB":
            return _british_iban(rng)
        case "en_CA":
            return f"{digits(5, rng)}-{rng.choice(('001', '002', '003', '004', '006', '010', '016'))} {digits(7, rng)}"
        case "en_AU":
            bsb = digits(6, rng)
            return f"{bsb[:3]}-{bsb[3:]} {digits(8, rng)}"
        case "en_IN":
            return str(rng.randint(1, 9)) + digits(rng.choice((10, 11, 13, 14)), rng)
        case "en_SG":
            cuts = rng.choice(((3, 5, 1), (10,), (3, 6, 3), (9,)))
            return "-".join(digits(count, rng) for count in cuts)
        case _:
            return shaped("bank_account", locale, rng) or _american_account(rng)


def _american_account(rng: random.Random) -> str:
    number = str(rng.randint(1, 9)) + digits(rng.choice((8, 9, 11)), rng)
    return number if rng.random() < 0.7 else f"{number[:-4]}-{number[-4:]}"


def _british_iban(rng: random.Random) -> str:
    """An IBAN ("GB82 WEST 1234 5698 7654 32"): country, ISO 7064 check digits, bank, sort code, account."""
    from stdnum.iso7064 import mod_97_10  # noqa: PLC0415 - see draw_payment_card

    account = rng.choice(_BANKS) + digits(14, rng)
    iban = f"GB{mod_97_10.calc_check_digits(account + 'GB')}{account}"
    return " ".join(iban[i : i + 4] for i in range(0, len(iban), 4)) if rng.random() < 0.6 else iban


def draw_national_id(
    locale: str, family_name: str, rng: random.Random, *, born: date = REFERENCE_DATE, gender: Gender = "nonbinary"
) -> str:
    """Draw a national id number; the module docstring describes the ranges."""
    match locale:
        case "en_GB":
            return _british_id(rng)
        case "en_CA":
            return _canadian_id(rng)
        case "en_AU":
            return _australian_id(rng)
        case "en_IN":
            return _indian_id(family_name, rng)
        case "en_SG":
            return f"{rng.choice('ST')}{digits(7, rng)}{rng.choice(_UNISSUED_LETTERS)}"
        case _:
            rule = country_of(locale).national_id
            return _checked_id(rule, born, gender, rng) if rule else _american_id(rng)


def _american_id(rng: random.Random) -> str:
    number = f"{rng.randint(900, 999)}-{rng.randint(1, 49):02d}-{rng.randint(1, 9999):04d}"
    return number if rng.random() < 0.8 else number.replace("-", " " if rng.random() < 0.5 else "")


def _checked_id(rule: CheckedId, born: date, gender: Gender, rng: random.Random) -> str:
    """Draw a number that the stdnum module of *rule* accepts, mostly formatted by the module, else in one piece.

    Raises ``ConfigError`` if ``_TRIES`` bodies of the rule's mask have no valid check digits.
    """
    known = importlib.import_module(f"stdnum.{rule.stdnum}")
    odd = gender == "male" or (gender == "nonbinary" and rng.random() < 0.5)
    for _ in range(_TRIES):
        mask = rule.mask.replace("{yymmdd}", f"{born:%y%m%d}").replace("{sex}", str(2 * int(rng.random() * 5) + odd))
        body = from_mask(mask, rng)
        tails = (f"{tail:0{rule.check}d}" for tail in range(10**rule.check))
        number = next((body + tail for tail in tails if known.is_valid(body + tail)), None)
        if number is not None:
            return str(known.format(number)) if rng.random() < 0.75 else number
    raise ConfigError(f"stdnum.{rule.stdnum} accepts no number of the mask {rule.mask!r}", remedy="Correct it in countries.yaml.")


def _british_id(rng: random.Random) -> str:
    from stdnum.gb import nhs  # noqa: PLC0415 - see draw_payment_card

    if rng.random() < 0.5:
        pairs = digits(6, rng)
        return f"{rng.choice(_NINO_PREFIXES)} {pairs[:2]} {pairs[2:4]} {pairs[4:]} {rng.choice('ABCD')}"
    while True:
        body = "999" + digits(6, rng)
        number = next((body + str(d) for d in range(10) if nhs.checksum(body + str(d)) == 0), None)
        if number is not None:  # one body in eleven has no check digit
            return f"{number[:3]} {number[3:6]} {number[6:]}" if rng.random() < 0.7 else number


def _canadian_id(rng: random.Random) -> str:
    from stdnum import luhn  # noqa: PLC0415 - see draw_payment_card

    body = "0" + digits(7, rng)
    number = body + luhn.calc_check_digit(body)
    separator = rng.choice((" ", " ", "-", ""))
    return separator.join((number[:3], number[3:6], number[6:]))


def _australian_id(rng: random.Random) -> str:
    from stdnum.au import tfn  # noqa: PLC0415 - see draw_payment_card

    while True:
        body = str(rng.randint(1, 9)) + digits(7, rng)
        number = next((body + str(d) for d in range(10) if tfn.checksum(body + str(d)) == 0), None)
        if number is not None:  # one body in eleven has no check digit
            return f"{number[:3]} {number[3:6]} {number[6:]}" if rng.random() < 0.7 else number


def _indian_id(family_name: str, rng: random.Random) -> str:
    """A PAN (fifth letter: the family name's first) or an Aadhaar number (Verhoeff digit)."""
    from stdnum import verhoeff  # noqa: PLC0415 - see draw_payment_card

    if rng.random() < 0.4:
        letters = "".join(rng.choice(_PAN_LETTERS) for _ in range(3))
        initial = family_name[0].upper() if family_name[0].upper() in _PAN_LETTERS else "X"
        return f"{letters}P{initial}{rng.randint(1, 9999):04d}{rng.choice(_PAN_LETTERS)}"
    while True:
        body = str(rng.randint(2, 9)) + digits(10, rng)
        number = body + verhoeff.calc_check_digit(body)
        if number != number[::-1]:  # palindromes are not issued
            return f"{number[:4]} {number[4:8]} {number[8:]}" if rng.random() < 0.7 else number
