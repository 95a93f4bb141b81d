"""The capitals and the form of a value, and another name with as many parts: titles, initials, particles and endings stay.

As far as the names index tells, the gender stays, too.
"""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Final, Literal

from piiloom.pii_values.heritage import Heritage, heritages
from piiloom.pii_values.names.index import Table, builtin

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
