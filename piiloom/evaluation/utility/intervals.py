"""Means over records, with intervals of a bootstrap over documents: a document may have several records."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from piiloom.evaluation.scoring.bootstrap import Interval, Resampling, percentiles, resampled_totals

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean with its interval, and ``of`` how many values. The mean is None without any, the interval also with one document."""

    value: float | None
    interval: Interval | None
    of: int

    def to_json(self) -> dict[str, float | None]:
        """Return the mean, the ends of the interval and the number of values."""
        low, high = (None, None) if self.interval is None else (self.interval.low, self.interval.high)
        return {"value": self.value, "low": low, "high": high, "of": self.of}


class MeanTable:
    """Sums and counts of values by name, a row for each document. The order of documents changes nothing: rows are drawn from sorted."""

    def __init__(self) -> None:
        self._names: dict[Hashable, int] = {}
        self._rows: dict[str, dict[int, list[float]]] = {}

    def add(self, document: str, name: Hashable, value: float | None) -> None:
        """Add *value* to the mean *name*; None adds nothing, but has the mean in the result."""
        column = self._names.setdefault(name, len(self._names))
        row = self._rows.setdefault(document, {})
        if value is not None:
            sums = row.setdefault(column, [0.0, 0.0])
            sums[0] += value
            sums[1] += 1.0

    def figures(self, resampling: Resampling) -> dict[Hashable, Figure]:
        """Return all means by name."""
        sums = self._sums()
        totals = sums.sum(axis=0)
        means = np.full((0, len(self._names)), np.nan)
        if len(sums) > 1:
            means = _means(resampled_totals(sums, rounds=resampling.resamples, seed=resampling.seed))
        return {
            name: Figure(
                value=float(totals[2 * column] / totals[2 * column + 1]) if totals[2 * column + 1] else None,
                interval=percentiles(means[:, column], resampling.confidence),
                of=int(totals[2 * column + 1]),
            )
            for name, column in self._names.items()
        }

    def _sums(self) -> NDArray[np.float64]:
        """Return the sum and the count of each mean, of shape (documents, 2 × means), documents sorted by name."""
        sums = np.zeros((len(self._rows), len(self._names), 2))
        for number, document in enumerate(sorted(self._rows)):
            for column, pair in self._rows[document].items():
                sums[number, column] = pair
        return sums.reshape(len(self._rows), 2 * len(self._names))


def _means(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of each round, shape (rounds, means): NaN where there is nothing to count."""
    values, counts = totals[:, 0::2], totals[:, 1::2]
    means: NDArray[np.float64] = np.divide(values, counts, out=np.full(values.shape, np.nan), where=counts > 0)
    return means
