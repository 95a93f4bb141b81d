"""How well an encoder does on the validation records, and how sure it may be. Needs the extra ``train``, but no PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from piiloom.corpus.record import Record, Relevance
from piiloom.detection.detector import DetectorText
from piiloom.detection.encoder.decoding import Decoded, decode
from piiloom.detection.encoder.examples import span_tokens, token_tags
from piiloom.detection.encoder.text_reading import EncoderReader, EncoderReading, RelevanceHead
from piiloom.tagging.calibrating import ScoredAnswer, fit_calibration
from piiloom.tagging.calibration import Calibration, expected_error, log_odds_of, reliability

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Added to the log-odds of being outside of all spans.
_BIASES: Final = tuple(step / 4 for step in range(-8, 17))


@dataclass(slots=True)
class _Counts:
    found: int = 0
    gold: int = 0
    exact: int = 0
    typed: int = 0
    found_hit: int = 0
    gold_hit: int = 0
    answers: list[ScoredAnswer] = field(default_factory=list)
    # (gold, said) of each judged span; and by mention of a contrast group, which of its judgements are right by label.
    judged: list[tuple[Relevance, Relevance]] = field(default_factory=list)
    contrasts: dict[tuple[str, int, int], dict[str, bool]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult:
    """What came of a validation: figures ("score" is what early stopping looks at), and how the detector is to be set.

    ``calibration`` is None if there is too little for one. ``outside_bias`` is the one with the best F1.
    """

    figures: dict[str, float]
    calibration: Calibration | None = None
    outside_bias: float = 0.0


class Validator:
    """Measures on *records*. ``hide``: what every question is replaced by, for the ablation."""

    def __init__(self, records: Sequence[Record], types: Sequence[str], *, hide: str | None = None) -> None:
        self._records, self._types = records, types
        self._texts = [DetectorText(one.context, one.locale, hide if hide and one.question else one.question) for one in records]

    def measure(self, reader: EncoderReader, head: RelevanceHead | None, *, outside_bias: float | None = None) -> ValidationResult:
        """Measure with *outside_bias*, or with the one that is found to be best."""
        counts = _Counts()
        read: list[tuple[Record, list[tuple[int, int]], NDArray[np.float16]]] = []

        def take(number: int, reading: EncoderReading) -> None:
            record = self._records[number]
            read.append((record, reading.tokens.offsets, reading.logits.astype(np.float16)))
            if head is not None and record.question:
                self._judge(record, reading, head, counts)

        reader.read(self._texts, take)
        bias = self._best_bias(read) if outside_bias is None else outside_bias
        self._count_all(read, bias, counts)
        calibration = fit_calibration(counts.answers)
        return ValidationResult(figures=_figures(counts, calibration), calibration=calibration, outside_bias=bias)

    def _best_bias(self, read: Sequence[tuple[Record, list[tuple[int, int]], NDArray[np.float16]]]) -> float:
        """Return the bias with which most spans are right; of equal ones that nearest to none."""
        scores: dict[float, float] = {}
        for bias in sorted(_BIASES, key=abs):
            counts = _Counts()
            self._count_all(read, bias, counts)
            scores[bias] = _f1(counts.typed, counts.typed, counts.found, counts.gold)
        return max(scores, key=lambda bias: scores[bias])

    def _count_all(self, read: Sequence[tuple[Record, list[tuple[int, int]], NDArray[np.float16]]], bias: float, counts: _Counts) -> None:
        for record, offsets, logits in read:
            self._count(record, decode(record.context, offsets, logits, outside_bias=bias), counts)

    def _count(self, record: Record, found: Sequence[Decoded], counts: _Counts) -> None:
        gold = {(span.start, span.end): span.entity_type for span in record.spans}
        counts.found += len(found)
        counts.gold += len(gold)
        for one in found:
            known = gold.get((one.start, one.end))
            right = known == self._types[one.type_number]
            counts.exact += known is not None
            counts.typed += right
            counts.found_hit += any(one.start < end and one.end > start for start, end in gold)
            counts.answers.append(ScoredAnswer(log_odds_of(one.confidence), right))
        counts.gold_hit += sum(any(start < one.end and end > one.start for one in found) for start, end in gold)

    def _judge(self, record: Record, reading: EncoderReading, head: RelevanceHead, counts: _Counts) -> None:
        numbers = {span.entity_type: 0 for span in record.spans}
        owners = token_tags(reading.tokens.offsets, record.spans, numbers)[1]
        judged = [
            (span, span.relevance, place)
            for span, place in zip(record.spans, span_tokens(owners, len(record.spans)), strict=True)
            if span.relevance is not None and place is not None
        ]
        for (span, gold, _), said in zip(judged, reading.relevance(head, [place for _, _, place in judged]), strict=True):
            if said is None:
                continue
            counts.judged.append((gold, said))
            if record.contrast_group is not None:
                sides = counts.contrasts.setdefault((record.contrast_group, span.start, span.end), {})
                sides[gold] = sides.get(gold, True) and said == gold


def _figures(counts: _Counts, calibration: Calibration | None) -> dict[str, float]:
    exact, typed = (_f1(hits, hits, counts.found, counts.gold) for hits in (counts.exact, counts.typed))
    figures: dict[str, float] = {
        "span_f1_exact": exact,
        "span_f1_overlap": _f1(counts.found_hit, counts.gold_hit, counts.found, counts.gold),
        "span_f1_typed": typed,
    }
    score = typed
    if counts.judged:
        sides = [[said == side for gold, said in counts.judged if gold == side] for side in ("high", "low")]
        balanced = sum(sum(side) / len(side) if side else 0.0 for side in sides) / 2
        figures["relevance_balanced"] = balanced
        score = (typed + balanced) / 2
    changing = [sides for sides in counts.contrasts.values() if len(sides) == 2]
    if changing:
        figures["contrast_consistent"] = sum(all(sides.values()) for sides in changing) / len(changing)
    said = [(calibration or Calibration()).probability(answer.log_odds) for answer in counts.answers]
    error = expected_error(reliability(said, [answer.right for answer in counts.answers]))
    if error is not None:
        figures["calibration_error"] = error
    return {name: round(value, 6) for name, value in (figures | {"score": score}).items()}


def _f1(found_hits: int, gold_hits: int, found: int, gold: int) -> float:
    precision, recall = found_hits / max(1, found), gold_hits / max(1, gold)
    return 2 * precision * recall / max(1e-9, precision + recall)
