"""Draw telephone numbers and e-mail addresses that belong to nobody, as far as there are reserved ranges.

Blocks kept for fiction: US and CA 555-0100 to 555-0199 in any area code (NANPA), GB the ranges Ofcom keeps for drama, AU the
ranges ACMA keeps for fiction (5550 xxxx and 7010 xxxx). India and Singapore keep no block: numbers there are mobile numbers that
libphonenumber accepts. Other locales: the shapes of ``data/countries.yaml``. Mail and web domains are reserved ones, or under endings that
nobody can register names under; addresses at Gmail have names that it does not allow.
"""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.countries import shaped
from piiloom.pii_values.numbering.holders import DOMAINS, ENDINGS, SITE_NAMES, digits
from piiloom.pii_values.people import draw_form, draw_glued_handle, draw_handle
from piiloom.pii_values.regions import Region

_SITE_ENDINGS: Final = (*DOMAINS, *ENDINGS)
_INDIAN_MOBILE: Final = ("98", "97", "96", "95", "94", "93", "90", "99", "88", "70", "80", "81", "63", "75", "89")
_AT_GMAIL: Final = 0.45  # share of the mail addresses; their names are such as Gmail gives to nobody


def draw_phone(locale: str, region: Region, rng: random.Random) -> str:
    """Draw a number of the locale in one of its usual formats, with the region's area code if numbers have one."""
    if locale == "en_IN":
        return _indian(rng)
    if locale == "en_SG":
        return _singaporean(rng)
    block = rng.choice(region.phone) if region.phone else ""
    if locale == "en_GB":
        return _british(block, rng)
    if locale == "en_AU":
        exchange, line = rng.choice(("5550", "7010")), f"{rng.randint(0, 9999):04d}"
        spaced = (f"({block}) {exchange} {line}", f"{block} {exchange} {line}", f"+61 {block[1:]} {exchange} {line}")
        return rng.choice((*spaced, f"{block}{exchange}{line}"))
    return shaped("phone", locale, rng, area=block)


def _british(block: str, rng: random.Random) -> str:
    """Draw a number from the ranges reserved for drama. *block* is the number without its last three digits ("0113 496 0", "01632 960")."""
    start = "07700 900" if rng.random() < 0.4 else block
    number = f"{start}{rng.randint(0, 999):03d}"
    dice = rng.random()
    if dice < 0.6:
        return number
    return f"+44 {number[1:]}" if dice < 0.85 else number.replace(" ", "")


def _indian(rng: random.Random) -> str:
    digits = rng.choice(_INDIAN_MOBILE) + f"{rng.randint(0, 10**8 - 1):08d}"
    return rng.choice((f"{digits[:5]} {digits[5:]}", f"+91 {digits[:5]} {digits[5:]}", f"+91{digits}", digits, f"0{digits}"))


def _singaporean(rng: random.Random) -> str:
    number = rng.choice(("8", "9")) + rng.choice("1234567") + digits(6, rng)
    spaced = f"{number[:4]} {number[4:]}"
    return rng.choice((spaced, spaced, number, f"+65 {spaced}", f"+65{number}", f"{number[:4]}-{number[4:]}"))


def draw_email(given: str, family: str, birth_year: int, rng: random.Random) -> str:
    """An address that nobody has, mostly made of the name: "dana_whitlock84@gmail.com", "d.whitlock@cedarschool.example"."""
    if rng.random() < _AT_GMAIL:
        return f"{draw_form('gmail', given, family, birth_year, rng)}@gmail.com"
    return f"{draw_handle(given, family, birth_year, rng, 'mail')}@{draw_form('domain', given, family, birth_year, rng)}"


def draw_glued_email(given: str, family: str, rng: random.Random) -> str:
    """Draw an address in which no part of the name is a whole word, so that it shares no word with the name."""
    return f"{draw_glued_handle(given, family, rng)}@{rng.choice(SITE_NAMES)}.{rng.choice(_SITE_ENDINGS)}"


def draw_site(given: str, family: str, birth_year: int, rng: random.Random) -> str:
    """Draw the address of a web site or profile: "https://dana-whitlock.example.com/cv", "www.cedar.example/@dwhitlock"."""
    return draw_form("site", given, family, birth_year, rng)
