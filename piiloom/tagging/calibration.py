"""From what a model says to the probability that it is right, and how far the two are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from math import exp, log
from typing import Any, Final

BINS: Final = 10
# Probabilities nearer to 0 or 1 than this count as that near.
_EDGE: Final = 1e-4


def log_odds_of(probability: float) -> float:
    """Return the log-odds of *probability*, which are finite for 0 and 1, too."""
    clipped = min(1 - _EDGE, max(_EDGE, probability))
    return log(clipped / (1 - clipped))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A sigmoid over log-odds (Platt's). The default takes them as they are."""

    slope: float = 1.0
    offset: float = 0.0

    def probability(self, log_odds: float) -> float:
        """Return the probability that *log_odds* stand for."""
        odds = self.slope * log_odds + self.offset
        return 1 / (1 + exp(-odds)) if odds > 0 else exp(odds) / (1 + exp(odds))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """The answers with a probability in one tenth (0 to 9): how many, their mean probability, and the share of right ones."""

    tenth: int
    count: int
    said: float
    right: float


def reliability(said: Sequence[float], right: Sequence[bool]) -> list[ReliabilityBin]:
    """Return the tenths that have answers, the least sure first."""
    tenths = [min(int(one * BINS), BINS - 1) for one in said]
    bins = []
    for tenth in sorted(set(tenths)):
        here = [one == tenth for one in tenths]
        size = sum(here)
        bins.append(ReliabilityBin(tenth=tenth, count=size, said=sum(compress(said, here)) / size, right=sum(compress(right, here)) / size))
    return bins


def expected_error(bins: Sequence[ReliabilityBin]) -> float | None:
    """Return the expected calibration error (ECE): how far said and right are apart, averaged over answers. None without any."""
    count = sum(one.count for one in bins)
    return sum(one.count * abs(one.said - one.right) for one in bins) / count if count else None


def reliability_json(said: Sequence[float], right: Sequence[bool]) -> dict[str, Any]:
    """Return number, share of right ones, ECE and bins as JSON values, rounded."""
    bins = reliability(said, right)
    error = expected_error(bins)
    return {
        "count": len(said),
        "right": round(sum(right) / len(right), 4) if right else None,
        "ece": None if error is None else round(error, 4),
        "bins": [{"count": one.count, "said": round(one.said, 4), "right": round(one.right, 4)} for one in bins],
    }
