"""Another number or code in the layout of a given one: "$52,400 a year" gives "$47,800 a year", "67-year-old" "41-year-old".

Separators, decimals and the magnitude stay, and codes get the check digits that they must have. Surrogates draw by a seed,
redrawn values by a generator.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

from piiloom.foundation.seeding import below, mix
from piiloom.pii_values.numbering.accounts import card_number, iban_of
from piiloom.pii_values.numbering.holders import Stream, check_of
from piiloom.pii_values.numbering.masks import LETTERS, choices_by_seed
from piiloom.pii_values.rewriting.calendars import ordinal_suffix, other_word

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
        figures = value.removeprefix("0x")
        alphabet = "0123456789abcdef" if figures.islower() else "0123456789ABCDEF"
        return value[: len(value) - len(figures)] + "".join(rng.choice(alphabet) for _ in figures)
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


def at_places(place: str | re.Pattern[str], text: str, characters: str) -> str:
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


_RUN: Final = re.compile(r"\d+")
_IN_YEAR: Final = re.compile(r"(?i)(?<=\bin )(?:19|20)\d\d\b|(?<=\bsince )(?:19|20)\d\d\b")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_FEET: Final = re.compile(r"([4-7])(\s*(?:'|’|′|-?\s?(?:ft|feet|foot)\b)\D{0,5})(\d{1,2})?")
ORDINAL: Final = re.compile(r"(\d+)(st|nd|rd|th)\b")
_AGES: Final = {1: (2, 9), 2: (18, 89), 3: (100, 105)}


def unlike(old: int, low: int, high: int, rng: random.Random) -> int:
    """Draw a number from *low* to *high* that is not *old*."""
    new = rng.randint(low, high)
    return new if new != old else new + 1 if new < high else low


def renumbered(text: str, rng: random.Random) -> str:
    """Return *text* with other numbers of as many digits. Zeros at the end and a 1 that stands alone ("1 year") stay; years are near."""

    def other(found: re.Match[str]) -> str:
        if _IN_YEAR.match(text, found.start()):
            return str(int(found.group()) - rng.randint(1, 6))
        return found.group() if found.group() == "1" else resized(found.group(), rng.getrandbits(64))

    return ORDINAL.sub(lambda found: found[1] + ordinal_suffix("th", int(found[1]), "th"), AMOUNT.sub(other, text))


def another_age(text: str, rng: random.Random) -> str:
    """Return *text* with other ages: of as many digits, and adults stay adults."""

    def other(found: re.Match[str]) -> str:
        if text[found.end() : found.end() + 1] == "s" and found.group().endswith("0"):  # "late 40s"
            return f"{unlike(int(found.group()) // 10 % 10, 2, 8, rng)}0"
        if _YEAR.fullmatch(found.group()):
            return str(int(found.group()) - rng.randint(1, 6))  # "born in 1984"
        bounds = _AGES.get(len(found.group()))
        return str(unlike(int(found.group()), *bounds, rng)) if bounds else resized(found.group(), rng.getrandbits(64))

    return _RUN.sub(other, text)


def another_measure(text: str, rng: random.Random) -> str:
    """Return *text* with another height or weight; the hundreds stay, feet are 4 to 6 and inches below 12."""
    if _FEET.search(text):
        return _FEET.sub(lambda found: f"{unlike(int(found[1]), 4, 6, rng)}{found[2]}{_inches(found[3], rng)}", text)

    def other(found: re.Match[str]) -> str:
        run = found.group()
        if len(run) == 3 and run[0] == "1":
            return f"1{unlike(int(run[1:]), 10 if int(run) < 140 else 45, 99, rng)}"
        if run == "1":
            return run  # "1.75 m"
        return str(unlike(int(run), 42, 99, rng)) if len(run) == 2 else resized(run, rng.getrandbits(64))

    return _RUN.sub(other, text)


def _inches(run: str | None, rng: random.Random) -> str:
    return "" if run is None else str(unlike(int(run), 0, 9, rng) if len(run) == 1 else unlike(int(run), 10, 11, rng))


AMOUNT: Final = re.compile(r"[0-9](?:[0-9.,'  ]*[0-9])?")


def resized(text: str, seed: int) -> str:
    """Return a number with as many digits as *text*; separators and trailing zeros are kept: "52,400" → "47,800"."""
    places = [at for at, c in enumerate(text) if c.isdigit()]
    cents = len(text) > 3 and text[-3] in ".," and text[-2:].isdigit()
    whole = places[:-2] if cents else places
    zeros = 0
    for at in reversed(whole[1:]):
        if text[at] != "0":
            break
        zeros += 1
    out = list(text)
    free = whole[: len(whole) - zeros]
    for turn, at in enumerate(free):
        low = 1 if at == places[0] and text[at] != "0" else 0
        old = int(text[at])
        if turn == 0 and len(free) > 1:  # change the first digit by at most one, to keep the magnitude
            out[at] = str(min(9, max(low, old - 1 + below(mix(seed, turn), 3))))
        else:
            new = low + below(mix(seed, turn), 10 - low)
            out[at] = str(new if new != old else low + (new - low + 1) % (10 - low))
    if cents and text[-2:] != "00":
        out[-2:] = f"{below(mix(seed, 50), 99):02d}"
    return "".join(out)


_LONGEST: Final = 6  # digits of a score
FIGURES: Final = "0123456789"
_SIGNS_OF_NUMBERS: Final = FIGURES + ".,"
_IDLE_ZEROS: Final = re.compile(r"^(?:0+(?=[0-9])|0[.,](?=[0-9]{3}\b))")  # "094", and "0,812" where it was "1,000"


def other_score(text: str, seed: int) -> str:
    """Return another number near *text*, with as many decimals; what follows the number is kept ("/20", "%").

    The new number is lower by 1 to a fifth, or 1 higher if *text* is 0 or 1; it begins with a zero only if *text* does, or where it is
    less than one. Numbers with more than six digits are only reshaped.
    """
    end = next((at for at, c in enumerate(text) if c not in _SIGNS_OF_NUMBERS), len(text))
    number, rest = text[:end].rstrip(".,"), text[len(text[:end].rstrip(".,")) :]
    digits = number.replace(".", "").replace(",", "")
    if len(digits) > _LONGEST:
        return reshaped(text, seed)
    top = {1: 10, 2: 100}.get(len(digits), 10 ** len(digits))
    value = min(int(digits), top)
    reach = max(1, value // 5)
    new = value - 1 - below(seed, reach) if value > reach else value + 1 + below(seed, reach)
    places = iter(f"{max(1, new):0{len(digits)}d}")
    written = "".join(next(places) if c in FIGURES else c for c in number)
    return (written if number[0] == "0" else _IDLE_ZEROS.sub("", written)) + rest


def with_other_number(
    text: str, language: str, number: re.Pattern[str], in_digits: Callable[[str], str], in_words: Callable[[int], int]
) -> str | None:
    """Return *text* with its first *number* changed by *in_digits*, else its first one in words by *in_words*; None without."""
    found = number.search(text)
    if found is not None:
        return text[: found.start()] + in_digits(found.group()) + text[found.end() :]
    return other_word(text, language, in_words) if text else None


THIRD: Final = 3  # a duration changes by at most one third, or by 1
_LARGEST: Final = 10**9


def near_number(text: str, seed: int) -> str:
    """Return another number of about the same size as *text*, with as many decimals."""
    sign = next((c for c in text if c in ".,"), "")
    whole, _, part = text.partition(sign) if sign else (text, "", "")
    number = min(int(whole[:18]), _LARGEST)
    reach = max(1, number // THIRD)
    new = number + 1 + below(seed, reach) if number <= 2 or seed & 1 else max(1, number - 1 - below(seed, min(reach, number - 1)))
    return f"{new}{sign}{(int(part[:15]) + 3) % 10 ** len(part[:15]):0{len(part[:15])}d}" if part else str(new)
