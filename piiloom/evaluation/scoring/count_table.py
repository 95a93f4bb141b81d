"""The counts of all documents under one scheme: one row a document, and sums by type."""

from __future__ import annotations

from array import array
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from piiloom.evaluation.inputs.documents import Pair
from piiloom.evaluation.schemes.base import OVERALL, Scheme, figures_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CountTable:
    """A ``Collector`` of counts. It keeps 8 bytes a document and column, and no text."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self._rows = array("d")
        self._sums: dict[str, list[float]] = {}  # of each type; lists: an array for each few numbers would cost more than to count

    def add(self, pair: Pair) -> None:
        """Count one pair."""
        for name, row in self.scheme.count(pair.gold, pair.found).items():
            if name == OVERALL:
                self._rows.extend(row)
            elif name in self._sums:
                self._sums[name] = list(map(add, self._sums[name], row))
            else:
                self._sums[name] = list(row)

    @property
    def rows(self) -> NDArray[np.float64]:
        """The counts over all types, of shape (documents, columns)."""
        return np.frombuffer(self._rows, dtype=float).reshape(-1, len(self.scheme.columns))

    @property
    def by_type(self) -> dict[str, NDArray[np.float64]]:
        """The sums of each type, of shape (columns,), sorted by type."""
        return {name: np.array(sums, dtype=float) for name, sums in sorted(self._sums.items())}

    def overall(self) -> dict[str, float]:
        """Return the figures over all documents and types."""
        return figures_of(self.scheme, self.rows.sum(axis=0))
