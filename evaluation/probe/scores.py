"""The probe's figures, computed from counts per record, so that a bootstrap over records needs only sums and no new predictions.

Exact and overlap F1 compare extents only; ``type_acc`` is the share of overlapping pairs with the right type; relevance is
scored on gold spans. All definitions are those of the shared probe tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from piiloom.evaluation.probe.matching import Comparison, same_extent
from piiloom.foundation.seeding import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 1000

# The columns of a row of counts.
_EXACT, _OVERLAP, _TYPED, _FOUND, _GOLD, _HIGH_HITS, _HIGH, _LOW_HITS, _LOW = range(9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The five figures, each between 0 and 1. A figure with nothing to count is 0."""

    span_f1_exact: float
    span_f1_overlap: float
    type_acc: float
    rel_acc: float
    rel_balanced: float

    def to_json(self) -> dict[str, float]:
        """Return the figures by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95% bootstrap interval (2.5% and 97.5% quantiles)."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeScore:
    """The counts of one type. ``gold…`` count gold spans of the type, ``found…`` spans that were predicted as the type.

    ``…_exact`` and ``…_overlap`` are those with a matching span, by extents only. ``type_right`` counts the overlapped gold spans whose
    type was predicted as well.
    """

    entity_type: str
    gold: int
    gold_exact: int
    gold_overlap: int
    found: int
    found_exact: int
    found_overlap: int
    type_right: int

    def shares(self) -> dict[str, float | None]:
        """Return recall, precision and type accuracy; None where the denominator is 0."""
        return {
            "exact_recall": _share(self.gold_exact, self.gold),
            "exact_precision": _share(self.found_exact, self.found),
            "overlap_recall": _share(self.gold_overlap, self.gold),
            "overlap_precision": _share(self.found_overlap, self.found),
            "type_acc": _share(self.type_right, self.gold_overlap),
        }


def count_table(comparisons: Sequence[Comparison]) -> NDArray[np.int64]:
    """Return an array of shape (records, 9): one row of counts per record."""
    return np.array([_counts(comparison) for comparison in comparisons], dtype=np.int64).reshape(-1, 9)


def figures(table: NDArray[np.int64]) -> Figures:
    """Return the figures over all records of *table* (see ``count_table``)."""
    values = _figures(table.sum(axis=0))
    return Figures(**{name: float(value) for name, value in values.items()})


def intervals(table: NDArray[np.int64], *, seed: int) -> dict[str, Interval]:
    """Return bootstrap intervals of exact F1, overlap F1 and balanced relevance, from ``RESAMPLES`` resamples of the records.

    They show how much the figures depend on the choice of test records, but not how much on the training set or its order. The same
    seed and number of records give the same resamples, so that models can be compared.
    """
    rng = np.random.default_rng(derive_seed("probe", "bootstrap", seed))
    totals = np.array([table[rng.integers(0, len(table), size=len(table))].sum(axis=0) for _ in range(RESAMPLES)])
    values = _figures(totals)
    limits = {name: np.quantile(values[name], (0.025, 0.975)) for name in ("span_f1_exact", "span_f1_overlap", "rel_balanced")}
    return {name: Interval(low=float(low), high=float(high)) for name, (low, high) in limits.items()}


def type_scores(comparisons: Sequence[Comparison]) -> tuple[TypeScore, ...]:
    """Return the scores of all gold and predicted types, those with the most gold spans first."""
    counts: Counter[tuple[str, str]] = Counter()
    for comparison in comparisons:
        counts.update(("gold", span.entity_type) for span in comparison.record.spans)
        counts.update(("found", span.entity_type) for span in comparison.found)
        for gold, found in comparison.matches():
            counts["gold_overlap", gold.entity_type] += 1
            counts["found_overlap", found.entity_type] += 1
            counts["type_right", gold.entity_type] += gold.entity_type == found.entity_type
            if same_extent(gold, found):
                counts["gold_exact", gold.entity_type] += 1
                counts["found_exact", found.entity_type] += 1
    fields = ("gold", "gold_exact", "gold_overlap", "found", "found_exact", "found_overlap", "type_right")
    scores = (TypeScore(entity_type=name, **{field: counts[field, name] for field in fields}) for name in {name for _, name in counts})
    return tuple(sorted(scores, key=lambda score: (-score.gold, score.entity_type)))


def _counts(comparison: Comparison) -> list[int]:
    matches = list(comparison.matches())
    row = [0] * 9
    row[_EXACT] = sum(same_extent(gold, found) for gold, found in matches)
    row[_OVERLAP] = len(matches)
    row[_TYPED] = sum(gold.entity_type == found.entity_type for gold, found in matches)
    row[_FOUND] = len(comparison.found)
    row[_GOLD] = len(comparison.record.spans)
    for gold, said in comparison.judged:
        row[_HIGH if gold == "high" else _LOW] += 1
        row[_HIGH_HITS if gold == "high" else _LOW_HITS] += gold == said
    return row


def _figures(totals: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Compute the figures of one row of sums (shape (9,)) or of several (shape (n, 9))."""
    at = np.moveaxis(totals, -1, 0)
    spans, judged = np.maximum(1, at[_FOUND] + at[_GOLD]), np.maximum(1, at[_HIGH] + at[_LOW])
    recalls = at[_HIGH_HITS] / np.maximum(1, at[_HIGH]), at[_LOW_HITS] / np.maximum(1, at[_LOW])
    return {
        "span_f1_exact": 2 * at[_EXACT] / spans,
        "span_f1_overlap": 2 * at[_OVERLAP] / spans,
        "type_acc": at[_TYPED] / np.maximum(1, at[_OVERLAP]),
        "rel_acc": (at[_HIGH_HITS] + at[_LOW_HITS]) / judged,
        "rel_balanced": (recalls[0] + recalls[1]) / 2,
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
