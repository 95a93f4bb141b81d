"""Groups as the connected components of links (union-find)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray


class Links:
    """Union-find over positions, with path halving. The smaller root wins, so the result does not depend on the order of links.

    With *watched* positions, ``ties`` are the sets of positions that were joined at once and hold a watched one.
    """

    def __init__(self, size: int, *, watched: Collection[int] = ()) -> None:
        self._parent = list(range(size))
        self.watched = frozenset(watched)
        self.ties: set[tuple[int, ...]] = set()

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

    def join_all(self, positions: Sequence[int]) -> None:
        """Link all *positions* with each other."""
        for position in positions[1:]:
            self.join(positions[0], position)
        self.record_tie(positions)

    def record_tie(self, positions: Sequence[int]) -> None:
        """Record that *positions*, which are linked already, belong together."""
        if self.watched and len(positions) > 1 and not self.watched.isdisjoint(positions):
            self.ties.add(tuple(sorted(positions)))

    def roots(self) -> NDArray[np.int64]:
        """Return the root of every position."""
        roots = np.array(self._parent, dtype=np.int64)
        while not np.array_equal(above := roots[roots], roots):
            roots = above
        return roots
