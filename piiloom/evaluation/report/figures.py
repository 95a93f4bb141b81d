"""All figures of a report as a tree of frozen dataclasses; ``to_json`` gives the content of ``report.json``.

Shares are fractions of 1. The definitions are those used to measure published sets (the quality bars of the design), so
that figures can be compared.

**Guessability**: a detector can learn a shortcut instead of the task, so figures near .5 are good. Each predictor knows one feature (key)
of a span. For each key it predicts the label of which it holds the larger share of all spans with that label; the figure is the balanced
accuracy on the same spans. In-sample figures exceed .5 by chance, more so with many keys and few spans; ``shuffled`` is what the same
predictor reaches with randomly permuted labels.

**Use of the question**: two logistic regressions predict relevance from a span's type, subtype and place; the second one also gets the
question's words, each combined with type and subtype. They are scored by five-fold cross-validation in which texts of one story stay
together. The more the second is better, the more a data set teaches a detector to read the question. Needs scikit-learn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.formats.base import Json
from piiloom.corpus.normalising import value_form
from piiloom.corpus.record import TEST, TRAIN, Record, Span
from piiloom.corpus.releases.leakage import measure_leakage
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
from piiloom.evaluation.report.wording import Lengths, TextFigures, WordedTexts, measure_lengths, measure_texts
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import derive_seed
from piiloom.foundation.words import whole_word, words
from piiloom.taxonomy.entity_types import Taxonomy

# Deliberately shorter than ``piiloom.foundation.words.STOP_WORDS``, which the screening gates use: a word that a gate ignores as a
# function word is still counted here.
_STOP_WORDS = frozenset(
    "a an the of in on at to for with and or but my your his her their our i me we you he she it they is am are was were be been "
    "do does did have has had this that these those as by from about into over after before so not no if than then how what when "
    "where why who which can could should would will may might must more most some any s t m re ve ll d".split()
)
# A value of one or two characters ("A", "NY") may occur in a question by chance.
_SHORTEST_VALUE = 3
CHANCE = 0.5
_SHUFFLES = 20
_PLACES = 10
_FOLDS = 5
_PARTS = 4
FeatureRow = dict[str, float]
_PREDICTORS = ("type", "position", "word_overlap", "type_and_position", "story_and_slot")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLeaks:
    """Numbers and shares of questions that hold a full value, and that share a content word with a high value."""

    questions: int
    holding_value: int
    holding_value_share: float | None
    sharing_word: int
    sharing_word_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitLeaks:
    """Shares of the test split that occur in train: distinct values, and near-duplicates of contexts and questions."""

    values_share: float | None
    contexts_share: float | None
    questions_share: float | None


def judged_words(text: str) -> frozenset[str]:
    """The lower-cased words of *text* that are not function words."""
    return frozenset(word.lower() for word in words(text)) - _STOP_WORDS


def measure_question_leaks(records: Iterable[Record]) -> QuestionLeaks:
    """Measure the leaks in the questions of *records*; records without a question are skipped."""
    asked = [record for record in records if record.question is not None]
    holding, sharing = sum(map(_holds_value, asked)), sum(map(_shares_word, asked))
    return QuestionLeaks(
        questions=len(asked),
        holding_value=holding,
        holding_value_share=holding / len(asked) if asked else None,
        sharing_word=sharing,
        sharing_word_share=sharing / len(asked) if asked else None,
    )


def measure_split_leaks(train: Sequence[Record], test: Sequence[Record], taxonomy: Taxonomy) -> SplitLeaks:
    """Measure how much of *test* occurs in *train*."""
    leakage = measure_leakage({TRAIN: train, TEST: test}, taxonomy).splits[TEST]
    return SplitLeaks(
        values_share=leakage.values.share,
        contexts_share=leakage.contexts_near.share,
        questions_share=leakage.questions_near.share,
    )


def questions_of(records: Iterable[Record]) -> list[str]:
    """Return the questions of all *records* that have one."""
    return [record.question for record in records if record.question is not None]


def _holds_value(record: Record) -> bool:
    question = value_form("", record.question or "")
    values = {value_form("", span.text_in(record.context)) for span in record.spans if span.end - span.start >= _SHORTEST_VALUE}
    return any(value in question and whole_word(value).search(question) for value in values - {""})


def _shares_word(record: Record) -> bool:
    asked = judged_words(record.question or "")
    return any(span.relevance == "high" and not asked.isdisjoint(judged_words(span.text_in(record.context))) for span in record.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """Balanced accuracy of one predictor, and its mean over shuffled labels; both None if only one label occurs."""

    accuracy: float | None
    shuffled: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guessability:
    """How well relevance is guessed from each feature; ``spans`` counts the spans with a relevance.

    ``story_and_slot``: guessed from the story or scenario, type and subtype, for records that were planned on a story or scenario.
    """

    spans: int
    type: Guess
    position: Guess
    word_overlap: Guess
    type_and_position: Guess
    story_and_slot: Guess


def measure_guessability(records: Iterable[Record], *, seed: int) -> Guessability:
    """Measure all predictors; *seed* determines the shuffled labels."""
    clues = [clue for record in records for clue in _clues(record)]
    guesses = {name: _guess([(keys[name], high) for high, keys in clues if keys[name] is not None], seed) for name in _PREDICTORS}
    return Guessability(spans=len(clues), **guesses)


def balanced_accuracy(keys: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """In-sample balanced accuracy of the best guess of *labels* (0 or 1, both occur) from *keys* (numbers from 0)."""
    counts = np.stack([np.bincount(keys[labels == label], minlength=int(keys.max()) + 1) for label in (0, 1)])
    # For each key, predicting a class adds the key's share of that class to its recall; so take the larger share.
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(shares.max(axis=0).sum() / 2)


def _clues(record: Record) -> Iterator[tuple[bool, dict[str, object]]]:
    """Yield for each judged span whether it is high, and its keys by predictor. Places are tenths of the record's spans, in text order."""
    asked = judged_words(record.question or "")
    total, story = len(record.spans), record.plan.scenario if record.plan else None
    for number, span in enumerate(record.spans):
        if span.relevance is not None:
            place = min(_PLACES - 1, _PLACES * number // total)
            yield (
                span.relevance == "high",
                {
                    "type": span.entity_type,
                    "position": place,
                    "word_overlap": not asked.isdisjoint(judged_words(span.text_in(record.context))),
                    "type_and_position": (span.entity_type, place),
                    "story_and_slot": (story, span.entity_type, span.subtype or "") if story else None,
                },
            )


def _guess(known: Sequence[tuple[object, bool]], seed: int) -> Guess:
    """Measure the guess of labels from the keys beside them."""
    labels = np.array([high for _, high in known], dtype=np.int64)
    if len(set(labels.tolist())) < 2:
        return Guess(accuracy=None, shuffled=None)
    _, keys = np.unique([str(key) for key, _ in known], return_inverse=True)
    order = np.lexsort((labels, keys))  # so that the shuffles do not depend on the order of records
    keys, labels = keys[order], labels[order]
    rng = np.random.default_rng(derive_seed(seed, "guessability"))
    shuffled = [balanced_accuracy(keys, rng.permutation(labels)) for _ in range(_SHUFFLES)]
    return Guess(accuracy=balanced_accuracy(keys, labels), shuffled=float(np.mean(shuffled)))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionUse:
    """Cross-validated balanced accuracy without (``blind``) and with the question (``aware``), and figures of contrast groups.

    The accuracies are None with too few groups, one label only, or without scikit-learn. ``grouped_share``: share of records whose text
    has another question, too. ``turning_share``: of the values of such texts, the share that is high for one question and low for
    another.
    """

    blind: float | None
    aware: float | None
    grouped_share: float
    turning_share: float | None


def measure_question_use(records: Sequence[Record]) -> QuestionUse:
    """Measure both predictors and the contrast groups of *records* (at least one)."""
    texts = defaultdict(list)
    for record in records:
        texts[record.context].append(record)
    several = [group for group in texts.values() if len({record.question for record in group}) > 1]
    turning = [turns for group in several for turns in _turning(group)]
    blind, aware = _accuracies(records)
    return QuestionUse(
        blind=blind,
        aware=aware,
        grouped_share=sum(map(len, several)) / len(records),
        turning_share=sum(turning) / len(turning) if turning else None,
    )


def _turning(group: Iterable[Record]) -> Iterator[bool]:
    """Yield for each judged span of a text with several questions whether it is high for one and low for another."""
    labels = defaultdict(set)
    for record in group:
        for span in record.spans:
            if span.relevance is not None:
                labels[span.start, span.end].add(span.relevance)
    return (len(found) > 1 for found in labels.values())


def _accuracies(records: Sequence[Record]) -> tuple[float | None, float | None]:
    ordered = sorted(records, key=lambda record: (record.context, record.question or ""))  # so that any order gives the same folds
    judged = [(record, place, span) for record in ordered for place, span in enumerate(record.spans) if span.relevance is not None]
    groups = [_group(record) for record, _, _ in judged]
    labels = [int(span.relevance == "high") for _, _, span in judged]
    if len(set(groups)) < 2 * _FOLDS or len(set(labels)) < 2:
        return None, None
    blind = [_of_span(record, place, span) for record, place, span in judged]
    aware = [row | _of_question(record, span) for row, (record, _, span) in zip(blind, judged, strict=True)]
    return _left_out(blind, labels, groups), _left_out(aware, labels, groups)


def _group(record: Record) -> str:
    return record.group_keys[0] if record.group_keys else record.context


def _of_span(record: Record, place: int, span: Span) -> FeatureRow:
    part = _PARTS * place // len(record.spans)
    return {f"type {span.entity_type}": 1.0, f"subtype {span.subtype}": 1.0, f"place {part}": 1.0, f"{span.entity_type} at {part}": 1.0}


def _of_question(record: Record, span: Span) -> FeatureRow:
    asked = judged_words(record.question or "")
    overlap = {"in the question": 1.0} if not asked.isdisjoint(judged_words(span.text_in(record.context))) else {}
    return overlap | {f"{span.entity_type} asked {word}": 1.0 for word in asked} | {f"{span.subtype} asked {word}": 1.0 for word in asked}


def _left_out(rows: Sequence[FeatureRow], labels: Sequence[int], groups: Sequence[str]) -> float | None:
    try:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import balanced_accuracy_score
        from sklearn.model_selection import GroupKFold, cross_val_predict
        from sklearn.pipeline import make_pipeline
        from threadpoolctl import threadpool_limits
    except ImportError:
        return None
    model: Any = make_pipeline(DictVectorizer(), LogisticRegression(max_iter=1000, C=0.5, class_weight="balanced"))
    with threadpool_limits(limits=1, user_api="blas"):  # on sparse rows a second thread of BLAS only spins: 16 CPU seconds, or 10
        found = cross_val_predict(model, rows, labels, groups=groups, cv=GroupKFold(_FOLDS))
    return float(balanced_accuracy_score(labels, found))


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
