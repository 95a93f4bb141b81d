"""Estimate how often two people get the same full name by chance.

Two people of the same group or of two groups have the same name with the probability Σ P(name | group) · P(name | other group), summed
over all full names. *n* people make n · (n − 1) / 2 pairs: the birthday problem with unequal probabilities.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from piiloom.foundation.seeding import mix
from piiloom.surrogates.leakage.pool_simulation import possible_names
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.persona_assignment.personas import PersonaDrawer, Pools

_PERSON: Final = 0xC0
Matrix = npt.NDArray[np.float64]


def expected_pairs(sizes: Sequence[int], agreement: Matrix) -> float:
    """Return the expected number of pairs of people with the same full name, for groups of *sizes* (one per group).

    ``agreement[g, h]`` is the probability that a person of group g and one of group h have the same name.
    """
    people = np.asarray(sizes, dtype=np.float64)
    return float(people @ agreement @ people - people @ np.diag(agreement)) / 2


def agreement_of(pools: Pools) -> Matrix:
    """Return, for each pair of groups, the probability that a person of each have the same full name; shape (10, 10)."""
    entries = [
        (group, number / len(countries), pools.given(country, gender), pools.family(country, gender))
        for group, (gender, region) in enumerate(GROUPS)
        for countries in [pools.countries(region)]
        for country, number in Counter(countries).items()
    ]
    given, family = _overlaps([one[2] for one in entries]), _overlaps([one[3] for one in entries])
    full = np.diag(given) * np.diag(family)
    chances = np.asarray([share for _, share, _, _ in entries]) / full
    members = np.zeros((len(GROUPS), len(entries)))
    members[[one[0] for one in entries], range(len(entries))] = chances
    agreement: Matrix = members @ (given * family) @ members.T
    return agreement


def _overlaps(pools: Sequence[Sequence[str]]) -> Matrix:
    """Return the number of names that each two of *pools* share; on the diagonal the size of each. Shape (pools, pools)."""
    places: dict[str, list[int]] = {}
    for number, names in enumerate(pools):
        for name in names:
            places.setdefault(name, []).append(number)
    found = np.zeros((len(pools), len(pools)))
    for together, count in Counter(map(tuple, places.values())).items():
        found[np.ix_(together, together)] += count
    return found


def observed_pairs(counts: Mapping[str, int]) -> int:
    """Return the number of pairs of people with the same name, from the number of people per name."""
    return sum(count * (count - 1) // 2 for count in counts.values())


def report(pools: Pools, people: int, seed: int) -> dict[str, Any]:
    """Compare expected with observed pairs of people with the same name, among *people* drawn with *seed* in equal groups.

    Also gives the number of possible full names per group, and the probability of any such pair (a Poisson approximation).
    """
    sizes = [len(range(group, people, len(GROUPS))) for group in range(len(GROUPS))]
    expected = expected_pairs(sizes, agreement_of(pools))
    return {
        "full_names_by_group": possible_names(pools),
        "expected_pairs_with_one_name": round(expected, 3),
        "observed_pairs_with_one_name": observed_pairs(_count_names(pools, people, seed)),
        "chance_of_any_such_pair": round(-math.expm1(-expected), 4),
    }


def _count_names(pools: Pools, people: int, seed: int) -> Counter[str]:
    """Count the full names of *people* drawn in equal groups, each in a separate document."""
    drawer = PersonaDrawer(pools, "")
    drawn = (drawer.draw(mix(seed, _PERSON + one), one % len(GROUPS), date.min, "", {}) for one in range(people))
    return Counter(f"{person.given} {person.family}" for person in drawn)
