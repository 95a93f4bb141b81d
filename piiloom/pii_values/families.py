"""Draw phrases about a persona's family: several relatives at once, parenthood, and what relatives call the persona."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from piiloom.pii_values.lexicons import entries, listed, merged, phrase
from piiloom.pii_values.people import Child, MaritalKind, draw_spouse
from piiloom.pii_values.persona import Persona

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
