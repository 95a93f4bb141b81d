"""Records as the page shows them: the text in pieces, marked values with type and relevance in words, and why they have these labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.judgements import JudgementRow
from piiloom.evaluation.pages.cells import LABEL, short, visible
from piiloom.evaluation.report.samples import Sampled

# Longer texts are cut where they are shown, so that the page stays small.
LONGEST = 3000
_RELEVANCE = {"high": "high", "low": "low", None: "not judged"}
_KINDS = {"high": "high", "low": "low", None: "unjudged"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a text; for a marked value ``kind`` is the class of its mark, and ``label`` names type and relevance.

    ``turns``: the value has another relevance for another question on the same text.
    """

    text: str
    kind: str = ""
    label: str = ""
    turns: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a judge said about a value."""

    kind: str
    verdict: str
    score: str
    agrees: bool
    reason: str
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRow:
    """A marked value with all that is known about it."""

    value: str
    type: str
    subtype: str
    relevance: str
    subject: str
    judged: tuple[Judged, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRecord:
    """A record ready to be shown. ``cut``: characters of its text that are left out. ``facts``: (name, value) of its plan.

    ``judged``: a judge said something about one of its values.
    """

    id: str
    split: str
    question: str | None
    pieces: tuple[Piece, ...]
    cut: int
    rationale: str | None
    facts: tuple[tuple[str, str], ...]
    values: tuple[ValueRow, ...]
    judged: bool


def shown_family(family: Sequence[Sampled], reasons: Mapping[str, Sequence[JudgementRow]]) -> tuple[ShownRecord, ...]:
    """Return the records of one text, ready to be shown."""
    labels = defaultdict(set)
    for each in family:
        for span in each.record.spans:
            labels[span.start, span.end].add(span.relevance)
    turning = {place for place, found in labels.items() if len(found) > 1}
    return tuple(_shown(each, turning, reasons.get(each.record.id, ())) for each in family)


def shown_spans(record: Record) -> list[Span]:
    """Return the spans within the first ``LONGEST`` code points of the text."""
    return [span for span in record.spans if span.end <= LONGEST]


def _shown(each: Sampled, turning: set[tuple[int, int]], judgements: Sequence[JudgementRow]) -> ShownRecord:
    record, plan = each.record, each.record.plan
    facts: list[tuple[str, str | None]] = [("locale", record.locale)]
    if plan is not None:
        facts = [("pair", " + ".join(plan.pair)), ("topic", plan.topic), ("subtopic", plan.subtopic), ("story", plan.scenario)]
        facts += [("register", plan.register), ("cues", plan.cue_level), ("locale", record.locale)]
    by_value = defaultdict(list)
    for row in judgements:
        by_value[row.judgement.value_id].append(row)
        by_value[row.judgement.span_id].append(row)
    values = tuple(_value_row(record, span, by_value) for span in shown_spans(record))
    return ShownRecord(
        id=visible(record.id),
        split=each.split,
        question=None if record.question is None else visible(record.question),
        pieces=tuple(_pieces(record, turning)),
        cut=max(0, len(record.context) - LONGEST),
        rationale=visible(plan.rationale) if plan is not None and plan.rationale else None,
        facts=tuple((name, visible(value)) for name, value in facts if value),
        values=values,
        judged=any(row.judged for row in values),
    )


def _pieces(record: Record, turning: set[tuple[int, int]]) -> list[Piece]:
    text, at = visible(record.context[:LONGEST]), 0
    found: list[Piece] = []
    for span in shown_spans(record):
        if span.start > at:
            found.append(Piece(text=text[at : span.start]))
        label = f"{short(visible(span.entity_type), LABEL)} · {_RELEVANCE[span.relevance]}"
        turns = (span.start, span.end) in turning
        found.append(Piece(text=text[span.start : span.end], kind=_KINDS[span.relevance], label=label, turns=turns))
        at = span.end
    if at < len(text):
        found.append(Piece(text=text[at:]))
    return found


def _value_row(record: Record, span: Span, judgements: Mapping[str, Sequence[JudgementRow]]) -> ValueRow:
    rows = judgements.get(span.id, ()) or (judgements.get(span.value_id, ()) if span.value_id else ())
    return ValueRow(
        value=visible(span.text_in(record.context)),
        type=visible(span.entity_type),
        subtype=visible(span.subtype or ""),
        relevance=_RELEVANCE[span.relevance],
        subject=visible(span.subject or ""),
        judged=tuple(_judged(row) for row in rows),
    )


def _judged(row: JudgementRow) -> Judged:
    said = row.judgement
    judge = said.model or said.provider or "a judge"
    return Judged(
        kind=said.kind,
        verdict=visible(said.verdict),
        score=f"{said.score:.2f}",
        agrees=said.agrees,
        reason=visible(said.reason),
        judge=visible(judge),
    )
