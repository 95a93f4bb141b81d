"""Names as handles, and the words of family: marital status and kin."""

from __future__ import annotations

import random
from functools import cache
from typing import Literal

from pii_values.lexicons import Entry, Gender, entries, fitting, merged
from pii_values.sampling import Weighted, weighted

MaritalKind = Literal["single", "partnered", "engaged", "married", "separated", "divorced", "widowed"]
Attraction = Literal["same", "other", "any"]

_SAME = frozenset({"gay", "lesbian", "homosexual", "sapphic", "homoromantic"})
_OTHER = frozenset({"straight", "heterosexual", "heteroromantic", "heteroflexible"})

# Weights of each kind from an age on (years): roughly what censuses of English-speaking countries show.
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
# Share of people with children, by age (years).
_PARENTS: tuple[tuple[int, float], ...] = ((0, 0.0), (24, 0.15), (30, 0.5), (40, 0.75), (50, 0.82))


def attraction(orientation: str) -> Attraction:
    """Whom somebody of this orientation is drawn to, as far as a spouse's word needs it."""
    return "same" if orientation in _SAME else "other" if orientation in _OTHER else "any"


@cache
def marital_kinds(age: int) -> Weighted[MaritalKind]:
    """The kinds of marital status at this age."""
    table = next(kinds for start, kinds in reversed(_MARITAL) if age >= start)
    return weighted(table.items())


def draw_parenthood(age: int, kind: MaritalKind, rng: random.Random) -> bool:
    """Whether somebody has children; single people half as often."""
    share = next(part for start, part in reversed(_PARENTS) if age >= start)
    return rng.random() < (share / 2 if kind == "single" else share)


@cache
def kin_words(locale: str, age: int, gender: Gender, drawn_to: Attraction, kind: MaritalKind, parent: bool) -> Weighted[Entry]:
    """The kin words that fit a person, ready to draw from."""
    topics = {"kin_any"} | ({"kin_parent"} if parent else set()) | _spouse_topics(gender, drawn_to, kind)
    found = [e for e in entries("relationships", locale) if e.topic in topics and e.fits(age, gender)]
    return merged((e, e.weight) for e in found)


def _spouse_topics(gender: Gender, drawn_to: Attraction, kind: MaritalKind) -> set[str]:
    """The lexicon topics a partner of this kind belongs to."""
    men = gender == "nonbinary" or drawn_to == "any" or (gender == "female") == (drawn_to == "other")
    women = gender == "nonbinary" or drawn_to == "any" or (gender == "male") == (drawn_to == "other")
    match kind:
        case "single":
            return set()
        case "married" | "separated":
            general, his, hers = "kin_married", "kin_husband", "kin_wife"
        case "divorced":
            general, his, hers = "kin_ex", "kin_ex_husband", "kin_ex_wife"
        case "widowed":
            general, his, hers = "kin_any", "kin_late_husband", "kin_late_wife"
        case "engaged":
            general, his, hers = "kin_engaged", "kin_fiance", "kin_fiancee"
        case "partnered":
            general, his, hers = "kin_partnered", "kin_boyfriend", "kin_girlfriend"
    return {general} | ({his} if men else set()) | ({hers} if women else set())


def draw_handle(given: str, family: str, birth_year: int, rng: random.Random) -> str:
    """A user name made of a name: "dana_whitlock84", "dwhitlock", "whitlock.dana"."""
    first, last = _plain(given), _plain(family)
    year = f"{birth_year % 100:02d}"
    number = year if rng.random() < 0.5 else str(rng.randint(1, 999))
    joint = rng.choice("._") if rng.random() < 0.7 else ""
    patterns = (
        f"{first}{joint}{last}{number}",
        f"{first[0]}{last}{number}",
        f"{last}{joint}{first}{number}",
        f"{first}{joint}{last[0]}{number}",
        f"{first}{last}{joint}{number}",
        f"{first}{joint}{last}",
        f"the{joint}{first}{joint}{last}",
        f"real{first}{number}",
    )
    return patterns[int(rng.random() * len(patterns))]


def draw_glued_handle(given: str, family: str, rng: random.Random) -> str:
    """A user name that no part of the name stands in as a word of its own: "dwhitlock84"."""
    return f"{_plain(given)[0]}{_plain(family)}{rng.randint(1, 999)}"


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isascii() and c.isalnum()) or "user"


def draw_marital_status(kind: MaritalKind, locale: str, age: int, rng: random.Random) -> str:
    """The adjective for a kind: "married", "newly divorced"."""
    return fitting("relationships", kind, locale, age).draw(rng).text
