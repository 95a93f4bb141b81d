"""Values of the type appearance."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values import looks
from piiloom.pii_values.drawers.kind import Kind, listed
from piiloom.pii_values.lexicons import phrase
from piiloom.pii_values.persona import Persona

_CLASHES: Final = 3  # attempts after which height or weight is raised by one unit, since its number clashes with another value


def _hair(p: Persona, rng: random.Random, attempt: int) -> str:
    return p.body.hair if attempt == 0 else looks.draw_hair(p, rng, dark=p.heritage.dark_features, bald=p.body.bald)


def _eyes(p: Persona, rng: random.Random, attempt: int) -> str:
    return p.body.eyes if attempt == 0 else looks.draw_eyes(p, rng, dark=p.heritage.dark_features)


def _look(p: Persona, rng: random.Random, _: int) -> str:
    topics = looks.look_topics(p.body, p.age, p.gender)
    return phrase("appearance", topics[int(rng.random() * len(topics))], p, rng)


def _blood_type(p: Persona, rng: random.Random, _: int) -> str:
    """The persona's group in one of the usual spellings."""
    group, sign = p.body.blood_type[:-1], p.body.blood_type[-1]
    return phrase("appearance", "blood_positive" if sign == "+" else "blood_negative", p, rng, {"group": group})


KINDS: Final = (
    Kind(subtype="height", share=1.5, draw=lambda p, rng, n: looks.written_height(p.body.height_cm + n // _CLASHES, p, rng)),
    Kind(subtype="weight", share=1.5, draw=lambda p, rng, n: looks.written_weight(p.body.weight_kg + n // _CLASHES, p, rng)),
    Kind(subtype="hair", share=2.5, draw=_hair),
    Kind(subtype="eyes", share=1, draw=_eyes),
    Kind(subtype="body_mark", share=2, draw=listed("appearance", "body_mark")),
    Kind(subtype="build", share=1, draw=listed("appearance", "build")),
    Kind(subtype="feature", share=1.5, draw=listed("appearance", "feature")),
    Kind(subtype="blood_type", share=0.4, draw=_blood_type, fixed=True),
    Kind(subtype="look", share=1.2, draw=_look),
)
