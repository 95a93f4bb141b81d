"""Choosing what a text says: which steps are told, in which order, in which wording."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import groupby

from piiloom.generation.composer.telling_plan import Demand
from piiloom.taxonomy.stories import Step, Wording

Told = tuple[Step, Wording]


def choose_steps(steps: Sequence[Step], demand: Demand, rng: random.Random) -> list[Told] | None:
    """Steps and wordings in the order of the text, so that every need is told and nothing moot is; None when this draw fails.

    A fact that is needed is told in one of the steps that can tell it, each as likely as any other; then every admissible
    wording of a step that still tells what was put into it is as likely as any other.
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
    """The numbers of all steps; neighbours of one group change their places."""
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
    """Draw the wordings; a step that comes before a fact that it speaks of is left out, or spoils the draw if it is needed."""
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
