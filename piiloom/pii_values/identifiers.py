"""Draw payment cards, bank accounts and national ids for a locale, by the rules of ``pii_values.numbering``.

If an authority reserves a range or never issues it (``numbering.holders.IDS``), numbers are drawn from that range, so that they belong to
no living person. AU tax file numbers and IN Aadhaar and PAN have no such range: the check digit is right, the rest is random. Locales
that the code does not name: a random number that the stdnum module named in ``data/countries.yaml`` accepts; for SE personal numbers,
birth numbers are from 980 on. US, CA, AU, IN and SG account numbers have no check digit; the shape is the usual one. GB accounts are
IBANs of made-up banks.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Final

from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.countries import CheckedId, country_of, from_mask, shaped
from piiloom.pii_values.country_facts import facts_of
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.languages import PersonGender
from piiloom.pii_values.numbering.accounts import bank_code, card_in_groups, card_number, iban_of, in_fours
from piiloom.pii_values.numbering.european_ids import nhs, nino
from piiloom.pii_values.numbering.holders import Holder, Stream, check_of, completed, digits
from piiloom.pii_values.numbering.masks import fill_places
from piiloom.pii_values.numbering.overseas_ids import NRIC_ENDS, aadhaar, pan, sin, tfn, unissued_ssn

_TRIES: Final = 100  # most number bodies to try until one has valid check digits
_PAN_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def draw_payment_card(locale: str, rng: random.Random) -> str:
    """Draw a card number with an issuer's prefix and a valid Luhn digit; in groups, with dashes or in one piece."""
    dice = rng.random()
    if dice < 0.45:
        head, length = "4", 16
    elif dice < 0.75:
        head, length = (str(rng.randint(51, 55)) if rng.random() < 0.7 else str(rng.randint(2221, 2720))), 16
    elif dice < 0.88 and locale != "en_IN":
        head, length = rng.choice(("34", "37")), 15
    else:
        head, length = rng.choice(("6011", "65") if locale != "en_IN" else ("60", "65", "81", "82")), 16
    number = card_number(head, length, Stream(rng))
    return card_in_groups(number, rng.choice((" ", " ", "-", "")))


def draw_iban(country: str, rng: random.Random) -> str | None:
    """Draw an IBAN of *country* (ISO 3166 alpha-2), in groups of four; None if ``data/country_facts.yaml`` has no mask for it."""
    mask, choices = facts_of(country).iban, Stream(rng)
    if mask is None:
        return None
    return in_fours(iban_of(country, fill_places(mask.replace("{bank}", bank_code(choices)), rng), choices))


def draw_bank_account(locale: str, rng: random.Random) -> str:
    """An account number in the usual shape of the locale."""
    if locale != "en_GB":
        return shaped("bank_account", locale, rng)
    choices = Stream(rng)
    number = iban_of("GB", bank_code(choices) + digits(14, rng), choices)
    return in_fours(number) if rng.random() < 0.6 else number


def draw_national_id(
    locale: str, family_name: str, rng: random.Random, *, born: date = REFERENCE_DATE, gender: PersonGender = "nonbinary"
) -> str:
    """Draw a national id number; the module docstring describes the ranges."""
    initial = family_name[:1].upper() if family_name[:1].upper() in _PAN_LETTERS else ""
    holder = Holder(Stream(rng), born, gender == "female", "", initial, REFERENCE_DATE)
    rule = _RULES.get(locale)
    if rule is not None:
        return rule(holder, rng)
    checked = country_of(locale).national_id
    return _checked_id(checked, born, gender, rng) if checked else _american_id(holder, rng)


def _american_id(holder: Holder, rng: random.Random) -> str:
    number = unissued_ssn(holder)
    return number if rng.random() < 0.7 else number.replace("-", " " if rng.random() < 0.5 else "")


def _british_id(holder: Holder, rng: random.Random) -> str:
    return nino(holder) if rng.random() < 0.5 else _mostly_spaced(nhs(holder), rng)


def _canadian_id(holder: Holder, rng: random.Random) -> str:
    return sin(holder).replace(" ", rng.choice((" ", " ", "-", "")))


def _australian_id(holder: Holder, rng: random.Random) -> str:
    return _mostly_spaced(tfn(holder), rng)


def _indian_id(holder: Holder, rng: random.Random) -> str:
    """A PAN (fifth letter: the family name's first) or an Aadhaar number (Verhoeff digit)."""
    return pan(holder, _PAN_LETTERS) if rng.random() < 0.4 else _mostly_spaced(aadhaar(holder), rng)


def _singaporean_id(_: Holder, rng: random.Random) -> str:
    return f"{rng.choice('ST')}{digits(7, rng)}{rng.choice(NRIC_ENDS)}"


def _mostly_spaced(number: str, rng: random.Random) -> str:
    return number if rng.random() < 0.7 else number.replace(" ", "")


_RULES: Final[dict[str, Callable[[Holder, random.Random], str]]] = {
    "en_GB": _british_id,
    "en_CA": _canadian_id,
    "en_AU": _australian_id,
    "en_IN": _indian_id,
    "en_SG": _singaporean_id,
}


def _checked_id(rule: CheckedId, born: date, gender: PersonGender, rng: random.Random) -> str:
    """Draw a number that the stdnum module of *rule* accepts, mostly formatted by the module, else in one piece.

    Raises ``ConfigError`` if ``_TRIES`` bodies of the rule's mask have no valid check digits.
    """
    odd = gender == "male" or (gender == "nonbinary" and rng.random() < 0.5)
    for _ in range(_TRIES):
        mask = rule.mask.replace("{yymmdd}", f"{born:%y%m%d}").replace("{sex}", str(2 * int(rng.random() * 5) + odd))
        number = completed(from_mask(mask, rng), rule.stdnum, rule.check)
        if number is not None:
            return check_of(number, f"{rule.stdnum}:format") if rng.random() < 0.75 else number
    raise ConfigError(f"stdnum.{rule.stdnum} accepts no number of the mask {rule.mask!r}", remedy="Correct it in countries.yaml.")
