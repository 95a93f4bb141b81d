"""Recall by group of names, the largest gap between groups, and bootstrap intervals of both.

A resample draws as many documents as there are, with replacement. Documents with equal counts are interchangeable, so it is enough to draw
how often each different row of counts comes: a multinomial draw. That is the same for any order of the documents, and costs as much for a
million documents as for ten thousand. (``scoring.bootstrap`` draws documents one by one: there a row is a cluster, and few are equal.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from piiloom.evaluation.bias.name_groups import Axis
from piiloom.evaluation.scoring.bootstrap import Interval, Resampling, ends, percentiles
from piiloom.foundation.seeding import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AT_ONCE: Final = 1 << 22  # numbers drawn at a time: 32 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecall:
    """The gold mentions of a group, and those found. ``recall`` and ``ci`` are None if there are no mentions."""

    total: int
    found: int
    recall: float | None
    ci: Interval | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"total": self.total, "found": self.found, "recall": self.recall, "ci": ends(self.ci)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The recall of the group ``best`` less that of ``worst``, the two that are furthest apart. Groups without mentions play no part."""

    best: str
    worst: str
    value: float
    ci: Interval

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"value": self.value, "ci": ends(self.ci), "best": self.best, "worst": self.worst}


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasFigures:
    """The figures of one type.

    ``gaps``: None on an axis with fewer than two groups that have mentions. ``left_out``: mentions that are in no group, by axis and
    reason. ``tied``: mentions whose name is as likely of another group of the axis.
    """

    entity_type: str
    match: str
    index: str
    documents: int
    overall: GroupRecall
    groups: Mapping[Axis, Mapping[str, GroupRecall]]
    gaps: Mapping[Axis, Gap | None]
    left_out: Mapping[Axis, Mapping[str, int]]
    tied: Mapping[Axis, int]
    resampling: Resampling

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain data: the groups under their axis, what concerns an axis as a whole beside them."""
        how = self.resampling
        return {
            "type": self.entity_type,
            "match": self.match,
            "documents": self.documents,
            "overall": self.overall.to_json(),
            **{axis: {name: one.to_json() for name, one in groups.items()} for axis, groups in self.groups.items()},
            "gap": {axis: None if gap is None else gap.to_json() for axis, gap in self.gaps.items()},
            "left_out": {axis: dict(reasons) for axis, reasons in self.left_out.items()},
            "tied": dict(self.tied),
            "names_index": self.index,
            "bootstrap": {"rounds": how.resamples, "seed": how.seed, "confidence": how.confidence, "cluster": "document"},
        }


def bias_figures(
    rows: Mapping[tuple[int, ...], int],
    groups: Sequence[tuple[Axis, str]],
    *,
    entity_type: str,
    match: str,
    index: str,
    left_out: Mapping[Axis, Mapping[str, int]],
    tied: Mapping[Axis, int],
    resampling: Resampling,
) -> BiasFigures:
    """Return the figures of *rows*: counts of a document → number of documents with them.

    A row is (total, found) of all mentions, then of each of *groups*.
    """
    distinct = sorted(rows)
    counts = np.array(distinct, dtype=float).reshape(len(distinct), 2 + 2 * len(groups))
    documents = np.array([rows[row] for row in distinct], dtype=np.int64)
    totals = documents @ counts
    drawn = _resampled(counts, documents, resampling)
    recalls = np.divide(drawn[:, 1::2], drawn[:, 0::2], out=np.full((len(drawn), 1 + len(groups)), np.nan), where=drawn[:, 0::2] > 0)
    of = [_recall(totals[2 * at], totals[2 * at + 1], recalls[:, at], resampling) for at in range(1 + len(groups))]
    axes: dict[Axis, dict[str, GroupRecall]] = {}
    columns: dict[Axis, dict[str, NDArray[np.float64]]] = {}
    for at, (axis, group) in enumerate(groups, start=1):
        axes.setdefault(axis, {})[group] = of[at]
        columns.setdefault(axis, {})[group] = recalls[:, at]
    return BiasFigures(
        entity_type=entity_type,
        match=match,
        index=index,
        documents=int(documents.sum()),
        overall=of[0],
        groups=axes,
        gaps={axis: _gap(axes[axis], columns[axis], resampling) for axis in axes},
        left_out=left_out,
        tied=tied,
        resampling=resampling,
    )


def _resampled(counts: NDArray[np.float64], documents: NDArray[np.int64], resampling: Resampling) -> NDArray[np.float64]:
    """Return the sums of counts of each resample, shape (rounds, columns).

    *counts*: distinct rows, shape (rows, columns); *documents*: how many have each, shape (rows,).
    """
    rng = np.random.default_rng(derive_seed("bootstrap of bias", resampling.seed))
    number = int(documents.sum())
    sums = np.zeros((resampling.resamples, counts.shape[1]))
    step = max(1, _AT_ONCE // max(1, len(counts)))
    for start in range(0, resampling.resamples if number else 0, step):
        size = min(step, resampling.resamples - start)
        sums[start : start + size] = rng.multinomial(number, documents / number, size=size) @ counts
    return sums


def _recall(total: float, found: float, drawn: NDArray[np.float64], resampling: Resampling) -> GroupRecall:
    recall = float(found / total) if total else None
    return GroupRecall(total=int(total), found=int(found), recall=recall, ci=percentiles(drawn, resampling.confidence))


def _gap(groups: Mapping[str, GroupRecall], drawn: Mapping[str, NDArray[np.float64]], resampling: Resampling) -> Gap | None:
    """Return the gap between the groups that are furthest apart in the data (not anew in each resample, which could never be 0)."""
    known = [(one.recall, name) for name, one in groups.items() if one.recall is not None]
    if len(known) < 2:
        return None
    best, worst = max(known, key=lambda one: one[0]), min(reversed(known), key=lambda one: one[0])
    interval = percentiles(drawn[best[1]] - drawn[worst[1]], resampling.confidence)
    if interval is None:  # one group or the other is missing in every resample
        return None
    return Gap(best=best[1], worst=worst[1], value=best[0] - worst[0], ci=interval)
