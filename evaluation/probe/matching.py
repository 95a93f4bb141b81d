"""Which predicted span answers which gold span of one record, and how the ones that don't fit are told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from piiloom.corpus.record import Relevance
from piiloom.evaluation.probe.data import ProbeRecord, ProbeSpan
from piiloom.evaluation.probe.features import FoundSpan

ErrorKind = Literal["missed", "spurious", "wrong_type", "wrong_extent"]
Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One record beside what was found in it.

    ``pairs`` are positions in ``record.spans`` and in ``found`` of spans that overlap, each span in one pair at most. ``judged``
    are (gold, predicted) relevance of the gold spans that have one.
    """

    record: ProbeRecord
    found: tuple[FoundSpan, ...]
    pairs: tuple[tuple[int, int], ...]
    judged: tuple[tuple[Relevance, Relevance], ...]

    def matches(self) -> Iterator[tuple[ProbeSpan, FoundSpan]]:
        """The spans of the pairs."""
        return ((self.record.spans[gold], self.found[found]) for gold, found in self.pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanError:
    """A gold span that was not found as it is, or a found span that is no gold span; ``kind`` says which."""

    kind: ErrorKind
    gold: ProbeSpan | None
    found: FoundSpan | None


def compare(record: ProbeRecord, found: Sequence[FoundSpan], judged: Sequence[tuple[Relevance, Relevance]]) -> Comparison:
    """Pair each found span, in order, with the first gold span that it overlaps and that no other has taken."""
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    for position, span in enumerate(found):
        for number, gold in enumerate(record.spans):
            if number not in taken and span.start < gold.end and gold.start < span.end:
                taken.add(number)
                pairs.append((number, position))
                break
    return Comparison(record=record, found=tuple(found), pairs=tuple(pairs), judged=tuple(judged))


def same_extent(gold: ProbeSpan, found: FoundSpan) -> bool:
    """Whether both are the same characters."""
    return (gold.start, gold.end) == (found.start, found.end)


def span_errors(comparison: Comparison) -> list[SpanError]:
    """What is wrong in one record, in text order. A pair with a wrong type is ``wrong_type`` whatever its extents."""
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
    """The errors of all records of *file* as JSON objects, with the texts of the spans: corpus text, for study only."""
    for number, comparison in enumerate(comparisons, start=1):
        record = comparison.record
        for error in span_errors(comparison):
            gold, found = (_described(span, record.context) for span in (error.gold, error.found))
            yield {"file": file, "record": number, "line": record.line, "kind": error.kind, "gold": gold, "predicted": found}


def _described(span: ProbeSpan | FoundSpan | None, context: str) -> Json | None:
    if span is None:
        return None
    return {"start": span.start, "end": span.end, "type": span.entity_type, "text": context[span.start : span.end]}
