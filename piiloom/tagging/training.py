"""Train the two models, with the settings of the probe's fixed protocol: a CRF that finds spans, a regression that judges relevance.

The CRF is a linear chain over tokens with BIO labels per type. The relevance model is a logistic regression on the type, the question's
words and their overlap with the span's sentence. It learns from gold spans. Importing this module needs the extra ``probe``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from piiloom.corpus.record import Relevance
from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.tagging.examples import TaggingExample
from piiloom.tagging.features import WordFeatures, bio_labels, relevance_features, token_features, tokenise
from piiloom.tagging.model import RelevanceModel, SpanFinder

try:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn_crfsuite import CRF
    from sklearn_crfsuite.trainer import LinePerIterationTrainer
    from threadpoolctl import threadpool_limits
except ImportError as error:
    raise UsageError("a probe needs scikit-learn and sklearn-crfsuite", remedy=f"Install them: {how_to_install('probe')}") from error

MAX_ITERATIONS = 80

OnIteration = Callable[[int], None]


def train_spans(examples: Sequence[TaggingExample], on_iteration: OnIteration) -> SpanFinder:
    """Train a CRF on the spans of *examples*; *on_iteration* is called with the number (from 1) of each finished training iteration."""
    crf = CRF(algorithm="lbfgs", c1=0.05, c2=0.05, max_iterations=MAX_ITERATIONS, trainer_cls=_watched_trainer(on_iteration))
    tokens = [tokenise(example.context) for example in examples]
    # A generator, since the features of all tokens would take gigabytes as Python objects.
    features = (token_features(of_example) for of_example in tokens)
    labels = (bio_labels(of_example, example.spans) for of_example, example in zip(tokens, examples, strict=True))
    crf.fit(features, labels)
    with open(crf.modelfile.name, "rb") as fh:  # noqa: PTH123 - a temporary file, which goes with ``crf``
        return SpanFinder(fh.read())


def train_relevance(examples: Sequence[TaggingExample]) -> RelevanceModel:
    """Train a logistic regression on the judged spans of *examples*, which must include both relevances."""
    # Balanced class weights; otherwise "low" would often be the best guess.
    regression = LogisticRegression(max_iter=500, C=0.5, class_weight="balanced")
    vectorizer = DictVectorizer()
    rows, high = [], []
    for example in examples:
        for row, relevance in judged_features(example):
            rows.append(row)
            high.append(int(relevance == "high"))
    # On sparse rows a second thread of BLAS only spins.
    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopping after 500 iterations is part of the protocol
        regression.fit(vectorizer.fit_transform(rows), high)
    weights = dict(zip(vectorizer.feature_names_, map(float, regression.coef_[0]), strict=True))
    return RelevanceModel(weights=weights, intercept=float(regression.intercept_[0]))


def judged_features(example: TaggingExample) -> Iterator[tuple[WordFeatures, Relevance]]:
    """Yield the features of each judged span, and what it was judged."""
    for span in example.spans:
        if span.relevance is not None:
            yield relevance_features(example.context, example.question, span), span.relevance


def _watched_trainer(on_iteration: OnIteration) -> type[Any]:
    class WatchedTrainer(LinePerIterationTrainer):  # type: ignore[misc] # the package has no types
        """A trainer that reports progress to ``on_iteration`` (its base class prints it)."""

        def message(self, message: str) -> None:
            before = len(self.logparser.iterations)
            super().message(message)
            if len(self.logparser.iterations) > before:
                on_iteration(before + 1)

    return WatchedTrainer
