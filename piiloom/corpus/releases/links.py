"""Groups as the connected components of links (union-find)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class Links:
    """Union-find over positions, with path halving. The smaller root wins, so the result does not depend on the order of links."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, at: int) -> int:
        """Return the smallest position that is linked to *at*."""
        parent = self._parent
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    def join(self, first: int, second: int) -> None:
        """Link two positions."""
        low, high = sorted((self.root(first), self.root(second)))
        self._parent[high] = low

    def join_all(self, positions: Iterable[int]) -> None:
        """Link all *positions* with each other."""
        first = None
        for position in positions:
            if first is None:
                first = position
            else:
                self.join(first, position)

    def roots(self) -> NDArray[np.int64]:
        """Return the root of every position."""
        roots = np.array(self._parent, dtype=np.int64)
        while not np.array_equal(above := roots[roots], roots):
            roots = above
        return roots
