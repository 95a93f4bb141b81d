"""Match predicted spans to the gold spans of a record, classify the errors, and compute the probe's figures from counts per record.

All definitions are those of the shared probe tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.formats.base import Json
from piiloom.corpus.record import Relevance
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Needs, Pair
from piiloom.evaluation.probe.data import ProbeRecord
from piiloom.evaluation.schemes.precision_recall import by_column, ratio
from piiloom.evaluation.schemes.span_pairs import PAIR_COUNTS, count_pairs
from piiloom.evaluation.scoring.counts import CountTable
from piiloom.evaluation.scoring.resampling import Interval, resampled_totals
from piiloom.tagging.model import FoundSpan, GoldSpan

RESAMPLES = 1000
# The annotator of relevance, which is judged at the places of the gold mentions; all other mentions are the detector's.
JUDGE = "judge"
# What is counted of spans, as named here and in ``PAIR_COUNTS``, and of relevances.
_SPANS = {
    "gold": "gold",
    "gold_exact": "gold_exact",
    "gold_overlap": "gold_matched",
    "found": "found",
    "found_exact": "found_exact",
    "found_overlap": "found_matched",
    "type_right": "type_right",
}
_RELEVANCES = {"high": "high_matched", "high_right": "high_right", "low": "low_matched", "low_right": "low_right"}
_SPANS_AT = [PAIR_COUNTS.index(name) for name in _SPANS.values()]
_RELEVANCES_AT = [PAIR_COUNTS.index(name) for name in _RELEVANCES.values()]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedRecord:
    """A record and the spans that were found in it; ``judged``: (gold, predicted) relevance of the gold spans that have a relevance."""

    __test__ = False  # tells pytest that this is not a test class

    record: ProbeRecord
    found: tuple[FoundSpan, ...]
    judged: tuple[tuple[Relevance, Relevance], ...] = ()

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The overlapping spans as (index in ``record.spans``, index in ``found``), each span in one pair at most."""
        return pairs_in_order([(gold.start, gold.end) for gold in self.record.spans], [(span.start, span.end) for span in self.found])


