"""Another number, code or name in the layout of a given one: "$52,400 a year" gives "$47,800 a year", "67-year-old" "41-year-old".

Separators, decimals and the magnitude stay, codes get the check digits that they must have, and names keep as many parts: titles, initials,
particles and endings stay, and the gender as far as the names index tells it. Surrogates draw by a seed, redrawn values by a generator.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final, Literal

from piiloom.foundation.seeding import below, mix
from piiloom.pii_values.heritage import Heritage, heritages
from piiloom.pii_values.names.index import Table, builtin
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


# "none": no letter with a case; "all": capitals only, so an initialism if it is one short word.
Capitals = Literal["none", "lower", "first", "each", "all"]
_LONGEST_INITIALISM = 5


def form_distance(one: str, other: str) -> int:
    """Return how far apart the forms of two values are: words, digits, and whether one is more than twice as long; 0 is the same."""
    words = abs(len(one.split()) - len(other.split()))
    short, long = sorted((len(one), len(other)))
    digits = [any(map(str.isdigit, text)) for text in (one, other)]
    return words + 2 * (digits[0] != digits[1]) + (long > 2 * short)


def _capitals(parts: list[str]) -> Capitals:
    whole = " ".join(parts)
    if whole.islower():  # whatever has no case left out, as by isupper
        return "lower"
    if whole.lower() == whole.upper():
        return "none"
    if whole.isupper() and sum(map(str.isalpha, whole)) > 1:
        return "all"
    first = next((char for char in parts[0] if char.isalpha()), "")
    if not first.isupper():
        return "lower" if first else "first"
    title = len(parts) > 1 and all(part[:1].isupper() or not part[:1].isalpha() for part in parts)
    return "each" if title and sum(len(part) > 2 for part in parts) > 1 else "first"  # "O Rh+" is no title


def recased(text: str, like: str, *, proper: bool = False) -> str | None:
    """Return *text* capitalised as *like* is, or None if that would misspell it.

    Only proper names (*proper*) are written in small letters against their spelling; an initialism ("MRI") asks nothing of others.
    """
    wanted, given = _capitals(like.split()), _capitals(text.split())
    if wanted == given or "none" in (wanted, given):
        return text
    if wanted == "all":
        short = len(like) <= _LONGEST_INITIALISM and not proper and " " not in like
        return text if short else text.upper()
    if wanted == "lower":
        return text.lower() if proper else None
    if wanted == "each" and not proper:
        return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))
    return text[:1].upper() + text[1:]


_WORD: Final = re.compile(r"(?P<name>[^\W\d_]+(?:['’][^\W\d_]{2,})*)|(?P<other>[^\w\s]+|\s+|[\d_]+)")
_TITLES: Final = frozenset(
    "dr drs doctor prof professor mr mrs ms miss mx sir madam lord lady judge justice nurse officer sgt capt rev sister coach aunt uncle "
    "mevrouw meneer herr frau sr sra senhor senhora dra dona señor señora".split()
)
_ENDINGS: Final = frozenset("jr sr ii iii iv phd md esq".split())
_UNRANKED: Final = 1_000_000
_CLEAR: Final = 0.8  # share of a name's bearers from which the gender counts as known
_LATIN: Final = re.compile(r"[A-Za-zÀ-ɏḀ-ỿ]")

_NamePart = Literal["given", "family"]


def another_name(text: str, subtype: str | None, locale: str, rng: random.Random) -> str | None:
    """Draw a name in the layout of *text*; None if it has no part to be replaced or is not written in Latin letters.

    With the subtype "first_name" or "last_name" every part is one; otherwise the last of several is a family name, and a single one is
    what the names index knows it as.
    """
    tokens = [found.group() for found in _WORD.finditer(text)]
    places = [place for place, token in enumerate(tokens) if _replaceable(token, tokens[place + 1 : place + 2])]
    if not places and len(tokens) == 1 and len(text) > 2:  # "Dona", a title that is also a name
        places = [0]
    if not any(len(tokens[place]) > 1 for place in places) or not all(_LATIN.match(tokens[place]) for place in places):
        return None
    background = heritages(locale).draw(rng)
    whole = [place for place in places if len(tokens[place]) > 1]
    gender = _gender(tokens[whole[0]]) or ("female" if rng.random() < 0.5 else "male")
    for place in places:
        if len(tokens[place]) == 1:
            tokens[place] = rng.choice("ABCDEFGHJKLMNPRSTW")
        else:
            part = _part(subtype, place, whole, tokens)
            tokens[place] = recased(_drawn(background, part, gender, rng), tokens[place], proper=True) or tokens[place]
    return "".join(tokens)


def _replaceable(token: str, following: list[str]) -> bool:
    """Whether *token* is a name or an initial: no sign, title, ending or particle ("van", "de"); "s" after an apostrophe is none."""
    if not token[0].isalpha() or token.casefold() in _TITLES | _ENDINGS:
        return False
    if len(token) == 1:
        return token.isupper()
    return not (token.islower() and len(token) <= 3 and following and following[0].isspace())


def _part(subtype: str | None, place: int, whole: list[int], tokens: list[str]) -> _NamePart:
    if subtype in {"first_name", "last_name"}:
        return "given" if subtype == "first_name" else "family"
    if len(whole) > 1:
        hyphened = place > 1 and tokens[place - 1] == "-" and place - 2 in whole
        first = place - 2 if hyphened else place
        last_is_double = len(whole) > 2 and tokens[whole[-1] - 1] == "-"
        families = whole[-2:] if last_is_double else whole[-1:]
        return "family" if first in families or place in families else "given"
    index = builtin()
    given, family = _best_rank(index.first, tokens[place]), _best_rank(index.last, tokens[place])
    return "family" if family is not None and (given is None or family < given) else "given"


def _drawn(background: Heritage, part: _NamePart, gender: Literal["female", "male"], rng: random.Random) -> str:
    """Draw a name of one word; lists have few others."""
    source = background.family if part == "family" else background.given[gender]
    name = source.draw(rng)
    while " " in name or "-" in name:
        name = source.draw(rng)
    return name


@cache
def _gender(name: str) -> Literal["female", "male"] | None:
    table = builtin().first
    shares = [table.genders(number) for number in table.like(name)]
    female, male = sum(one or 0 for one, _ in shares), sum(other or 0 for _, other in shares)
    if not female + male:
        return None
    share = female / (female + male)
    return "female" if share >= _CLEAR else "male" if share <= 1 - _CLEAR else None


def _best_rank(table: Table, name: str) -> int | None:
    """Return the best rank in any country; unranked names come last."""
    places = [place for number in table.like(name) for place in table.places(number)]
    return min((_UNRANKED if place.rank is None else place.rank for place in places), default=None)
