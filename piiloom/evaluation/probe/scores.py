"""Match predicted spans to the gold spans of a record, classify the errors, and compute the probe's figures from counts per record.

All definitions are those of the shared probe tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from piiloom.corpus.record import Relevance
from piiloom.evaluation.inputs.documents import Document, Mention, Needs, Pair
from piiloom.evaluation.probe.data import ProbeRecord
from piiloom.evaluation.schemes.pair_counts import PAIR_COUNTS, pair_counts
from piiloom.evaluation.schemes.precision_recall import share
from piiloom.evaluation.scoring.counts import CountTable
from piiloom.evaluation.scoring.resampling import Interval
from piiloom.foundation.seeding import derive_seed
from piiloom.tagging.examples import GoldSpan
from piiloom.tagging.features import FoundSpan

if TYPE_CHECKING:
    from numpy.typing import NDArray

ErrorKind = Literal["missed", "spurious", "wrong_type", "wrong_extent"]
Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A record and the spans that were found in it.

    ``pairs``: (index in ``record.spans``, index in ``found``) of overlapping spans, each span in one pair at most. ``judged``: (gold,
    predicted) relevance of the gold spans that have a relevance.
    """

    record: ProbeRecord
    found: tuple[FoundSpan, ...]
    pairs: tuple[tuple[int, int], ...]
    judged: tuple[tuple[Relevance, Relevance], ...]

    def matches(self) -> Iterator[tuple[GoldSpan, FoundSpan]]:
        """Yield the (gold, found) spans of the pairs."""
        return ((self.record.spans[gold], self.found[found]) for gold, found in self.pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanError:
    """A gold span that was not found exactly, or a found span that is not a gold span; ``kind`` says which."""

    kind: ErrorKind
    gold: GoldSpan | None
    found: FoundSpan | None


def compare(record: ProbeRecord, found: Sequence[FoundSpan], judged: Sequence[tuple[Relevance, Relevance]]) -> Comparison:
    """Pair the spans of a record by ``pairs_in_order``."""
    pairs = pairs_in_order([(gold.start, gold.end) for gold in record.spans], [(span.start, span.end) for span in found])
    return Comparison(record=record, found=tuple(found), pairs=tuple(pairs), judged=tuple(judged))


def pairs_in_order(golds: Sequence[tuple[int, int]], founds: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pair each found place, in order, with the first gold place that it overlaps and that is not paired yet.

    Return (index in *golds*, index in *founds*) of the pairs.
    """
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    for position, (start, end) in enumerate(founds):
        for number, (gold_start, gold_end) in enumerate(golds):
            if number not in taken and start < gold_end and gold_start < end:
                taken.add(number)
                pairs.append((number, position))
                break
    return pairs


def same_extent(gold: GoldSpan, found: FoundSpan) -> bool:
    """Whether both are the same characters."""
    return (gold.start, gold.end) == (found.start, found.end)


def span_errors(comparison: Comparison) -> list[SpanError]:
    """Return the errors of one record in text order. A pair with different types is ``wrong_type``, whatever its extents."""
    errors: list[SpanError] = []
    for gold, found in comparison.matches():
        if gold.entity_type != found.entity_type:
            errors.append(SpanError(kind="wrong_type", gold=gold, found=found))
        elif not same_extent(gold, found):
            errors.append(SpanError(kind="wrong_extent", gold=gold, found=found))
    paired_gold, paired_found = {gold for gold, _ in comparison.pairs}, {found for _, found in comparison.pairs}
    for number, gold in enumerate(comparison.record.spans):
        if number not in paired_gold:
            errors.append(SpanError(kind="missed", gold=gold, found=None))
    for number, found in enumerate(comparison.found):
        if number not in paired_found:
            errors.append(SpanError(kind="spurious", gold=None, found=found))
    return sorted(errors, key=_place)


def _place(error: SpanError) -> tuple[int, int]:
    spans = [span for span in (error.gold, error.found) if span is not None]
    return min(span.start for span in spans), min(span.end for span in spans)


def error_rows(file: str, comparisons: Sequence[Comparison]) -> Iterator[Json]:
    """Yield the errors of all records of *file* as JSON objects. They hold the texts of the spans, that is, text of the corpus."""
    for number, comparison in enumerate(comparisons, start=1):
        record = comparison.record
        for error in span_errors(comparison):
            gold, found = (_described(span, record.context) for span in (error.gold, error.found))
            yield {"file": file, "record": number, "line": record.line, "kind": error.kind, "gold": gold, "predicted": found}


def _described(span: GoldSpan | FoundSpan | None, context: str) -> Json | None:
    if span is None:
        return None
    return {"start": span.start, "end": span.end, "type": span.entity_type, "text": context[span.start : span.end]}


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
SPAN_COLUMNS = tuple(_SPANS)
_SPANS_AT = [PAIR_COUNTS.index(name) for name in _SPANS.values()]
_RELEVANCES_AT = [PAIR_COUNTS.index(name) for name in _RELEVANCES.values()]


class ProbeScheme:
    """Spans are paired by ``pairs_in_order`` and compared by extents only; the relevance of gold mentions is as judged, found or not.

    ``type_acc`` is the share of overlapping pairs with the right type.
    """

    name = "probe"
    needs: Needs = "places"
    columns = (*_SPANS, *_RELEVANCES)
    headline = ("span_f1_exact", "span_f1_overlap", "rel_balanced")

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
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
        at = {name: totals[..., number] for number, name in enumerate(self.columns)}
        return {
            "span_f1_exact": share(2 * at["gold_exact"], at["found"] + at["gold"]),
            "span_f1_overlap": share(2 * at["gold_overlap"], at["found"] + at["gold"]),
            "type_acc": share(at["type_right"], at["gold_overlap"]),
            "rel_acc": share(at["high_right"] + at["low_right"], at["high"] + at["low"]),
            "rel_balanced": (share(at["high_right"], at["high"]) + share(at["low_right"], at["low"])) / 2,
        }


def _places(mentions: Sequence[Mention]) -> list[tuple[int, int]]:
    return [one.place for one in mentions if one.place is not None]


def _counts(gold: Document, found: Sequence[Mention], pairs: Sequence[tuple[Mention, Mention]]) -> dict[str, list[float]]:
    alike = [(one, other, 1.0) for one, other in pairs]
    return pair_counts(gold.mentions, found, alike)


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
