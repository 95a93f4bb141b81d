"""What a drawer is, and the parts most drawers are made of.

A drawer takes (persona, generator, attempt). Attempt 0 gives the persona's own fact where it has one; later attempts, made
when a value clashes with another one in the same text, give another value that fits the same person where there can be one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from piiloom.pii_values.lexicons import phrase
from piiloom.pii_values.persona import Persona

Drawer = Callable[[Persona, random.Random, int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One subtype: ``share`` is its weight when any subtype will do (0: only when asked for by name).

    ``fixed``: a person has exactly one value of it, in one or a few spellings, so it is drawn before the others. ``grown``: only
    of people of age is it told.
    """

    subtype: str
    share: float
    draw: Drawer
    fixed: bool = False
    grown: bool = False


def listed(lexicon: str, topic: str | None = None) -> Drawer:
    """Any entry of a lexicon that fits the persona."""
    return lambda p, rng, _: phrase(lexicon, topic, p, rng)


def own_or(fact: Callable[[Persona], str], other: Drawer) -> Drawer:
    """The persona's own fact, then what *other* draws."""
    return lambda p, rng, attempt: fact(p) if attempt == 0 else other(p, rng, attempt)
