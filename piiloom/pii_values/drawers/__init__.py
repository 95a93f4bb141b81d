"""Functions that draw one value of a persona for each subtype; here the type of them, and helpers to build them.

A drawer is a function of (persona, random generator, attempt) that returns the text of a value. Attempt 0 gives the persona's own
fact if there is one. Later attempts are made if a value clashes with another one in the same text; they give another value that
fits the same person, if possible.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from piiloom.pii_values.lexicons import phrase
from piiloom.pii_values.persona import Persona

Drawer = Callable[[Persona, random.Random, int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueKind:
    """One subtype and its drawer. ``share``: its weight if any subtype may be drawn (0: drawn only by name).

    ``fixed``: a person has exactly one such value, in one or a few spellings, so it is drawn before others. ``grown``: it applies to
    adults only.
    """

    subtype: str
    share: float
    draw: Drawer
    fixed: bool = False
    grown: bool = False


def from_lexicon(lexicon: str, topic: str | None = None) -> Drawer:
    """Return a drawer for any entry of a lexicon (topic) that fits the persona."""
    return lambda p, rng, _: phrase(lexicon, topic, p, rng)


def own_or(fact: Callable[[Persona], str], other: Drawer) -> Drawer:
    """Return a drawer that gives the persona's own *fact* at attempt 0, and what *other* draws later."""
    return lambda p, rng, attempt: fact(p) if attempt == 0 else other(p, rng, attempt)
