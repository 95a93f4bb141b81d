"""Intervals of figures by a cluster bootstrap, and p values of differences by approximate randomisation, from sums of counts.

**Bootstrap**: in each round as many clusters are drawn, with replacement, as there are; the figures of the sums of their counts are one
value of the bootstrap's distribution, and an interval goes from one of its percentiles to another (Efron and Tibshirani 1993, chapter 13).
It shows how much a figure depends on which documents are in the test set, and nothing else.

**Randomisation** (Noreen 1989; Yeh 2000 for F1): if two systems are equally good, it does not matter which of them gave which output. So
in each round the outputs of each cluster of documents are swapped or not, by a coin, and the p value is the share of rounds in which the
figures of the two differ at least as much as they do without swaps. Two-sided. With few clusters all ways to swap are tried, which makes p
exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator

from piiloom.evaluation.schemes.base import Figured, Scheme
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_seed
from piiloom.foundation.settings import Settings, setting

UNCERTAINTY: Final = "Uncertainty"
# How many clusters are drawn at once (if there are not more): their weights fit a processor's cache.
_DRAWN = 1 << 17
_DRAWN_MULTIPLES = 1 << 22  # numbers: 32 MB
# With so many clusters that differ between two systems, or fewer, all ways to swap are tried (4,096 at most).
EXACT_UP_TO = 12
# How many coins are tossed at once (if there are not more clusters).
_TOSSED = 1 << 18
# Sums of fractions in another order differ in their last digits; differences closer than this are the same.
_SAME = 1e-10
_WORD = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The ends of an interval."""

    low: float
    high: float


def end_columns(intervals: Mapping[str, Interval | None]) -> dict[str, float]:
    """Return the ends of each interval that there is as columns of a table: ``f1_low`` and ``f1_high``."""
    there = {name: one for name, one in intervals.items() if one is not None}
    return {f"{name}_{end}": getattr(one, end) for name, one in there.items() for end in ("low", "high")}


def ends(interval: Interval | None) -> list[float] | None:
    """Return (low, high) as a list for JSON, None without an interval."""
    return None if interval is None else [interval.low, interval.high]


class ResamplingSettings(Settings):
    """Settings of intervals. Raises ``UsageError`` for a confidence that is not between 0 and 1."""

    cluster: str = setting(
        "document",
        "Group key whose documents are drawn as a whole: story, persona, text or another kind.",
        metavar="KIND",
        panel=UNCERTAINTY,
    )
    resamples: int = setting(1000, "Number of bootstrap draws; 0: no intervals.", metavar="N", panel=UNCERTAINTY, ge=0)
    confidence: float = setting(0.95, "Confidence of intervals.", metavar="P", panel=UNCERTAINTY)
    seed: int = setting(7, "Same seed and data, same intervals.", panel=UNCERTAINTY)

    @field_validator("confidence")
    @classmethod
    def _a_share(cls, confidence: float) -> float:
        if not 0 < confidence < 1:
            raise UsageError("not between 0 and 1", where="--confidence", remedy="Give for example --confidence 0.95")
        return confidence


def cluster_sums(rows: NDArray[np.float64], clusters: NDArray[np.int64], count: int = 0) -> NDArray[np.float64]:
    """Return the counts of each cluster, shape (clusters, columns).

    *rows*: those of documents, shape (documents, columns); *clusters*: the number of each document's cluster (see ``Clusters``).
    *count*: how many clusters there are at least; those without a document have counts of 0.
    """
    count = max(count, 1 + int(clusters.max(initial=-1)))
    sums = np.empty((count, rows.shape[1]))
    for at, column in enumerate(rows.T):
        sums[:, at] = np.bincount(clusters, weights=column, minlength=count)
    return sums


def resampled_totals(sums: NDArray[np.float64], *, rounds: int, seed: int, room: str = "evaluation") -> NDArray[np.float64]:
    """Return the totals of each round, shape (rounds, columns), for counts of clusters of the shape (clusters, columns).

    The same seed, *room* and number of clusters give the same draws, so systems (or columns) can be compared round by round. Takes 24
    bytes a cluster, 3 MB at least, and 8 bytes a round and column.
    """
    rng = np.random.default_rng(derive_seed(room, "bootstrap", seed))
    size = len(sums)
    totals = np.empty((rounds, sums.shape[1]))
    step = max(1, _DRAWN // max(1, size))
    for first in range(0, rounds, step):
        count = min(step, rounds - first)
        drawn = rng.integers(0, size, size=(count, size))
        drawn += np.arange(count)[:, None] * size
        weights = np.bincount(drawn.ravel(), minlength=count * size).reshape(count, size)
        totals[first : first + count] = weights.astype(float) @ sums
    return totals


def resampled_multiples(counts: NDArray[np.float64], times: NDArray[np.int64], *, rounds: int, seed: int) -> NDArray[np.float64]:
    """Return the totals of each round, shape (rounds, columns), where many documents have the same counts.

    *counts*: distinct rows, shape (rows, columns); *times*: how many documents have each, one or more.
    """
    rng = np.random.default_rng(derive_seed("bootstrap of bias", seed))
    number = int(times.sum())
    totals = np.zeros((rounds, counts.shape[1]))
    step = max(1, _DRAWN_MULTIPLES // len(counts))
    for start in range(0, rounds, step):
        size = min(step, rounds - start)
        totals[start : start + size] = rng.multinomial(number, times / number, size=size) @ counts
    return totals


def intervals(scheme: Figured, sums: NDArray[np.float64], resampling: ResamplingSettings) -> dict[str, Interval | None]:
    """Return an interval for each headline figure of *scheme*; None for all if there are fewer than two clusters.

    Nothing is returned without resamples. *sums*: see ``cluster_sums``.
    """
    if not resampling.resamples:
        return {}
    if len(sums) < 2:
        return dict.fromkeys(scheme.headline)
    figures = scheme.figures(resampled_totals(sums, rounds=resampling.resamples, seed=resampling.seed))
    return {name: percentiles(figures[name], resampling.confidence) for name in scheme.headline}


def percentiles(values: NDArray[np.float64], confidence: float) -> Interval | None:
    """Return the interval that holds the middle part (*confidence*) of *values*, shape (rounds,).

    Rounds in which there is no figure (NaN) do not count; None if there is none in any.
    """
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    low, high = np.quantile(known, ((1 - confidence) / 2, (1 + confidence) / 2))
    return Interval(low=float(low), high=float(high))


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
