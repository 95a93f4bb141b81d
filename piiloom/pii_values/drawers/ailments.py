"""Values of the type health."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.drawers.kind import Drawer, Kind, listed
from piiloom.pii_values.lexicons import fitting, phrase
from piiloom.pii_values.persona import Persona

_SAME_SYSTEM: Final = 0.6  # share of medicines and procedures that belong to the body system of the persona's condition
_ENOUGH: Final = 4  # only with more entries than this for a body system is it used; fewer would be repeated too often


def _condition(p: Persona, rng: random.Random, attempt: int) -> str:
    """One of the persona's conditions, then any that fits age and gender."""
    return p.conditions[int(rng.random() * len(p.conditions))] if attempt == 0 else phrase("conditions", None, p, rng)


def _treatment(lexicon: str) -> Drawer:
    """A medicine or procedure, more often than not one for the persona's condition."""

    def draw(p: Persona, rng: random.Random, attempt: int) -> str:
        own = p.body_system if attempt < 3 and rng.random() < _SAME_SYSTEM else None
        known = own is not None and len(fitting(lexicon, own, p.locale, p.age, p.gender).items) > _ENOUGH
        return phrase(lexicon, own if known else None, p, rng)

    return draw


KINDS: Final = (
    Kind(subtype="condition", share=4, draw=_condition),
    Kind(subtype="shorthand", share=0.8, draw=listed("health_talk", "shorthand")),
    Kind(subtype="symptom", share=1.8, draw=listed("symptoms")),
    Kind(subtype="diagnosis", share=1.4, draw=listed("health_talk", "diagnosis")),
    Kind(subtype="state", share=1.2, draw=listed("health_talk", "state")),
    Kind(subtype="medication", share=2.2, draw=_treatment("medications")),
    Kind(subtype="procedure", share=1.8, draw=_treatment("procedures")),
    Kind(subtype="disability", share=1.2, draw=listed("disabilities")),
    Kind(subtype="allergy", share=1.2, draw=listed("allergies")),
)
