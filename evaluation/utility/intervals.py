"""Means over records, with intervals of a bootstrap over documents: a document may have several records."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from piiloom.foundation.seeding import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES: Final = 1000
_CHUNK_CELLS: Final = 4_000_000  # of the matrix of weights: 32 MB at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean with its 95% interval, and ``of`` how many values. The mean is None without any, the interval also with one document."""

    value: float | None
    low: float | None
    high: float | None
    of: int

    def to_json(self) -> dict[str, float | None]:
        """Return the fields."""
        return asdict(self)


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

    def figures(self, *, seed: int) -> dict[Hashable, Figure]:
        """Return all means with percentile intervals of ``RESAMPLES`` bootstrap samples of the documents."""
        sums = np.zeros((len(self._rows), len(self._names), 2))
        for number, document in enumerate(sorted(self._rows)):
            for column, pair in self._rows[document].items():
                sums[number, column] = pair
        totals = sums.sum(axis=0)
        low, high = self._limits(sums, seed)
        return {
            name: Figure(
                value=_number(totals[column, 0] / totals[column, 1]) if totals[column, 1] else None,
                low=_number(low[column]) if totals[column, 1] else None,
                high=_number(high[column]) if totals[column, 1] else None,
                of=int(totals[column, 1]),
            )
            for name, column in self._names.items()
        }

    def _limits(self, sums: NDArray[np.float64], seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        documents, columns = sums.shape[:2]
        if documents < 2:
            nothing = np.full(columns, np.nan)
            return nothing, nothing
        rng = np.random.default_rng(derive_seed("utility", "bootstrap", seed))
        flat = sums.reshape(documents, -1)
        drawn = np.empty((RESAMPLES, columns))
        step = max(1, _CHUNK_CELLS // documents)
        for start in range(0, RESAMPLES, step):
            size = min(step, RESAMPLES - start)
            weights = rng.multinomial(documents, np.full(documents, 1 / documents), size=size)
            totals = (weights @ flat).reshape(size, columns, 2)
            with np.errstate(invalid="ignore", divide="ignore"):
                drawn[start : start + size] = totals[..., 0] / totals[..., 1]
        low, high = _quantiles(drawn)
        return low, high


def _quantiles(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the 2.5% and 97.5% quantiles of each column, shape (2, columns), without the samples that had nothing to count."""
    found = np.full((2, drawn.shape[1]), np.nan)
    for column, values in enumerate(drawn.T):
        counted = values[~np.isnan(values)]
        if len(counted):
            found[:, column] = np.quantile(counted, (0.025, 0.975))
    return found


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
