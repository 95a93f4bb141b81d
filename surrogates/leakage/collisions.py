"""How often two people get the same name by chance, and how often a surrogate is somebody's real name.

With *n* people drawn evenly from *m* names, n·(n − 1) / (2·m) pairs agree on average (the birthday problem).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping


def expected_pairs(people: int, names: int) -> float:
    """Expected pairs of people with the same name; infinite for no names."""
    return people * (people - 1) / (2 * names) if names else math.inf


def chance_of_any(people: int, names: int) -> float:
    """The probability that at least two people share a name (the usual approximation, 1 − exp(−pairs))."""
    return 1.0 if people > names else -math.expm1(-expected_pairs(people, names))


def observed_pairs(counts: Mapping[str, int]) -> int:
    """Pairs of people with the same name, from how often each name was given."""
    return sum(count * (count - 1) // 2 for count in counts.values())


def report(full_names: Counter[str], pool_sizes: Mapping[str, tuple[int, int]]) -> dict[str, float | int]:
    """Observed and expected pairs; *pool_sizes* gives by group (people, full names that its pool can make).

    People of different groups are taken never to share a name, so the expectation is a lower bound.
    """
    expected = sum(expected_pairs(people, names) for people, names in pool_sizes.values())
    return {
        "people": full_names.total(),
        "distinct_full_names": len(full_names),
        "observed_pairs": observed_pairs(full_names),
        "expected_pairs": round(expected, 2),
    }