def pairs_in_order(golds: Sequence[tuple[int, int]], founds: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pair each found place, in order, with the first gold place that it overlaps and that is not paired yet.

    Return (index in *golds*, index in *founds*) of the pairs.
    """
    pairs: list[tuple[int, int]] = []
    free = dict(enumerate(golds))
    for position, (start, end) in enumerate(founds):
        number = next((at for at, (gold_start, gold_end) in free.items() if start < gold_end and gold_start < end), None)
        if number is not None:
            del free[number]
            pairs.append((number, position))
    return pairs


def error_rows(file: str, tested: Sequence[TestedRecord]) -> Iterator[Json]:
    """Yield the errors of all records of *file* as JSON objects, in text order. They hold the texts of the spans: text of the corpus.

    Missed and spurious spans, and pairs of another type (whatever their extents) or of another extent.
    """
    for number, one in enumerate(tested, start=1):
        record = one.record
        for kind, *spans in sorted(_errors(one), key=_place):
            gold, found = (_described(span, record.context) for span in spans)
            yield {"file": file, "record": number, "line": record.line, "kind": kind, "gold": gold, "predicted": found}


def _errors(tested: TestedRecord) -> Iterator[tuple[str, GoldSpan | None, FoundSpan | None]]:
    golds, founds = dict(enumerate(tested.record.spans)), dict(enumerate(tested.found))
    for one, other in tested.pairs:
        gold, found = golds.pop(one), founds.pop(other)
        if gold.entity_type != found.entity_type:
            yield "wrong_type", gold, found
        elif (gold.start, gold.end) != (found.start, found.end):
            yield "wrong_extent", gold, found
    yield from (("missed", gold, None) for gold in golds.values())
    yield from (("spurious", None, found) for found in founds.values())


def _place(error: tuple[str, GoldSpan | None, FoundSpan | None]) -> tuple[int, int]:
    spans = [span for span in error[1:] if span is not None]
    return min(span.start for span in spans), min(span.end for span in spans)


def _described(span: GoldSpan | FoundSpan | None, context: str) -> Json | None:
    if span is None:
        return None
    return {"start": span.start, "end": span.end, "type": span.entity_type, "text": context[span.start : span.end]}


class ProbeScheme:
    """Spans are paired by ``pairs_in_order`` and compared by extents only; the relevance of gold mentions is as judged, found or not.

    ``type_acc`` is the share of overlapping pairs with the right type.
    """

    name = "probe"
    needs: Needs = "places"
    columns = (*_SPANS, *_RELEVANCES)
    headline = ("span_f1_exact", "span_f1_overlap", "rel_balanced")

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return the counts of one record by type."""
        spans = [one for one in found.mentions if one.annotator != JUDGE]
        judged = [one for one in found.mentions if one.annotator == JUDGE]
        pairs = pairs_in_order(_places(gold.mentions), _places(spans))
        of_spans = _counts(gold, spans, [(gold.mentions[one], spans[other]) for one, other in pairs])
        at_place = {one.place: one for one in gold.mentions}
        of_relevances = _counts(gold, judged, [(at_place[one.place], one) for one in judged])
        return {
            name: [*(row[at] for at in _SPANS_AT), *(of_relevances[name][at] if name in of_relevances else 0.0 for at in _RELEVANCES_AT)]
            for name, row in of_spans.items()
        }

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the five figures."""
        at = by_column(self.columns, totals)
        return {
            "span_f1_exact": ratio(2 * at["gold_exact"], at["found"] + at["gold"]),
            "span_f1_overlap": ratio(2 * at["gold_overlap"], at["found"] + at["gold"]),
            "type_acc": ratio(at["type_right"], at["gold_overlap"]),
            "rel_acc": ratio(at["high_right"] + at["low_right"], at["high"] + at["low"]),
            "rel_balanced": (ratio(at["high_right"], at["high"]) + ratio(at["low_right"], at["low"])) / 2,
        }


def _places(mentions: Sequence[AnnotatedMention]) -> list[tuple[int, int]]:
    return [one.place for one in mentions if one.place is not None]


def _counts(
    gold: AnnotatedDocument, found: Sequence[AnnotatedMention], pairs: Sequence[tuple[AnnotatedMention, AnnotatedMention]]
) -> dict[str, list[float]]:
    alike = [(one, other, 1.0) for one, other in pairs]
    return count_pairs(gold.mentions, found, alike)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFigures:
    """The five figures, each between 0 and 1. A figure with nothing to count is 0."""

    span_f1_exact: float
    span_f1_overlap: float
    type_acc: float
    rel_acc: float
    rel_balanced: float


def count_table(tested: Iterable[TestedRecord]) -> CountTable:
    """Return the counts of all records."""
    table = CountTable(ProbeScheme())
    for one in tested:
        table.add(_pair(one))
    return table


def record_intervals(table: CountTable, *, seed: int) -> dict[str, Interval]:
    """Return 95% bootstrap intervals of exact F1, overlap F1 and balanced relevance, from ``RESAMPLES`` resamples of the records.

    They show how much the figures depend on the choice of test records, but not how much on the training set or its order. The same
    seed and number of records give the same resamples, so that models can be compared.
    """
    values = table.scheme.figures(resampled_totals(table.rows, rounds=RESAMPLES, seed=seed, room="probe"))
    limits = {name: np.quantile(values[name], (0.025, 0.975)) for name in table.scheme.headline}
    return {name: Interval(low=float(low), high=float(high)) for name, (low, high) in limits.items()}


def type_scores(table: CountTable) -> list[dict[str, Any]]:
    """Return the scores of all gold and predicted types, those with the most gold spans first: recall, precision and type accuracy.

    ``gold`` counts gold spans of the type, ``found`` spans that were predicted as the type. Exact and overlapping spans are those with a
    matching span, by extents only. ``type_acc`` is the share of the overlapped gold spans whose type was predicted as well. A share is
    None where the denominator is 0.
    """
    scores: list[dict[str, Any]] = []
    for name, row in sorted(table.by_type.items(), key=lambda item: (-item[1][0], item[0])):
        of = {column: int(number) for column, number in zip(_SPANS, row, strict=False)}
        shares = {
            "exact_recall": ("gold_exact", "gold"),
            "exact_precision": ("found_exact", "found"),
            "overlap_recall": ("gold_overlap", "gold"),
            "overlap_precision": ("found_overlap", "found"),
            "type_acc": ("type_right", "gold_overlap"),
        }
        figures = {title: of[part] / of[whole] if of[whole] else None for title, (part, whole) in shares.items()}
        scores.append({"type": name, "gold": of["gold"], "found": of["found"], **figures})
    return scores


def _pair(tested: TestedRecord) -> Pair:
    """Return the documents of a record; in the found one, what was judged stands after what was detected."""
    record, where = tested.record, f"line {tested.record.line}"
    golds = [_mention(record.context, one.start, one.end, one.entity_type, one.relevance) for one in record.spans]
    founds = [_mention(record.context, *span) for span in tested.found]
    judged = [
        replace(gold, relevance=said, annotator=JUDGE)
        for gold, (_, said) in zip((one for one in golds if one.relevance is not None), tested.judged, strict=False)
    ]
    return Pair(
        gold=AnnotatedDocument(where=where, mentions=tuple(golds)), found=AnnotatedDocument(where=where, mentions=(*founds, *judged))
    )


def _mention(context: str, start: int, end: int, entity_type: str, relevance: Relevance | None = None) -> AnnotatedMention:
    return AnnotatedMention(text=context[start:end], entity_type=entity_type, start=start, end=end, relevance=relevance)
