"""Another person who stands in a named relation to a persona: their sister, boss, late husband.

What a word says about the person (age, gender, shared family) is data of the language: ``data/<language>/relations.yaml``.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from pydantic import Field

from foundation.yaml_files import load_yaml
from pii_values.heritage import heritage_named
from pii_values.languages import FileModel, Gender, folder
from pii_values.people import Child, MaritalKind
from pii_values.persona import Persona, draw_gender, draw_persona_of

_ACQUAINTANCE: Final = (-20, 20)  # years that a friend or boss may be older
_YOUNGEST, _ADULT, _OLDEST = 3, 18, 100


class _Relation(FileModel):
    pattern: str
    older: tuple[int, int] = Field(strict=False)
    blood: bool = False
    adult: bool = False
    child: bool = False
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


def draw_relative(persona: Persona, subject: str, rng: random.Random) -> Persona:
    """A person whom *persona* calls "my *subject*": age, gender, family name and background fit the word."""
    word, known = subject.casefold(), _known(persona.locale)
    relation = next((r for pattern, r in known.relations if pattern.search(word)), None)
    if relation is None:
        relation = _Relation(pattern="", older=_ACQUAINTANCE, adult=True)
    gender = _gender(word, known)
    child = _own_child(persona, gender, rng) if relation.child else None
    least, most = relation.older
    age = child.age if child else persona.age + rng.randint(least, most)
    age = min(_OLDEST, max(_ADULT if relation.adult else _YOUNGEST, age))
    return draw_persona_of(
        rng,
        persona.locale,
        age=age,
        gender=child.gender if child else gender or draw_gender(rng),
        heritage=heritage_named(persona.locale, persona.heritage) if relation.blood else None,
        family_name=persona.family_name if relation.blood and rng.random() < 0.8 else None,
        marital_kind=relation.marital if age >= _ADULT else None,
    )


def _own_child(persona: Persona, gender: Gender | None, rng: random.Random) -> Child | None:
    """One of the persona's children of that gender."""
    found = [c for c in persona.children if gender in {None, c.gender}]
    return found[int(rng.random() * len(found))] if found else None


def _gender(word: str, known: _Known) -> Gender | None:
    """What the word says of the gender; None: nothing."""
    if known.female.search(word):
        return "female"
    return "male" if known.male.search(word) else None
