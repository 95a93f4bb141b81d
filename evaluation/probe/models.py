"""The probe's two models, with the settings of the fixed protocol: a CRF that finds spans, a regression that judges relevance.

The CRF is a linear chain over tokens with BIO labels per type. The relevance model is a logistic regression on the type,
the question's words and their overlap with the span's sentence. It is applied to gold spans, so that its figures do not
depend on what the CRF finds. Importing this module needs the extra ``probe``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from piiloom.corpus.record import Relevance
from piiloom.evaluation.probe.data import ProbeRecord
from piiloom.evaluation.probe.features import Features, FoundSpan, bio_labels, relevance_features, spans_of, token_features, tokenise
from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install

try:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn_crfsuite import CRF
    from sklearn_crfsuite.trainer import LinePerIterationTrainer
    from threadpoolctl import threadpool_limits
except ImportError as error:
    raise UsageError("a probe needs scikit-learn and sklearn-crfsuite", remedy=f"Install them: {how_to_install('probe')}") from error

MAX_ITERATIONS = 80

OnIteration = Callable[[int], None]


class SpanDetector:
    """A CRF trained on the spans of *records*; *on_iteration* is called with the number (from 1) of each finished training iteration."""

    def __init__(self, records: Sequence[ProbeRecord], on_iteration: OnIteration) -> None:
        self._crf = CRF(algorithm="lbfgs", c1=0.05, c2=0.05, max_iterations=MAX_ITERATIONS, trainer_cls=_watched_trainer(on_iteration))
        tokens = [tokenise(record.context) for record in records]
        # A generator, since the features of all tokens would take gigabytes as Python objects.
        features = (token_features(of_record) for of_record in tokens)
        labels = (bio_labels(of_record, record.spans) for of_record, record in zip(tokens, records, strict=True))
        self._crf.fit(features, labels)

    def find(self, context: str) -> tuple[FoundSpan, ...]:
        """Return the spans in *context*, in order and disjoint."""
        tokens = tokenise(context)
        return tuple(spans_of(tokens, self._crf.predict_single(token_features(tokens))))


class RelevanceJudge:
    """A logistic regression trained on the judged spans of *records*, which must include both relevances."""

    def __init__(self, records: Sequence[ProbeRecord]) -> None:
        # Balanced class weights; otherwise "low" would often be the best guess.
        regression = LogisticRegression(max_iter=500, C=0.5, class_weight="balanced")
        self._pipeline = make_pipeline(DictVectorizer(), regression)
        judged = [(row, int(relevance == "high")) for record in records for row, relevance in _judged(record)]
        # On sparse rows a second thread of BLAS only spins.
        with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):
            warnings.simplefilter("ignore", ConvergenceWarning)  # stopping after 500 iterations is part of the protocol
            self._pipeline.fit([row for row, _ in judged], [high for _, high in judged])

    def judge(self, record: ProbeRecord) -> list[tuple[Relevance, Relevance]]:
        """Return the (gold, predicted) relevance of each judged gold span, in span order."""
        judged = list(_judged(record))
        if not judged:
            return []
        answers = self._pipeline.predict([row for row, _ in judged])
        return [(relevance, "high" if high else "low") for (_, relevance), high in zip(judged, answers, strict=True)]


def _judged(record: ProbeRecord) -> Iterator[tuple[Features, Relevance]]:
    for span in record.spans:
        if span.relevance is not None:
            yield relevance_features(record.context, record.question, span), span.relevance


def _watched_trainer(on_iteration: OnIteration) -> type[Any]:
    class WatchedTrainer(LinePerIterationTrainer):  # type: ignore[misc] # the package has no types
        """A trainer that reports progress to ``on_iteration`` (its base class prints it)."""

        def message(self, message: str) -> None:
            before = len(self.logparser.iterations)
            super().message(message)
            if len(self.logparser.iterations) > before:
                on_iteration(before + 1)

    return WatchedTrainer
