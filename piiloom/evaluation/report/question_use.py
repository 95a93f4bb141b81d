"""How much the question helps to predict relevance on unseen stories; and figures about contrast groups.

Two logistic regressions predict relevance from a span's type, subtype and place; the second one also gets the question's words,
each combined with type and subtype. They are scored by five-fold cross-validation in which texts of one story stay together. The more
the second is better, the more a data set teaches a detector to read the question. Needs scikit-learn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.record import Record, Span
from piiloom.evaluation.report.leaks import judged_words

_FOLDS = 5
_PLACES = 4
Features = dict[str, float]


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


def _of_span(record: Record, place: int, span: Span) -> Features:
    part = _PLACES * place // len(record.spans)
    return {f"type {span.entity_type}": 1.0, f"subtype {span.subtype}": 1.0, f"place {part}": 1.0, f"{span.entity_type} at {part}": 1.0}


def _of_question(record: Record, span: Span) -> Features:
    asked = judged_words(record.question or "")
    overlap = {"in the question": 1.0} if not asked.isdisjoint(judged_words(span.text_in(record.context))) else {}
    return overlap | {f"{span.entity_type} asked {word}": 1.0 for word in asked} | {f"{span.subtype} asked {word}": 1.0 for word in asked}


def _left_out(rows: Sequence[Features], labels: Sequence[int], groups: Sequence[str]) -> float | None:
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
