"""Invent another person with a named relation to a persona, such as their sister, boss or late husband.

What a word says about the person (age, gender, shared family) is data of the language: ``data/<language>/relations.yaml``.

Draw phrases about a persona's family: several relatives at once, parenthood, and what relatives call the persona.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from pydantic import Field

from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.pii_values.lexicons import PersonGender, entries, folder, listed, merged, phrase
from piiloom.pii_values.people import Child, MaritalKind, Ties, draw_spouse, draw_ties
from piiloom.pii_values.persona import Persona, draw_gender, draw_persona_of

_TOGETHER: Final[frozenset[MaritalKind]] = frozenset({"partnered", "engaged", "married"})
# Age bands of children, each with its upper age limit in years (exclusive).
_BANDS: Final = (("baby", 1), ("toddler", 4), ("small", 13), ("teen", 20), ("grown", 200))
_GROWN: Final = 18
_PARENTS_LIVE_UNTIL: Final = 68  # highest age of a persona whose parents are mentioned
_CARES_FROM: Final = 40  # lowest age of a persona whose parents are called old
_CALLED_PARENT_FROM: Final = 12  # lowest age of a child who writes about a parent


def draw_family(p: Persona, rng: random.Random) -> str:
    """Draw a phrase for several relatives that fits after "my": "wife and two kids", "husband and stepson", "elderly parents"."""
    topics: list[str] = []
    given: dict[str, str] = {}
    if p.marital_kind in _TOGETHER:
        given["spouse"] = draw_spouse(p, p.ties, rng)
        topics.append("family_spouse")
    if p.children:
        given["children"] = _children(p.children, p, rng)
        topics.append("family_spouse_children" if p.marital_kind in _TOGETHER else "family_children")
        topics.append(topics[-1])  # people with children mention them most often
    if not p.children or rng.random() < 0.25:
        topics.append("family_origin" if p.age < _CARES_FROM else "family_old" if p.age <= _PARENTS_LIVE_UNTIL else "family_late")
    if p.children and max(c.age for c in p.children) > 23:
        topics.append("family_grandchildren")
    return phrase("relationships", topics[int(rng.random() * len(topics))], p, rng, given)


def _band(age: int) -> str:
    return next(name for name, end in _BANDS if age < end)


def _children(children: Sequence[Child], p: Persona, rng: random.Random) -> str:
    """Draw one phrase for all children: "teenage son", "two small kids", "twin girls", "toddler and newborn"."""
    bands = [_band(c.age) for c in children]
    genders = {c.gender for c in children}
    if len(children) == 1:
        return phrase("relationships", f"child_{bands[0]}_{'boy' if children[0].gender == 'male' else 'girl'}", p, rng)
    band = bands[0] if len(set(bands)) == 1 else "mixed"
    given = {"count": listed("numbers", p.locale)[len(children)]}
    topics = [f"children_{band}", f"children_{band}"]
    if len(genders) == 1:
        topics.append("children_boys" if "male" in genders else "children_girls")
    elif len(children) == 2:
        topics.append("children_both")
    return phrase("relationships", topics[int(rng.random() * len(topics))], p, rng, given)


def draw_parent_status(p: Persona, rng: random.Random) -> str:
    """Draw a phrase for the persona's parenthood: "single mom", "father of three"; there are other phrases for people without children."""
    if not p.children:
        return phrase("relationships", "parent_none", p, rng)
    ages = [c.age for c in p.children]
    topics = ["parent_of", "parent_of"]
    if p.marital_kind not in _TOGETHER:
        topics += [f"parent_{p.marital_kind}", f"parent_{p.marital_kind}"]
    if min(ages) >= _GROWN:
        topics.append("parent_grown")
    else:
        topics.append("parent_now")
    if max(ages) <= 1:
        topics.append("parent_new")
    many = len(ages) > 1
    given = {"count": listed("numbers", p.locale)[len(ages)]}
    topic = topics[int(rng.random() * len(topics))]
    return phrase("relationships", f"{topic}_{'many' if many else 'one'}" if topic == "parent_of" else topic, p, rng, given)


def draw_asked_for(p: Persona, rng: random.Random) -> str:
    """Draw the word by which a relative who writes on the persona's behalf calls them: "brother", "mom", "husband"."""
    topics = {"asked_any"}
    if p.marital_kind in _TOGETHER:
        topics.add(f"asked_{p.marital_kind}")
    if p.children and max(c.age for c in p.children) >= _CALLED_PARENT_FROM:
        topics.add("asked_parent")
    if p.children and max(c.age for c in p.children) >= 40:
        topics.add("asked_grandparent")
    found = [e for e in entries("relationships", p.locale) if e.topic in topics and e.fits(p.age, p.gender)]
    return merged((e, e.weight) for e in found).draw(rng).text


