"""Latencies as a histogram of fixed size: quantiles of a million calls in four kilobytes.

Buckets grow by 4%, from a millisecond to a day, so a quantile is off by at most 2% of itself; what lies outside that
range counts as its end.
"""

from __future__ import annotations

import math
from array import array

SHORTEST_S, LONGEST_S = 1e-3, 86_400.0
_GROWTH = math.log(1.04)
_BUCKETS = math.ceil(math.log(LONGEST_S / SHORTEST_S) / _GROWTH) + 1


class LatencyHistogram:
    """Counts latencies; gives any quantile of them to within 2%."""

    __slots__ = ("_counts", "number")

    def __init__(self) -> None:
        self._counts = array("Q", bytes(8 * _BUCKETS))
        self.number = 0

    def add(self, seconds: float) -> None:
        """Count one latency."""
        at = int(math.log(seconds / SHORTEST_S) / _GROWTH) if seconds > SHORTEST_S else 0
        self._counts[min(at, _BUCKETS - 1)] += 1
        self.number += 1

    def quantile(self, share: float) -> float | None:
        """Give the latency that *share* of the calls did not exceed (nearest rank); None where there was no call."""
        if not self.number:
            return None
        rank = max(1, math.ceil(share * self.number))
        passed = 0
        for at, count in enumerate(self._counts):
            passed += count
            if passed >= rank:
                return min(SHORTEST_S * math.exp((at + 0.5) * _GROWTH), LONGEST_S)
        return LONGEST_S  # a call counted between the sum and the walk, by another thread
