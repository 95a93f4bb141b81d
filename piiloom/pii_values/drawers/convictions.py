"""Values of the type belief."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.creeds import creeds, pick
from piiloom.pii_values.drawers.kind import Kind, listed, own_or
from piiloom.pii_values.languages import gendered
from piiloom.pii_values.lexicons import phrase
from piiloom.pii_values.persona import Persona


def _religion(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's religion, then another of the same background."""
    if attempt == 0:
        return p.religion
    family = p.heritage.religions.draw(rng)
    return gendered(pick(creeds(p.locale, family).draw(rng).members, rng), p.gender)


def _faith(p: Persona, rng: random.Random, attempt: int) -> str:
    """A name of the persona's religion, then one of another religion of the same background."""
    if attempt < 3:
        return pick(p.creed.faiths, rng)
    family = p.heritage.religions.draw(rng)
    return pick(creeds(p.locale, family).draw(rng).faiths, rng)


def _practice(p: Persona, rng: random.Random, _: int) -> str:
    return phrase("practices", pick(p.creed.practices, rng), p, rng)


KINDS: Final = (
    Kind(subtype="religion", share=4, draw=_religion),
    Kind(subtype="faith", share=2, draw=_faith),
    Kind(subtype="political", share=3, draw=own_or(lambda p: p.political, listed("beliefs", "political")), grown=True),
    Kind(subtype="philosophy", share=2, draw=own_or(lambda p: p.philosophy, listed("beliefs", "philosophy"))),
    Kind(subtype="practice", share=2, draw=_practice),
)
