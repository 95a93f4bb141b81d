"""How often two people get the same full name by chance.

Two people drawn from the same or different groups agree with the probability Σ P(name | group) · P(name | other group) over all full
names, and *n* people make n · (n − 1) / 2 pairs (the birthday problem, for groups and names of unequal chances).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from piiloom.surrogates.casting.cast import Caster, Pools
from piiloom.surrogates.casting.groups import GROUPS
from piiloom.surrogates.leakage.pool_simulation import possible_names
from piiloom.surrogates.seeds import mix

_PERSON: Final = 0xC0
Matrix = npt.NDArray[np.float64]


def expected_pairs(sizes: Sequence[int], agreement: Matrix) -> float:
    """Expected pairs of people with the same full name, for groups of *sizes* (shape: groups).

    ``agreement[g, h]`` is the probability that one of group g and one of group h have it.
    """
    people = np.asarray(sizes, dtype=np.float64)
    return float(people @ agreement @ people - people @ np.diag(agreement)) / 2


def agreement_of(pools: Pools) -> Matrix:
    """How likely one of each group and one of each other (or the same) get the same full name, shape (10, 10)."""
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
    """How many names each two of *pools* share, and on the diagonal how many each has."""
    places: dict[str, list[int]] = {}
    for number, names in enumerate(pools):
        for name in names:
            places.setdefault(name, []).append(number)
    found = np.zeros((len(pools), len(pools)))
    for together, count in Counter(map(tuple, places.values())).items():
        found[np.ix_(together, together)] += count
    return found


def observed_pairs(counts: Mapping[str, int]) -> int:
    """Pairs of people with the same name, from how often each name was given."""
    return sum(count * (count - 1) // 2 for count in counts.values())


def report(pools: Pools, people: int, seed: int) -> dict[str, Any]:
    """Full names that each group can have, pairs with one name to be expected, and those among *people* who are cast with *seed*."""
    sizes = [len(range(group, people, len(GROUPS))) for group in range(len(GROUPS))]
    expected = expected_pairs(sizes, agreement_of(pools))
    return {
        "full_names_by_group": possible_names(pools),
        "expected_pairs_with_one_name": round(expected, 3),
        "observed_pairs_with_one_name": observed_pairs(_cast_names(pools, people, seed)),
        "chance_of_any_such_pair": round(-math.expm1(-expected), 4),
    }


def _cast_names(pools: Pools, people: int, seed: int) -> Counter[str]:
    """The full names of people in equal groups, each in a document of their own."""
    caster = Caster(pools, "")
    cast = (caster.cast(mix(seed, _PERSON + one), one % len(GROUPS), date.min, "", {}) for one in range(people))
    return Counter(f"{person.given} {person.family}" for person in cast)
