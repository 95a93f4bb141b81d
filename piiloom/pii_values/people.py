"""Draw user names made from names, and family ties: marital status, children, kin words.

Draw telephone numbers and e-mail addresses that belong to nobody, as far as there are reserved ranges.

Blocks kept for fiction: US and CA 555-0100 to 555-0199 in any area code (NANPA), GB the ranges Ofcom keeps for drama, AU the
ranges ACMA keeps for fiction (5550 xxxx and 7010 xxxx). India and Singapore keep no block: numbers there are mobile numbers that
libphonenumber accepts. Other locales: the shapes of ``data/countries.yaml``. Mail and web domains are reserved ones, or under endings that
nobody can register names under; addresses at Gmail have names that it does not allow.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.countries import shaped
from piiloom.pii_values.lexicons import Entry, Fitted, PersonGender, Weighted, entries, merged, phrase, weighted
from piiloom.pii_values.numbering.holders import DOMAINS, ENDINGS, SITE_NAMES, digits
from piiloom.pii_values.regions import Region

MaritalKind = Literal["single", "partnered", "engaged", "married", "separated", "divorced", "widowed"]
Attraction = Literal["same", "other", "any"]

# Weights of marital kinds, from an age on (years): our estimate, close to censuses of English-speaking countries.
_MARITAL: tuple[tuple[int, dict[MaritalKind, float]], ...] = (
    (0, {"single": 1}),
    (18, {"single": 80, "partnered": 12, "engaged": 4, "married": 4}),
    (23, {"single": 55, "partnered": 18, "engaged": 8, "married": 19}),
    (30, {"single": 28, "partnered": 12, "engaged": 6, "married": 42, "separated": 5, "divorced": 7}),
    (40, {"single": 18, "partnered": 8, "engaged": 2, "married": 50, "separated": 6, "divorced": 14, "widowed": 2}),
    (55, {"single": 12, "partnered": 5, "engaged": 1, "married": 50, "separated": 5, "divorced": 19, "widowed": 8}),
    (70, {"single": 8, "partnered": 3, "married": 46, "separated": 2, "divorced": 15, "widowed": 26}),
    (80, {"single": 6, "partnered": 2, "married": 34, "separated": 1, "divorced": 11, "widowed": 46}),
)
# Share of people with children, by age (years): our estimate.
_PARENTS: tuple[tuple[int, float], ...] = ((0, 0.0), (19, 0.06), (24, 0.2), (30, 0.5), (40, 0.75), (50, 0.82))
_CHILD_COUNTS: Final = weighted([(1, 30.0), (2, 42.0), (3, 18.0), (4, 7.0), (5, 3.0)])  # our estimate
_YOUNGEST_PARENT, _OLDEST_PARENT = 17, 46
_PARTNER_WORDS: Final[dict[PersonGender, str]] = {"male": "man", "female": "woman", "nonbinary": "woman"}  # as used in topic names
_GROWN: Final = 18
_SHORTEST, _LONGEST = 4, 24  # characters of a user name


class _Handles(FileModel):
    words: dict[str, list[str]]
    forms: dict[str, dict[str, float]]


# Weights of attractions (topics of the lexicon "identity") by how often people mention them (our estimate).
_ORIENTATIONS: Final[tuple[tuple[Attraction, float], ...]] = (("other", 22.0), ("same", 34.0), ("any", 44.0))


@dataclass(frozen=True, slots=True)
class Child:
    """A child of a persona; ``age`` in completed years."""

    gender: PersonGender
    age: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ties:
    """A person's marital kind, attraction and children (oldest first). ``partner``: the gender of a present or former partner."""

    kind: MaritalKind
    drawn_to: Attraction
    partner: PersonGender
    children: tuple[Child, ...]


@cache
def marital_kinds(age: int) -> Weighted[MaritalKind]:
    """Return the weighted marital kinds at this age."""
    table = next(kinds for start, kinds in reversed(_MARITAL) if age >= start)
    return weighted(table.items())


def draw_children(age: int, kind: MaritalKind, rng: random.Random) -> tuple[Child, ...]:
    """Draw the children of a person of *age*, oldest first; single people have children half as often."""
    share = next(part for start, part in reversed(_PARENTS) if age >= start)
    if rng.random() >= (share / 2 if kind == "single" else share):
        return ()
    parent_at = min(age, max(_YOUNGEST_PARENT, round(rng.gauss(27, 5))))
    found: list[Child] = []
    for _ in range(_CHILD_COUNTS.draw(rng)):
        if parent_at > min(age, _OLDEST_PARENT):
            break
        found.append(Child("female" if rng.random() < 0.5 else "male", age - parent_at))
        parent_at += 1 + int(rng.random() * 5)
    return tuple(found)


def draw_ties(
    age: int, gender: PersonGender, rng: random.Random, kind: MaritalKind | None = None, partner: PersonGender | None = None
) -> Ties:
    """Draw ties that fit age and gender; *kind* and *partner* are given if they are known."""
    kind = kind or marital_kinds(age).draw(rng)
    drawn_to = _attractions(gender, partner).draw(rng)
    return Ties(kind=kind, drawn_to=drawn_to, partner=partner or _partner(gender, drawn_to, rng), children=draw_children(age, kind, rng))


