"""Proportions with Wilson 95% confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

# Standard normal quantile for a two-sided 95% interval.
Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The proportion ``part`` of ``whole``, with its Wilson 95% interval ``low`` to ``high``. ``value`` is None if ``whole`` is 0."""

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
    """Return the 95% score interval of *hits* / *tries* (Wilson 1927), or (0, 1) if *tries* is 0."""
    if tries == 0:
        return 0.0, 1.0
    share, square = hits / tries, Z95 * Z95
    middle = (share + square / (2 * tries)) / (1 + square / tries)
    half = Z95 / (1 + square / tries) * sqrt(share * (1 - share) / tries + square / (4 * tries * tries))
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    return low, 1.0 if hits == tries else min(1.0, middle + half)
