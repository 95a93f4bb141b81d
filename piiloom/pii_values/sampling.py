"""Weighted draws that cost one random number and one bisection."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

from piiloom.foundation.errors import PiiloomError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Weighted(Generic[T]):
    """Items with the cumulative sums of their weights (same length, increasing)."""

    items: tuple[T, ...]
    sums: tuple[float, ...]

    def draw(self, rng: random.Random) -> T:
        """Draw one item by weight; raises ``PiiloomError`` if there is none."""
        if not self.items:
            raise PiiloomError("no value fits what is asked for", remedy="Widen the age range or ask for another subtype.")
        return self.items[bisect(self.sums, rng.random() * self.sums[-1], 0, len(self.items) - 1)]


def weighted(pairs: Iterable[tuple[T, float]]) -> Weighted[T]:
    """Build a ``Weighted`` from (item, weight) pairs in the given order; weights must be positive."""
    found = tuple(pairs)
    return Weighted(tuple(item for item, _ in found), tuple(accumulate(weight for _, weight in found)))


def spread(rng: random.Random, low: float, high: float) -> float:
    """Draw a number in [*low*, *high*) with a peak in the middle: the mean of two uniform draws."""
    return low + (high - low) * (rng.random() + rng.random()) / 2
