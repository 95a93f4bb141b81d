"""Values of the types relationship and sexual orientation."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values import families, people, relatives
from piiloom.pii_values.drawers.kind import Kind
from piiloom.pii_values.lexicons import phrase
from piiloom.pii_values.people import child_topics
from piiloom.pii_values.persona import Persona


def _kin(p: Persona, rng: random.Random, _: int) -> str:
    """A kin word that fits age, marital status, orientation and children."""
    return people.kin_words(p.locale, p.age, p.gender, p.ties.partner, p.marital_kind, child_topics(p.children)).draw(rng).text


def _named_kin(p: Persona, rng: random.Random, attempt: int) -> str:
    """A kin word and what that person is called."""
    return relatives.draw_named(p, _kin(p, rng, attempt), rng)


def _marital_status(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's status, then another word for it."""
    return p.marital_status if attempt == 0 else people.draw_marital_status(p.marital_kind, p, rng)


def _orientation(p: Persona, rng: random.Random, attempt: int) -> str:
    return p.orientation if attempt == 0 else phrase("identity", f"orientation_{p.drawn_to}", p, rng)


def _person(p: Persona, rng: random.Random, _: int) -> str:
    """A person named by orientation; the adjective is one that can stand before a word for a person."""
    return phrase("identity", f"orientation_person_{p.drawn_to}", p, rng)


RELATIONSHIP: Final = (
    Kind(subtype="kin", share=4, draw=_kin),
    Kind(subtype="named_kin", share=1.2, draw=_named_kin),
    Kind(subtype="family", share=2.5, draw=lambda p, rng, _n: families.draw_family(p, rng)),
    Kind(subtype="marital_status", share=1.2, draw=_marital_status, grown=True),
    Kind(subtype="parent_status", share=1.5, draw=lambda p, rng, _n: families.draw_parent_status(p, rng), grown=True),
    Kind(subtype="asked_for", share=0, draw=lambda p, rng, _n: families.draw_asked_for(p, rng)),
)
ORIENTATION: Final = (
    Kind(subtype="orientation", share=2, draw=_orientation, grown=True),
    Kind(subtype="person", share=1, draw=_person, grown=True),
)
