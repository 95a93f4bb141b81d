"""Another person who stands in a named relation to a persona: their sister, boss, late husband."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Final

from pii_values.heritage import heritage_named
from pii_values.lexicons import Gender
from pii_values.people import MaritalKind
from pii_values.persona import Persona, draw_gender, draw_persona_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Relation:
    """How a relative differs: years older than the persona (least, most), and whether family name and background are shared."""

    pattern: re.Pattern[str]
    older: tuple[int, int]
    blood: bool = False
    adult: bool = False
    marital: MaritalKind | None = None


def _relation(
    pattern: str, least: int, most: int, *, blood: bool = False, adult: bool = False, marital: MaritalKind | None = None
) -> _Relation:
    return _Relation(pattern=re.compile(pattern), older=(least, most), blood=blood, adult=adult, marital=marital)


# The first pattern found in the word counts; somebody of no kin (friend, boss) is an adult within twenty years.
_RELATIONS: Final = (
    _relation(r"great-?grand(mother|father)", 58, 75, blood=True),
    _relation(r"great-?grand(son|daughter|child)", -75, -60, blood=True),
    _relation(r"grand(mother|father|parent|ma|pa)|\bnana\b", 42, 60, blood=True),
    _relation(r"great-(aunt|uncle)", 35, 55),
    _relation(r"grand(son|daughter|child|nephew|niece)|great-(niece|nephew)", -62, -44),
    _relation(r"(son|daughter)-in-law", -36, -18, adult=True, marital="married"),
    _relation(r"(sister|brother)-in-law", -10, 10, adult=True),
    _relation(r"\bex-|former|late ", -6, 8, adult=True),
    _relation(r"(mother|father|mom|mum|dad|parent)(-in-law)?\b", 20, 38, adult=True),
    _relation(r"(aunt|uncle)\b", 15, 34, adult=True),
    _relation(r"twin", 0, 0, blood=True),
    _relation(r"(older|big) (sister|brother)", 1, 10, blood=True),
    _relation(r"(younger|kid|baby|little) (sister|brother)", -10, -1, blood=True),
    _relation(r"(sister|brother|sibling)\b", -8, 8, blood=True),
    _relation(r"cousin", -10, 10),
    _relation(r"(daughter|son|child|kid|niece|nephew)\b", -38, -20, blood=True),
    _relation(r"husband|wife|spouse", -8, 8, adult=True, marital="married"),
    _relation(r"fianc|betrothed", -6, 6, adult=True, marital="engaged"),
    _relation(r"partner|boyfriend|girlfriend", -6, 6, adult=True, marital="partnered"),
)
_ACQUAINTANCE: Final = _relation("", -20, 20, adult=True)
_FEMALE: Final = re.compile(
    r"mother|mom|mum|sister|daughter|aunt|niece|wife|girlfriend|fiancée|nana|grandma|woman|stepmother|goddaughter|landlady"
)
_MALE: Final = re.compile(r"father|dad|brother|(?<!per)son\b|son-|uncle|nephew|husband|boyfriend|fiancé\b|grandpa|\bman\b|godson|landlord")
_YOUNGEST, _ADULT, _OLDEST = 3, 18, 100


def draw_relative(persona: Persona, subject: str, rng: random.Random) -> Persona:
    """A person whom *persona* calls "my *subject*": age, gender, family name and background fit the word."""
    word = subject.casefold()
    relation = next((r for r in _RELATIONS if r.pattern.search(word)), _ACQUAINTANCE)
    least, most = relation.older
    floor = _ADULT if relation.adult else _YOUNGEST
    age = min(_OLDEST, max(floor, persona.age + rng.randint(least, most)))
    return draw_persona_of(
        rng,
        persona.locale,
        age=age,
        gender=_gender(word, rng),
        heritage=heritage_named(persona.locale, persona.heritage) if relation.blood else None,
        family_name=persona.family_name if relation.blood and rng.random() < 0.8 else None,
        marital_kind=relation.marital if age >= _ADULT else None,
    )


def _gender(word: str, rng: random.Random) -> Gender:
    if _FEMALE.search(word):
        return "female"
    if _MALE.search(word):
        return "male"
    return draw_gender(rng)
