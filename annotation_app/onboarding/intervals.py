"""Confidence intervals for small counts."""

from __future__ import annotations

from math import sqrt

# Two-sided 95 %.
Z95 = 1.959963984540054


def wilson(hits: int, tries: int) -> tuple[float, float]:
    """The 95 % score interval of a share (Wilson 1927); the whole range while there were no tries."""
    if tries == 0:
        return 0.0, 1.0
    share, square = hits / tries, Z95 * Z95
    middle = (share + square / (2 * tries)) / (1 + square / tries)
    half = Z95 / (1 + square / tries) * sqrt(share * (1 - share) / tries + square / (4 * tries * tries))
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    return low, 1.0 if hits == tries else min(1.0, middle + half)
