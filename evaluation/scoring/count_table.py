"""The counts of all documents under one scheme: one row a document, and sums by type."""

from __future__ import annotations

from array import array
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
        self._types: dict[str, NDArray[np.float64]] = {}

    def add(self, pair: Pair) -> None:
        """Count one pair."""
        counts = self.scheme.count(pair.gold, pair.found)
        for name, row in counts.items():
            if name == OVERALL:
                self._rows.extend(row)
            else:
                self._types[name] = self._types.get(name, 0.0) + np.asarray(row, dtype=float)

    @property
    def rows(self) -> NDArray[np.float64]:
        """The counts over all types, of shape (documents, columns)."""
        return np.frombuffer(self._rows, dtype=float).reshape(-1, len(self.scheme.columns))

    @property
    def by_type(self) -> dict[str, NDArray[np.float64]]:
        """The sums of each type, of shape (columns,), sorted by type."""
        return dict(sorted(self._types.items()))

    def overall(self) -> dict[str, float]:
        """Return the figures over all documents and types."""
        return figures_of(self.scheme, self.rows.sum(axis=0))
