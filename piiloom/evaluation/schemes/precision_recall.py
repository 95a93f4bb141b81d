"""Precision, recall and F from true and false positives and false negatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from piiloom.evaluation.schemes.base import SchemeSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

COUNTS: tuple[str, ...] = ("tp", "fp", "fn")
_ALWAYS = (1.0, 5.0)


class PrecisionRecall:
    """What the schemes share that count true and false positives and false negatives."""

    columns = COUNTS
    headline: tuple[str, ...] = ("precision", "recall", "f1")

    def __init__(self, options: SchemeSettings) -> None:
        self._beta = options.beta

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return tp, fp, fn, precision, recall and F."""
        return precision_recall(totals, self._beta)


def precision_recall(totals: NDArray[np.float64], beta: Sequence[float] = ()) -> dict[str, NDArray[np.float64]]:
    """Return tp, fp, fn, precision, recall, f1, f5 and an F for each *beta*. *totals*: shape (…, 3), in the order of ``COUNTS``.

    F is (1 + β²) P R / (β² P + R), that is (1 + β²) tp / ((1 + β²) tp + β² fn + fp). 0/0 counts as 0.
    """
    tp, fp, fn = (totals[..., at].astype(float) for at in range(3))
    found = {"tp": tp, "fp": fp, "fn": fn, "precision": share(tp, tp + fp), "recall": share(tp, tp + fn)}
    for weight in dict.fromkeys((*_ALWAYS, *beta)):
        square = weight * weight
        found[f"f{weight:g}"] = share((1 + square) * tp, (1 + square) * tp + square * fn + fp)
    return found


def share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return part / whole, 0 where the whole is 0."""
    result: NDArray[np.float64] = np.divide(part, whole, out=np.zeros_like(part, dtype=float), where=whole != 0)
    return result
