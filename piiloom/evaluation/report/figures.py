"""All figures of a report as a tree of frozen dataclasses; ``to_json`` gives the content of ``report.json``.

Shares are fractions of 1. The definitions are those used to measure published sets (the quality bars of the design), so
that figures can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from piiloom.corpus.formats.base import Json
from piiloom.corpus.record import TEST, TRAIN, Record
from piiloom.evaluation.report.counts import (
    CardFigures,
    PlanFigures,
    SpanPlaces,
    TypeFigures,
    VarietyFigures,
    first_of_texts,
    measure_cards,
    measure_places,
    measure_plan,
    measure_types,
    measure_variety,
)
from piiloom.evaluation.report.guessing import (
    Guessability,
    QuestionLeaks,
    QuestionUse,
    SplitLeaks,
    measure_guessability,
    measure_question_leaks,
    measure_question_use,
    measure_split_leaks,
    questions_of,
)
from piiloom.evaluation.report.wording import Lengths, TextFigures, WordedTexts, measure_lengths, measure_texts
from piiloom.foundation.noop import noop
from piiloom.taxonomy.entity_types import Taxonomy

SCHEMA = 1
DEFAULT_SEED = 7
StepWatch = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFigures:
    """Counts of records and spans; the shares are of records (``high_first_share``: of those with both labels)."""

    records: int
    spans: int
    high: int
    low: int
    unjudged: int
    without_pii: int
    without_pii_share: float
    exactly_two_high_share: float
    type_high_and_low_share: float
    high_first_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFigures:
    """The main figures of one split."""

    split: str
    counts: RecordFigures
    lengths: Lengths
    guessability: Guessability


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFigures:
    """All figures. ``splits`` is filled if there are several splits, ``split_leaks`` if there are a train and a test split."""

    counts: RecordFigures
    contexts: TextFigures
    questions: TextFigures | None
    types: tuple[TypeFigures, ...]
    places: SpanPlaces
    guessability: Guessability
    question_use: QuestionUse
    question_leaks: QuestionLeaks
    splits: tuple[SplitFigures, ...]
    split_leaks: SplitLeaks | None
    cards: CardFigures
    plan: PlanFigures
    variety: VarietyFigures
    seed: int

    def to_json(self) -> Json:
        """Return the tree as JSON values, with floats rounded to six places."""
        rounded = _rounded(asdict(self))
        return {"schema": SCHEMA, **(rounded if isinstance(rounded, dict) else {})}


def measure(
    splits: Mapping[str, Sequence[Record]], taxonomy: Taxonomy, *, seed: int = DEFAULT_SEED, watch: StepWatch = noop
) -> ReportFigures:
    """Measure the records of all *splits* together, and each split briefly; there must be at least one record.

    *watch* is called with the next step. 10,000 records of 75 words take about 20 s, half of it for near-duplicates.
    """
    records = [record for split in splits.values() for record in split]
    watch("values and relevance")
    types, cards, plan = measure_types(records, taxonomy), measure_cards(records), measure_plan(records, taxonomy)
    guessability, leaks = measure_guessability(records, seed=seed), measure_question_leaks(records)
    watch("what the question is worth")
    use = measure_question_use(records)
    watch("contexts: n-grams, self-BLEU, near-duplicates")
    contexts = measure_texts(contexts_of(records), seed=seed)
    watch("questions: n-grams, self-BLEU, near-duplicates")
    asked = questions_of(records)
    questions = measure_texts(asked, seed=seed) if asked else None
    watch("splits")
    parted = len(splits) > 1
    return ReportFigures(
        counts=record_figures(records),
        contexts=contexts,
        questions=questions,
        types=types,
        places=measure_places(records, taxonomy),
        guessability=guessability,
        question_use=use,
        question_leaks=leaks,
        splits=tuple(_split_figures(name, split, seed) for name, split in splits.items()) if parted else (),
        split_leaks=measure_split_leaks(splits[TRAIN], splits[TEST], taxonomy) if TRAIN in splits and TEST in splits else None,
        cards=cards,
        plan=plan,
        variety=measure_variety(records),
        seed=seed,
    )


def record_figures(records: Sequence[Record]) -> RecordFigures:
    """Count records (at least one), spans, and how relevance is distributed within records."""
    labels = [[span.relevance == "high" for span in record.spans] for record in records]
    relevance = [span.relevance for record in records for span in record.spans]
    mixed = [row for row in labels if 0 < sum(row) < len(row)]
    bare = sum(not row for row in labels)
    return RecordFigures(
        records=len(records),
        spans=len(relevance),
        high=relevance.count("high"),
        low=relevance.count("low"),
        unjudged=relevance.count(None),
        without_pii=bare,
        without_pii_share=bare / len(records),
        exactly_two_high_share=sum(sum(row) == 2 for row in labels) / len(records),
        type_high_and_low_share=sum(map(_has_type_of_both, records)) / len(records),
        high_first_share=sum(row == sorted(row, reverse=True) for row in mixed) / len(mixed) if mixed else None,
    )


def contexts_of(records: Iterable[Record]) -> list[str]:
    """Return the contexts of *records*; a context shared by a contrast group is listed once."""
    return [record.context for record in first_of_texts(records)]


def _has_type_of_both(record: Record) -> bool:
    high, low = ({span.entity_type for span in record.spans if span.relevance == label} for label in ("high", "low"))
    return not high.isdisjoint(low)


def _split_figures(name: str, records: Sequence[Record], seed: int) -> SplitFigures:
    return SplitFigures(
        split=name,
        counts=record_figures(records),
        lengths=measure_lengths(WordedTexts.of(contexts_of(records))),
        guessability=measure_guessability(records, seed=seed),
    )


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value
