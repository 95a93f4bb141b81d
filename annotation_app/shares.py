"""A share of a number of things, with the range that it may well have in truth."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

# Two-sided 95 %.
Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """``part`` of ``whole``; ``value`` None where there is nothing. ``low`` and ``high`` are Wilson's 95% interval."""

    part: int
    whole: int
    value: float | None
    low: float
    high: float

    @classmethod
    def of(cls, part: int, whole: int) -> Share:
        """The share that *part* is of *whole*."""
        low, high = wilson(part, whole)
        return cls(part=part, whole=whole, value=part / whole if whole else None, low=low, high=high)


def wilson(hits: int, tries: int) -> tuple[float, float]:
    """The 95 % score interval of a share (Wilson 1927); the whole range while there were no tries."""
    if tries == 0:
        return 0.0, 1.0
    share, square = hits / tries, Z95 * Z95
    middle = (share + square / (2 * tries)) / (1 + square / tries)
    half = Z95 / (1 + square / tries) * sqrt(share * (1 - share) / tries + square / (4 * tries * tries))
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    return low, 1.0 if hits == tries else min(1.0, middle + half)
