"""Cluster bootstrap: intervals of figures from sums of counts.

In each round as many clusters are drawn, with replacement, as there are; the figures of the sums of their counts are one value of the
bootstrap's distribution, and an interval goes from one of its percentiles to another (Efron and Tibshirani 1993, chapter 13). So it
shows how much a figure depends on which documents are in the test set, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from pydantic import field_validator

from piiloom.evaluation.schemes.base import Figured
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_seed
from piiloom.foundation.settings import Settings, setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNCERTAINTY: Final = "Uncertainty"
# How many clusters are drawn at once (if there are not more): their weights fit a processor's cache.
_DRAWN = 1 << 17


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


class Resampling(Settings):
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


def resampled_totals(sums: NDArray[np.float64], *, rounds: int, seed: int) -> NDArray[np.float64]:
    """Return the totals of each round, shape (rounds, columns), for counts of clusters of the shape (clusters, columns).

    The same seed and number of clusters give the same draws, so systems (or columns) can be compared round by round. Takes 24 bytes a
    cluster, 3 MB at least, and 8 bytes a round and column.
    """
    rng = np.random.default_rng(derive_seed("evaluation", "bootstrap", seed))
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


def intervals(scheme: Figured, sums: NDArray[np.float64], resampling: Resampling) -> dict[str, Interval | None]:
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
