"""A latency histogram of fixed size: quantiles of a million calls in four kilobytes.

Bucket bounds grow by 4%, from a millisecond to a day, so the relative error of a quantile is at most 2%. Latencies outside
this range count in the first or last bucket.
"""

from __future__ import annotations

import math
from array import array

SHORTEST_S, LONGEST_S = 1e-3, 86_400.0
_GROWTH = math.log(1.04)
_BUCKETS = math.ceil(math.log(LONGEST_S / SHORTEST_S) / _GROWTH) + 1


class LatencyHistogram:
    """Counts latencies in seconds and returns any quantile to within 2%."""

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
        """Return the latency (s) that *share* of the calls did not exceed (nearest rank); None if there were no calls."""
        if not self.number:
            return None
        rank = max(1, math.ceil(share * self.number))
        passed = 0
        for at, count in enumerate(self._counts):
            passed += count
            if passed >= rank:
                return min(SHORTEST_S * math.exp((at + 0.5) * _GROWTH), LONGEST_S)
        return LONGEST_S  # another thread counted a call during the loop
