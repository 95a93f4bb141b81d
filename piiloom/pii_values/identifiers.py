"""Draw payment cards, bank accounts and national ids for a locale, by the rules of ``pii_values.numbering``.

If an authority reserves a range or never issues it (``numbering.holders.IDS``), numbers are drawn from that range, so that they belong to
no living person. AU tax file numbers and IN Aadhaar and PAN have no such range: the check digit is right, the rest is random. Locales
that the code does not name: a random number that the stdnum module named in ``data/countries.yaml`` accepts; for SE personal numbers,
birth numbers are from 980 on. US, CA, AU, IN and SG account numbers have no check digit; the shape is the usual one. GB accounts are
IBANs of made-up banks.

Draw IP addresses and addresses of crypto wallets.

Network addresses come from the ranges that RFC 5737 and RFC 3849 reserve for documentation or RFC 1918, 4193 and 4291 for private networks.
Wallets have the right shape; no key is known for any of them.

Draw passport, driving license, plate and booking numbers, and numbers given by schools, employers and insurers.

Only their shapes are realistic: those of ``data/countries.yaml`` for a locale, and of ``data/number_forms.yaml`` for any.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Final

from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.countries import CheckedId, country_of, facts_of, from_mask, shaped
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.lexicons import PersonGender
from piiloom.pii_values.numbering.accounts import bank_code, card_in_groups, card_number, iban_of, in_fours
from piiloom.pii_values.numbering.european_ids import nhs, nino
from piiloom.pii_values.numbering.holders import NETWORK_V6, NETWORKS, Holder, Stream, check_of, completed, digits
from piiloom.pii_values.numbering.masks import fill_given, fill_mask, fill_places, usual_masks
from piiloom.pii_values.numbering.overseas_ids import NRIC_ENDS, aadhaar, pan, sin, tfn, unissued_ssn
from piiloom.pii_values.persona import Persona

# Shortened, in full, of a MAC address, with an interface, of a private network. Places 6 and 7 have 8 bits, the others 16.
_V6: Final = (
    *(f"{NETWORK_V6}{rest}" for rest in ("::{0:x}", "::{0:x}:{1:x}", "::{0:x}:{1:x}:{2:x}", ":{0:x}::{1:x}", ":{0:x}:{1:x}::{2:x}")),
    *(f"{NETWORK_V6}:{rest}" for rest in ("{0:x}:{1:x}:{2:x}::{3:x}", "{0:x}:{1:x}:{2:x}:{3:x}:{4:x}:{5:x}")),
    NETWORK_V6 + ":{0:04x}:{1:04x}:{2:04x}:{3:04x}:{4:04x}:{5:04x}",
    *("fe80::{0:x}:{6:x}ff:fe{7:x}:{1:x}" + zone for zone in ("", "%eth0")),
    "fe80::{0:x}%en0",
    "fd{6:x}:{0:x}:{1:x}::{2:x}",
)
_CAPITALS: Final = 0.12
_HEX: Final = "0123456789abcdef"
_BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"  # the alphabet of BIP 173
_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def draw_ip_address(rng: random.Random) -> str:
    """Draw an IPv4 address of a private or documentation range, sometimes an IPv6 address."""
    dice = rng.random()
    if dice < 0.3:
        return f"{NETWORKS[int(rng.random() * len(NETWORKS))]}.{rng.randint(1, 254)}"
    if dice < 0.55:
        return f"192.168.{rng.randint(0, 254)}.{rng.randint(2, 254)}"
    if dice < 0.75:
        return f"10.{rng.randint(0, 255)}.{rng.randint(0, 255)}.{rng.randint(2, 254)}"
    if dice < 0.85:
        return f"172.{rng.randint(16, 31)}.{rng.randint(0, 255)}.{rng.randint(2, 254)}"
    number = rng.choice(_V6).format(*(rng.randint(1, 0xFFFF) for _ in range(6)), *(rng.randint(0x10, 0xFF) for _ in range(2)))
    return number.upper() if "%" not in number and rng.random() < _CAPITALS else number


def draw_wallet(rng: random.Random) -> str:
    """An Ethereum address (0x and 40 hex digits) or a Bitcoin one (bc1q…, 1…)."""
    dice = rng.random()
    if dice < 0.55:
        return f"0x{_from(_HEX, 40, rng)}"
    if dice < 0.85:
        return f"bc1q{_from(_BECH32, 38, rng)}"
    return f"1{_from(_BASE58, 33, rng)}"


def _from(alphabet: str, count: int, rng: random.Random) -> str:
    return "".join(rng.choices(alphabet, k=count))


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


_MONTHS_FOR_WOMEN: Final = 50  # added to the month of a British driver number


def draw_passport(locale: str, rng: random.Random) -> str:
    """Draw a passport number."""
    return shaped("passport", locale, rng)


def draw_driving_licence(holder: Persona, rng: random.Random) -> str:
    """Draw a license number. As with real ones, the British one contains the holder's name and birth date, the Indian one the state."""
    family, birth = holder.family_name, holder.birth_date
    match holder.locale:
        case "en_GB":
            name = "".join(c for c in family.upper() if c.isascii() and c.isalpha())[:5].ljust(5, "9")
            month = birth.month + (_MONTHS_FOR_WOMEN if holder.gender == "female" else 0)
            born = f"{birth.year // 10 % 10}{month:02d}{birth.day:02d}{birth.year % 10}"
            return f"{name} {born} {holder.given_name[0].upper()}9{fill_mask('%@@', rng)}"
        case "en_IN":
            issued = min(REFERENCE_DATE.year - 1, birth.year + 18 + int(rng.random() * 12))
            return f"{holder.place.vehicle}{rng.randint(1, 60):02d} {issued}{fill_mask('#######', rng)}"
        case "en_SG":
            return draw_national_id(holder.locale, family, rng)  # a Singapore licence bears the identity card's number
        case _:
            return shaped("driving_licence", holder.locale, rng, initial=family[0].upper())


def draw_licence_plate(locale: str, vehicle: str | None, rng: random.Random) -> str:
    """Draw a license plate in a shape of the locale; *vehicle* is the Indian state's registration code."""
    return shaped("licence_plate", locale, rng, vehicle=vehicle or "DL")


def draw_number(kind: str, rng: random.Random, birth_year: int = REFERENCE_DATE.year - 30) -> str:
    """Draw a number of *kind* ("employee_id") in one of the forms of ``data/number_forms.yaml``.

    ``{entry}`` and ``{in}`` in it are the year, and its last two digits, in which somebody born in *birth_year* began to study.
    """
    entry = str(min(REFERENCE_DATE.year - 1, birth_year + 18 + int(rng.random() * 6)))
    return fill_given(usual_masks()[kind], rng, {"entry": entry, "in": entry[2:]})
