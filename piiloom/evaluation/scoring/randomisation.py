"""Approximate randomisation (Noreen 1989; Yeh 2000 for F1): the p value of a difference between two systems.

If two systems are equally good, it does not matter which of them gave which output. So in each round the outputs of each cluster of
documents are swapped or not, by a coin, and the p value is the share of rounds in which the figures of the two differ at least as much
as they do without swaps. Two-sided. With few clusters all ways to swap are tried, which makes p exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from piiloom.evaluation.schemes.base import Scheme
from piiloom.foundation.seeding import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

# With so many clusters that differ between two systems, or fewer, all ways to swap are tried (4,096 at most).
EXACT_UP_TO = 12
# How many coins are tossed at once (if there are not more clusters).
_TOSSED = 1 << 18
# Sums of fractions in another order differ in their last digits; differences closer than this are the same.
_SAME = 1e-10
_WORD = 64


def permutation_p(
    scheme: Scheme, systems: Sequence[NDArray[np.float64]], names: Sequence[str], *, rounds: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Return for each figure in *names* the p values of all pairs of systems: a symmetric array of shape (systems, systems), 1 if equal.

    *systems*: the counts of each system's clusters, each of shape (clusters, columns), the same clusters in the same order. A p value
    is exact for pairs that differ in ``EXACT_UP_TO`` clusters at most; else it is (1 + rounds with as large a difference) / (1 + rounds).
    The p value of two systems does not depend on which others there are. Memory: 9 bytes a cluster, 2.4 MB at least, and 8 bytes a
    round, system and column.
    """
    found = {name: np.ones((len(systems), len(systems))) for name in names}
    swapped: NDArray[np.float64] | None = None
    for i in range(len(systems)):
        for j in range(i):
            differing = (systems[i] != systems[j]).any(axis=1)
            exact = np.count_nonzero(differing) <= EXACT_UP_TO
            if exact:
                ways = _all_ways(int(np.count_nonzero(differing)))
                moved = ways @ systems[i][differing], ways @ systems[j][differing]
            else:
                if swapped is None:
                    swapped = _swapped(systems, rounds=rounds, seed=seed)
                moved = swapped[:, i], swapped[:, j]
            extreme = _as_extreme(scheme, (systems[i].sum(axis=0), systems[j].sum(axis=0)), moved, names)
            for name, number in extreme.items():
                found[name][i, j] = found[name][j, i] = number / len(moved[0]) if exact else (1 + number) / (1 + rounds)
    return found


def holm(values: Sequence[float]) -> list[float]:
    """Return the p values of several tests adjusted by Holm's method (1979), which bounds the chance of any false alarm among them."""
    adjusted = [1.0] * len(values)
    least = 0.0
    for place, at in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - place) * values[at]))
        adjusted[at] = least
    return adjusted


def _as_extreme(
    scheme: Scheme,
    totals: tuple[NDArray[np.float64], NDArray[np.float64]],
    moved: tuple[NDArray[np.float64], NDArray[np.float64]],
    names: Sequence[str],
) -> dict[str, int]:
    """Count the rounds whose difference is at least that of *totals*; *moved*: what each system gives away in each round."""
    first = scheme.figures(np.vstack((totals[0], totals[0] - moved[0] + moved[1])))
    second = scheme.figures(np.vstack((totals[1], totals[1] - moved[1] + moved[0])))
    found: dict[str, int] = {}
    for name in names:
        differences = np.abs(first[name] - second[name])
        found[name] = int(np.count_nonzero(differences[1:] >= differences[0] - _SAME))
    return found


def _all_ways(clusters: int) -> NDArray[np.float64]:
    """Return all vectors of zeros and ones, shape (2 ** clusters, clusters)."""
    return (np.arange(1 << clusters)[:, None] >> np.arange(clusters) & 1).astype(float)


def _swapped(systems: Sequence[NDArray[np.float64]], *, rounds: int, seed: int) -> NDArray[np.float64]:
    """Return the sums over the clusters that are swapped in each round, shape (rounds, systems, columns)."""
    rng = np.random.default_rng(derive_seed("evaluation", "randomisation", seed))
    together = np.hstack(systems)
    size = len(together)
    words = -(-size // _WORD)  # whole words a round, so that the coins do not depend on how many rounds are done at once
    found = np.empty((rounds, together.shape[1]))
    step = max(1, _TOSSED // size)
    for first in range(0, rounds, step):
        count = min(step, rounds - first)
        drawn = rng.integers(0, 1 << _WORD, size=(count, words), dtype=np.uint64).astype("<u8")
        coins = np.unpackbits(drawn.view(np.uint8), axis=1, count=size, bitorder="little")
        found[first : first + count] = coins.astype(float) @ together
    return found.reshape(rounds, len(systems), -1)