@cache
def _attractions(gender: PersonGender, partner: PersonGender | None) -> Weighted[Attraction]:
    """Return the weighted attractions that are consistent with a partner of gender *partner* (None: unknown)."""
    if partner is None or "nonbinary" in {gender, partner}:
        return weighted(_ORIENTATIONS)
    away: Attraction = "same" if gender != partner else "other"
    return weighted((drawn_to, share) for drawn_to, share in _ORIENTATIONS if drawn_to != away)


def _partner(gender: PersonGender, drawn_to: Attraction, rng: random.Random) -> PersonGender:
    if drawn_to == "any" or gender == "nonbinary":
        return "female" if rng.random() < 0.5 else "male"
    return gender if drawn_to == "same" else "male" if gender == "female" else "female"


@cache
def kin_words(
    locale: str, age: int, gender: PersonGender, partner: PersonGender, kind: MaritalKind, children: frozenset[str]
) -> Weighted[Entry]:
    """Return the kin words that fit a person, ready to draw from; *children* is the result of ``child_topics``."""
    topics = {"kin_any", f"kin_{kind}", f"kin_{kind}_{_PARTNER_WORDS[partner]}"} | children
    found = [e for e in entries("relationships", locale) if e.topic in topics and e.fits(age, gender)]
    return merged((e, e.weight) for e in found)


def child_topics(children: Sequence[Child]) -> frozenset[str]:
    """Return the lexicon topics of the words for these children and for grandchildren."""
    topics: set[str] = set()
    for gender, word in (("male", "son"), ("female", "daughter")):
        ages = [c.age for c in children if c.gender == gender]
        if ages:
            topics.add(f"kin_{word}")
        if len(ages) > 1:
            topics.add(f"kin_{word}s")
        if ages and max(ages) >= _GROWN:
            topics.add(f"kin_grown_{word}")
    if any(c.age >= 21 for c in children):
        topics.add("kin_grandchild")
    return frozenset(topics)


def draw_spouse(who: Fitted, ties: Ties, rng: random.Random) -> str:
    """Draw the word for the present partner ("husband", "girlfriend", "fiancée"); ``ties.kind`` must imply a partner."""
    return phrase("relationships", f"spouse_{ties.kind}_{_PARTNER_WORDS[ties.partner]}", who, rng)


def draw_handle(given: str, family: str, birth_year: int, rng: random.Random, form: Literal["username", "mail"] = "username") -> str:
    """Draw a user name, mostly made of a name: "dana_whitlock84", "LazyPanda_7"; *form* "mail" is for an address."""
    while True:
        handle = draw_form(form, given, family, birth_year, rng)
        if _SHORTEST <= len(handle) <= _LONGEST:
            return handle


def draw_form(kind: str, given: str, family: str, birth_year: int, rng: random.Random) -> str:
    """Draw one of the forms of *kind* in ``data/handles.yaml``, filled with names and words."""
    words, forms = _handles()
    parts = {
        "first": ascii_name(given),
        "last": ascii_name(family),
        "year": str(birth_year),
        "yy": f"{birth_year % 100:02d}",
        "d": str(rng.randint(2, 4)),
        "nn": rng.choice((f"{birth_year % 100:02d}", str(rng.randint(1, 99)), str(rng.randint(1, 999)))),
        "d2": digits(2, rng),
        "d4": digits(4, rng),
        **{name: rng.choice(found) for name, found in words.items()},
    }
    parts["n"] = rng.choice(("", parts["nn"]))
    return forms[kind].draw(rng).format_map(_Parts(parts))


class _Parts(dict[str, str]):
    """The parts of a form by name; "First" and "FIRST" are the part "first", capitalised and in capitals."""

    def __missing__(self, name: str) -> str:
        text = self[name.lower()]
        return text.upper() if name.isupper() else text.capitalize()


@cache
def _handles() -> tuple[Mapping[str, Sequence[str]], Mapping[str, Weighted[str]]]:
    found = load_data("piiloom.pii_values", "handles.yaml", _Handles)
    return found.words | {"site": SITE_NAMES, "end": list(ENDINGS)}, {kind: weighted(forms.items()) for kind, forms in found.forms.items()}


def draw_glued_handle(given: str, family: str, rng: random.Random) -> str:
    """Draw a user name in which no part of the name is a whole word: "dwhitlock84"."""
    return f"{ascii_name(given)[0]}{ascii_name(family)}{rng.randint(1, 999)}"


def ascii_name(name: str) -> str:
    """Return *name* as lower-case ASCII letters and digits ("João" as "joao"), or "user" if none are left."""
    return "".join(c for c in unicodedata.normalize("NFD", name.casefold()) if c.isascii() and c.isalnum()) or "user"


def draw_marital_status(kind: MaritalKind, who: Fitted, rng: random.Random) -> str:
    """Draw an adjective for a marital kind: "married", "newly divorced"."""
    return phrase("relationships", kind, who, rng)


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
