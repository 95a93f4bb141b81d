"""The probe's figures, computed from counts per record, so that a bootstrap over records needs only sums and no new predictions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

import numpy as np

from piiloom.corpus.record import Relevance
from piiloom.evaluation.inputs.documents import Document, Mention, Pair
from piiloom.evaluation.probe.matching import Comparison
from piiloom.evaluation.probe.scheme import JUDGE, SPAN_COLUMNS, ProbeScheme
from piiloom.evaluation.scoring.bootstrap import Interval
from piiloom.evaluation.scoring.count_table import CountTable
from piiloom.foundation.seeding import derive_seed

RESAMPLES = 1000


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


def count_table(comparisons: Iterable[Comparison]) -> CountTable:
    """Return the counts of all records."""
    table = CountTable(ProbeScheme())
    for comparison in comparisons:
        table.add(_pair(comparison))
    return table


def figures(table: CountTable) -> Figures:
    """Return the figures over all records of *table*."""
    return Figures(**table.overall())


def intervals(table: CountTable, *, seed: int) -> dict[str, Interval]:
    """Return 95% bootstrap intervals of exact F1, overlap F1 and balanced relevance, from ``RESAMPLES`` resamples of the records.

    They show how much the figures depend on the choice of test records, but not how much on the training set or its order. The same
    seed and number of records give the same resamples, so that models can be compared.
    """
    rng = np.random.default_rng(derive_seed("probe", "bootstrap", seed))
    rows = table.rows
    totals = np.array([rows[rng.integers(0, len(rows), size=len(rows))].sum(axis=0) for _ in range(RESAMPLES)])
    values = table.scheme.figures(totals)
    limits = {name: np.quantile(values[name], (0.025, 0.975)) for name in table.scheme.headline}
    return {name: Interval(low=float(low), high=float(high)) for name, (low, high) in limits.items()}


def type_scores(table: CountTable) -> tuple[TypeScore, ...]:
    """Return the scores of all gold and predicted types, those with the most gold spans first."""
    scores = (
        TypeScore(entity_type=name, **{column: int(number) for column, number in zip(SPAN_COLUMNS, row, strict=False)})
        for name, row in table.by_type.items()
    )
    return tuple(sorted(scores, key=lambda score: (-score.gold, score.entity_type)))


def _pair(comparison: Comparison) -> Pair:
    """The documents of a comparison; in the found one, what was judged stands after what was detected."""
    record, where = comparison.record, f"line {comparison.record.line}"
    golds = [_mention(record.context, one.start, one.end, one.entity_type, one.relevance) for one in record.spans]
    founds = [_mention(record.context, *span) for span in comparison.found]
    judged = [
        replace(gold, relevance=said, annotator=JUDGE)
        for gold, (_, said) in zip((one for one in golds if one.relevance is not None), comparison.judged, strict=False)
    ]
    return Pair(gold=Document(where=where, mentions=tuple(golds)), found=Document(where=where, mentions=(*founds, *judged)))


def _mention(context: str, start: int, end: int, entity_type: str, relevance: Relevance | None = None) -> Mention:
    return Mention(text=context[start:end], entity_type=entity_type, start=start, end=end, relevance=relevance)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
