"""Figures that are ratios of two counts, of each sample by itself, and their plain means over samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from piiloom.evaluation.schemes.base import OVERALL, Undefined
from piiloom.evaluation.schemes.precision_recall import share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SampleMeans:
    """Adds columns to a sample's counts, from whose sums means over samples are computed.

    For each ratio that is its value in the sample, and for each denominator whether the sample enters the means of its ratios (1 or 0).
    Where a denominator is 0, *undefined* decides: the value is 0 (``zero``) or 1 (``one``), or the sample doesn't enter (``skip``).
    """

    def __init__(self, counts: Sequence[str], ratios: Mapping[str, tuple[str, str]], undefined: Undefined) -> None:
        """*ratios*: (numerator, denominator) by the name of the figure, both names of *counts*."""
        denominators = tuple(dict.fromkeys(below for _, below in ratios.values()))
        self.columns = (*counts, *(f"{name}, summed" for name in ratios), *(f"samples with {name}" for name in denominators))
        self._ratios = ratios
        self._counts = {name: at for at, name in enumerate(counts)}
        self._at = [(self._counts[above], self._counts[below]) for above, below in ratios.values()]
        self._below = [self._counts[name] for name in denominators]
        self._parts = itemgetter(*(above for above, _ in self._at), *self._below)
        sums = len(counts)
        weights = {name: sums + len(ratios) + at for at, name in enumerate(denominators)}
        self._means = {name: (sums + at, weights[below]) for at, (name, (_, below)) in enumerate(ratios.items())}
        self._default = 1.0 if undefined == "one" else 0.0
        self._skips = undefined == "skip"

    def rows(self, counts: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
        """Return the row of each type, and that of the sample under ``OVERALL``, from the counts of one sample by type."""
        return {name: self._pooled_row(row) if name != OVERALL else self._sample_row(row) for name, row in counts.items()}

    def _sample_row(self, counts: Sequence[float]) -> list[float]:
        """Return the row of a whole sample: its *counts*, ratios and weights."""
        ratios = [counts[above] / counts[below] if counts[below] else self._default for above, below in self._at]
        return [*counts, *ratios, *(0.0 if self._skips and not counts[at] else 1.0 for at in self._below)]

    def _pooled_row(self, counts: Sequence[float]) -> list[float]:
        """Return the row of a part of a sample. Each ratio enters with the weight of its denominator, so that the mean is that of all."""
        return [*counts, *self._parts(counts)]

    def means(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the mean of each ratio over the samples. *totals*: sums of rows, of shape (…, columns)."""
        return {name: share(totals[..., value], totals[..., weight]) for name, (value, weight) in self._means.items()}

    def ratios(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return each ratio of the summed counts."""
        return {name: share(self.count(totals, above), self.count(totals, below)) for name, (above, below) in self._ratios.items()}

    def count(self, totals: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        """Return the sum of the count called *name*."""
        return totals[..., self._counts[name]]
