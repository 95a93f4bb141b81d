"""Values of the type name."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values import people
from piiloom.pii_values.drawers.kind import Kind
from piiloom.pii_values.persona import Persona

_GLUED_AFTER: Final = 4  # attempts after which handles contain no part of the name as a whole word


def _username(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's user name, then others made of the name."""
    if attempt == 0:
        return p.username
    if attempt < _GLUED_AFTER:
        return people.draw_handle(p.given_name, p.family_name, p.birth_date.year, rng)
    return people.draw_glued_handle(p.given_name, p.family_name, rng)


KINDS: Final = (
    Kind(subtype="full_name", share=2, draw=lambda p, _rng, _n: p.full_name, fixed=True),
    Kind(subtype="first_name", share=2, draw=lambda p, _rng, _n: p.given_name, fixed=True),
    Kind(subtype="last_name", share=0.7, draw=lambda p, _rng, _n: p.family_name, fixed=True),
    Kind(subtype="username", share=1, draw=_username),
)
