"""Match predicted spans to the gold spans of a record, and classify the errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from piiloom.corpus.record import Relevance
from piiloom.evaluation.probe.data import ProbeRecord
from piiloom.tagging.examples import GoldSpan
from piiloom.tagging.features import FoundSpan

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
