"""Scores that mean what they say: of the spans with score 0.8, about 80 of 100 are right.

What the tags say is mapped by a logistic regression on its log-odds, fitted to the spans found in the validation records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

_LEAST: Final = 20
_EDGE: Final = 1e-4
_SURE: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """``score = sigmoid(slope · logit(confidence) + shift)``; 1 and 0 leave it as it is."""

    slope: float = 1.0
    shift: float = 0.0

    def score(self, confidence: float) -> float:
        """Return the score of a span."""
        if self.slope == 1.0 and self.shift == 0.0:
            return confidence
        value = self.slope * _logit(confidence) + self.shift
        return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


def fit_calibration(confidences: Sequence[float], right: Sequence[bool]) -> Calibration | None:
    """Return the calibration by which the spans of *confidences* are as sure as they are *right*; None if there are too few of either.

    Newton's method on the log-likelihood, with Platt's targets, which keep the scores off 0 and 1.
    """
    wins = sum(right)
    losses = len(right) - wins
    if min(wins, losses) < _LEAST:
        return None
    x = np.array([_logit(one) for one in confidences])
    target = np.where(np.array(right), (wins + 1) / (wins + 2), 1 / (losses + 2))
    slope, shift = 0.0, math.log(wins / losses)
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(slope * x + shift, -_SURE, _SURE)))
        residual, weight = target - p, p * (1 - p) + 1e-9
        gradient = np.array([(residual * x).sum(), residual.sum()])
        hessian = np.array([[(weight * x * x).sum(), (weight * x).sum()], [(weight * x).sum(), weight.sum()]]) + 1e-6 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        slope, shift = slope + float(step[0]), shift + float(step[1])
        if float(np.abs(step).max()) < 1e-6:
            break
    # A falling score would tell the order of the spans wrong: then the tags are no guide, and are left as they are.
    return Calibration(slope=slope, shift=shift) if slope > 0 and math.isfinite(slope + shift) else None


def expected_error(scores: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Return the expected calibration error: the mean gap between score and share of right ones, by *bins* of scores."""
    if not scores:
        return 0.0
    of_bin = np.minimum((np.array(scores) * bins).astype(int), bins - 1)
    gaps = [
        (of_bin == one).sum() * abs(np.array(scores)[of_bin == one].mean() - np.array(right)[of_bin == one].mean())
        for one in set(of_bin.tolist())
    ]
    return float(sum(gaps) / len(scores))


def _logit(value: float) -> float:
    clipped = min(1 - _EDGE, max(_EDGE, value))
    return math.log(clipped / (1 - clipped))