_ACQUAINTANCE: Final = (-20, 20)  # years that a friend or boss may be older
_YOUNGEST, _ADULT, _OLDEST = 3, 18, 100
_FULL_NAME = 0.1  # share of relatives mentioned by name whose full name is given


class _Relation(FileModel):
    pattern: str
    older: tuple[int, int] = Field(strict=False)
    blood: bool = False
    adult: bool = False
    child: bool = False
    parent: bool = False
    spouse: bool = False
    marital: MaritalKind | None = None


class _RelationsFile(FileModel):
    female: str
    male: str
    relations: list[_Relation]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    female: re.Pattern[str]
    male: re.Pattern[str]
    relations: tuple[tuple[re.Pattern[str], _Relation], ...]


@cache
def _known(locale: str) -> _Known:
    found = load_yaml(folder(locale) / "relations.yaml", _RelationsFile)
    return _Known(
        female=re.compile(found.female),
        male=re.compile(found.male),
        relations=tuple((re.compile(r.pattern), r) for r in found.relations),
    )


def _relation(word: str, known: _Known) -> _Relation:
    found = next((r for pattern, r in known.relations if pattern.search(word)), None)
    return found or _Relation(pattern="", older=_ACQUAINTANCE, adult=True)


def can_be_grown(persona: Persona, subject: str) -> bool:
    """Whether the person whom *persona* calls "my *subject*" can be an adult."""
    word, known = subject.casefold(), _known(persona.locale)
    relation = _relation(word, known)
    children = _own_children(persona, _gender(word, known)) if relation.child else []
    return max((c.age for c in children), default=persona.age + relation.older[1]) >= _ADULT


def draw_relative(persona: Persona, subject: str, rng: random.Random, *, grown: bool = False) -> Persona:
    """Draw a person whom *persona* calls "my *subject*"; age, gender, ties, family name and background fit the word.

    *grown*: draw an adult if the word allows it, because facts that only adults have will be told about them.
    """
    word, known = subject.casefold(), _known(persona.locale)
    relation, gender = _relation(word, known), _gender(word, known)
    children = _own_children(persona, gender) if relation.child else []
    if grown or relation.adult:
        children = [c for c in children if c.age >= _ADULT] or children
    child = children[int(rng.random() * len(children))] if children else None
    age = child.age if child else persona.age + rng.randint(*relation.older)
    age = min(_OLDEST, max(_ADULT if relation.adult or (grown and child is None) else _YOUNGEST, age))
    gender = child.gender if child else gender or draw_gender(rng)
    return draw_persona_of(
        rng,
        persona.locale,
        age=age,
        gender=gender,
        heritage=persona.heritage if relation.blood else None,
        family_name=persona.family_name if relation.blood and rng.random() < 0.8 else None,
        ties=_ties(relation, persona, age, gender, rng),
    )


def draw_named(persona: Persona, subject: str, rng: random.Random) -> str:
    """Draw the kin word with that person's name: "sister Ani", sometimes "spouse, Emily James"."""
    relative = draw_relative(persona, subject, rng)
    return f"{subject}, {relative.full_name}" if rng.random() < _FULL_NAME else f"{subject} {relative.given_name}"


def _own_children(persona: Persona, gender: PersonGender | None) -> list[Child]:
    """Return the persona's children of *gender* (None: all)."""
    return [c for c in persona.children if gender in {None, c.gender}]


def _ties(relation: _Relation, persona: Persona, age: int, gender: PersonGender, rng: random.Random) -> Ties:
    """Draw the relative's own ties: a spouse shares the persona's children, a parent has the persona as a child."""
    if relation.marital is None or age < _ADULT:
        return draw_ties(age, gender, rng)
    if relation.parent:
        return replace(draw_ties(age, gender, rng, relation.marital), children=(Child(persona.gender, persona.age),))
    found = draw_ties(age, gender, rng, relation.marital, persona.gender if relation.spouse else None)
    shared = relation.spouse and all(c.age <= age - _ADULT for c in persona.children)
    return replace(found, children=persona.children) if shared else found


def _gender(word: str, known: _Known) -> PersonGender | None:
    """Return the gender that the word implies, None if it implies none."""
    if known.female.search(word):
        return "female"
    return "male" if known.male.search(word) else None
