"""Another code in the layout of a given one, with the check digits that such a code must have."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

from piiloom.foundation.seeding import mix
from piiloom.pii_values.numbering.accounts import card_number, iban_of
from piiloom.pii_values.numbering.holders import Stream, check_of
from piiloom.pii_values.numbering.masks import LETTERS, choices_by_seed

_HEX: Final = re.compile(r"(?=.*[a-fA-F])(?:(?:0x)?[0-9a-f]{16,}|(?:0x)?[0-9A-F]{16,})")
_EMAIL: Final = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_IP: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}")
_PHONE: Final = re.compile(r"\+?[\d\s().\-–/]{7,24}(?:\s?(?:x|ext\.?)\s?\d{1,5})?")
_SOCIAL_SECURITY: Final = re.compile(r"\d{3}([- ])\d{2}\1\d{4}")
_ENOUGH_DIGITS: Final = 4  # a code with as many keeps its letters ("EMP-40213")
_LINE: Final = 4  # last digits of a phone number, which are drawn anew


def guessed_subtype(value: str) -> str | None:
    """Return the subtype of a code that its shape and its check digits tell; None for any other code."""
    shapes: tuple[tuple[str, Callable[[str], object]], ...] = (
        ("email", _EMAIL.fullmatch),
        ("bank_account", is_iban),
        ("ip_address", _IP.fullmatch),
        ("payment_card", is_card),
        ("national_id", _SOCIAL_SECURITY.fullmatch),
        ("phone", _looks_like_phone),
    )
    return next((subtype for subtype, fits in shapes if fits(value)), None)


def is_card(value: str) -> bool:
    """Whether *value* is a number of 13 to 19 digits, perhaps in groups, with a valid Luhn digit."""
    number = re.sub(r"[ -]", "", value)
    return number.isascii() and number.isdigit() and 13 <= len(number) <= 19 and check_of(number[:-1], "luhn") == number[-1]


def is_iban(value: str) -> bool:
    """Whether *value* is an account number with the check digits of an IBAN."""
    compact = re.sub(r"\s", "", value)
    if not re.fullmatch(r"[A-Za-z]{2}\d{2}[A-Za-z0-9]{8,30}", compact):
        return False
    try:
        return check_of(compact.upper(), "iban:calc_check_digits") == compact[2:4]
    except Exception:  # noqa: BLE001 - stdnum raises its own errors for a form that it does not know
        return False


def layout(value: str) -> str:
    """Return *value* with 0 for each digit, "A" for each capital and "a" for each small letter."""
    return "".join("0" if c.isdigit() else "A" if c.isupper() else "a" if c.islower() else c for c in value)


def another_code(value: str, subtype: str | None, rng: random.Random) -> str:
    """Return a code in exactly the layout of *value*; cards and IBANs keep issuer or country and get valid check digits."""
    if is_card(value):
        number = re.sub(r"\D", "", value)
        head = number[: 1 if number[0] == "4" else 2]  # tells the issuer
        return _like(value, card_number(head, len(number), Stream(rng)))
    if is_iban(value):
        compact = re.sub(r"\s", "", value).upper()
        body = _filled(compact[4:], rng, letters=False)
        return _like(value, iban_of(compact[:2], body, Stream(rng)))
    if subtype == "phone":
        return _phone(value, rng)
    if _HEX.fullmatch(value):
        head = 2 if value.startswith("0x") else 0
        alphabet = "0123456789abcdef" if value[head:].islower() else "0123456789ABCDEF"
        return value[:head] + "".join(rng.choice(alphabet) for _ in value[head:])
    return _filled(value, rng, letters=sum(c.isdigit() for c in value) < _ENOUGH_DIGITS)


def _phone(value: str, rng: random.Random) -> str:
    """Return *value* with other last digits; of North American numbers the last seven become those kept for fiction."""
    number = re.sub(r"\D", "", value)
    american = (len(number), number[:1]) == (11, "1") or (len(number) == 10 and number[0] >= "2" and not value.startswith("+"))
    tail = f"55501{rng.randint(0, 99):02d}" if american else "".join(str(rng.randint(0, 9)) for _ in range(_LINE))
    return at_places(r"\d", value, number[: -len(tail)] + tail)


def _looks_like_phone(value: str) -> bool:
    """Whether *value* begins with + or a bracket, or signs or blanks part 7 to 15 digits into three groups or more."""
    if not _PHONE.fullmatch(value):
        return False
    groups = re.findall(r"\d+", value)
    return value[0] in "+(" or (len(groups) > 2 and 7 <= sum(map(len, groups)) <= 15)


def at_places(place: str, text: str, characters: str) -> str:
    """Write *characters* into *text*, one at each *place* (a pattern of one character)."""
    following = iter(characters)
    return re.sub(place, lambda _: next(following), text)


def _like(value: str, code: str) -> str:
    """Write the characters of *code* at the places of the letters and digits of *value*, in its case."""
    written = at_places(r"[^\W_]", value, code)
    return "".join(new.lower() if old.islower() else new for old, new in zip(value, written, strict=True))


def _filled(value: str, rng: random.Random, *, letters: bool) -> str:
    def other(char: str) -> str:
        if char.isdigit():
            return str(rng.randint(0, 9))
        if not letters or not char.isascii() or not char.isalpha():
            return char
        return rng.choice(LETTERS.lower() if char.islower() else LETTERS)

    return "".join(map(other, value))


def reshaped(original: str, seed: int) -> str:
    """Draw a code in the shape of *original*: digits become digits, letters become letters of the same case.

    All other characters are kept. If the first digit is not 0, the new one is not 0 either. The result differs from *original* if that
    has a digit or a letter.
    """
    alphabets = []
    first = True
    for c in original:
        if c.isdigit():
            alphabets.append(digits[1:] if first and c != "0" else digits)
            first = False
        elif c.isalpha():
            alphabets.append(ascii_lowercase if c.islower() else ascii_uppercase)
        else:
            alphabets.append(c)
    if not any(len(alphabet) > 1 for alphabet in alphabets):
        return original
    for turn in range(8):  # a single letter comes out the same once in 26 times
        new = "".join(choices_by_seed(mix(seed, turn), tuple(alphabets)))
        if new != original:
            return new
    at = next(i for i, alphabet in enumerate(alphabets) if len(alphabet) > 1)
    other = alphabets[at][(alphabets[at].find(new[at]) + 1) % len(alphabets[at])]
    return new[:at] + other + new[at + 1 :]
