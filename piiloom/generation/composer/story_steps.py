"""Choose what a text says: which steps of the story, in which order, in which wording."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import groupby

from piiloom.generation.composer.telling_plan import Demand
from piiloom.taxonomy.stories import Step, Wording

Told = tuple[Step, Wording]


def choose_steps(steps: Sequence[Step], demand: Demand, rng: random.Random) -> list[Told] | None:
    """Draw steps and wordings in text order so that all needed facts are told and no moot one is; None if this draw fails.

    For each needed fact, one of the steps that can tell it is drawn uniformly. Then, for each step, one of the admissible wordings that
    tell the facts assigned to it is drawn uniformly.
    """
    options = list(demand.wordings)
    forced = set(demand.forced)
    open_needs = list(demand.needs)
    rng.shuffle(open_needs)
    while open_needs:
        fact = open_needs.pop()
        if any(_always_tells(options[number], fact) for number in forced):
            continue
        able = [number for number, found in enumerate(options) if any(fact in wording.tells for wording in found)]
        if not able:
            return None
        number = able[int(rng.random() * len(able))]
        options[number] = tuple(wording for wording in options[number] if fact in wording.tells)
        if number not in forced:
            forced.add(number)
            open_needs.extend(steps[number].after)
    chosen = forced.union(number for number in demand.optional if rng.random() < steps[number].chance)
    return _in_order(steps, options, [n for n in _order(steps, rng) if n in chosen], forced, rng)


def _always_tells(wordings: Sequence[Wording], fact: str) -> bool:
    return all(fact in wording.tells for wording in wordings)


def _order(steps: Sequence[Step], rng: random.Random) -> list[int]:
    """Return the indexes of all steps; adjacent steps of the same group are shuffled."""
    order: list[int] = []
    for group, found in groupby(range(len(steps)), key=lambda number: steps[number].group):
        numbers = list(found)
        if group is not None:
            rng.shuffle(numbers)
        order += numbers
    return order


def _in_order(
    steps: Sequence[Step], options: Sequence[Sequence[Wording]], order: Sequence[int], forced: set[int], rng: random.Random
) -> list[Told] | None:
    """Draw the wordings in *order*. A step whose ``after`` facts are not told yet is left out; if it is in *forced*, return None."""
    told: set[str] = set()
    found: list[Told] = []
    for number in order:
        step, wordings = steps[number], options[number]
        if not step.after <= told:
            if number in forced:
                return None
            continue
        wording = wordings[int(rng.random() * len(wordings))]
        told |= wording.tells
        found.append((step, wording))
    return found
