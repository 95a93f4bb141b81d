"""Train the two models, with the settings of the probe's fixed protocol: a CRF that finds spans, a regression that judges relevance.

The CRF is a linear chain over tokens with BIO labels per type. The relevance model is a logistic regression on the type, the question's
words and their overlap with the span's sentence. It learns from gold spans.

Then learn what the scores mean, on texts that the models have not seen. A span's score is to be the probability that it is right: exactly
this extent, and this type. A relevance's is that of "high". Importing this module needs the extra ``probe``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, Final, NamedTuple, TypeVar

from piiloom.corpus.record import Relevance
from piiloom.corpus.releases.grouping import Links
from piiloom.foundation.errors import UsageError, how_to_install
from piiloom.foundation.seeding import derive_rng
from piiloom.tagging.model import (
    Calibration,
    RelevanceModel,
    SpanFinder,
    TaggingExample,
    WordFeatures,
    bio_labels,
    relevance_features,
    reliability_json,
    token_features,
    tokenise,
)

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


# With fewer answers than this, a calibration would be a guess.
LEAST: Final = 15


class ScoredAnswer(NamedTuple):
    """What a model said, as log-odds, and whether it came true."""

    log_odds: float
    right: bool


def fit_calibration(answers: Sequence[ScoredAnswer]) -> Calibration | None:
    """Platt's sigmoid, with his smoothed targets: each answer counts a little as its opposite, so that certainty is never learnt.

    None: there are too few answers. Where what the model said tells nothing, all have the same probability.
    """
    if len(answers) < LEAST:
        return None
    right = sum(answer.right for answer in answers)
    yes, no = (right + 1) / (right + 2), 1 / (len(answers) - right + 2)
    targets = [yes if answer.right else no for answer in answers]
    rows = [[answer.log_odds] for answer in answers]
    fitted = LogisticRegression(C=100.0).fit(
        rows + rows, [1] * len(rows) + [0] * len(rows), sample_weight=targets + [1 - target for target in targets]
    )
    slope, offset = float(fitted.coef_[0][0]), float(fitted.intercept_[0])
    if slope > 0:
        return Calibration(slope=slope, offset=offset)
    share = (right + 1) / (len(answers) + 2)
    return Calibration(slope=0.0, offset=log(share / (1 - share)))


One = TypeVar("One", bound=TaggingExample)
HELD_OUT: Final = 0.2


def groups_of(examples: Sequence[One]) -> list[list[One]]:
    """Return the examples that hang together by a key or by the same context, the group of the first example first."""
    links, holders = Links(len(examples)), dict[str, int]()
    for position, example in enumerate(examples):
        for key in (*(f"key:{key}" for key in example.group_keys), f"text:{example.context}"):
            links.join(holders.setdefault(key, position), position)
    together: dict[int, list[One]] = {}
    for position, example in enumerate(examples):
        together.setdefault(links.root(position), []).append(example)
    return list(together.values())


def split_groups(examples: Sequence[One], share: float, *, seed: int) -> tuple[list[One], list[One]]:
    """Return *examples* in two parts, the second with about *share* of them; no group is in both. One group leaves the second empty."""
    groups = groups_of(examples)
    derive_rng("tagging", "held out", seed).shuffle(groups)
    kept: list[One] = []
    held: list[One] = []
    for group in groups[1:]:
        (held if len(held) < share * len(examples) else kept).extend(group)
    return groups[0] + kept if groups else [], held


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The calibrations of both models, and the figures that say how good they are. None: there was too little to learn them from."""

    spans: Calibration | None = None
    relevance: Calibration | None = None
    figures: dict[str, Any] = field(default_factory=dict)


def calibrate_on_held_out(examples: Sequence[TaggingExample], on_iteration: OnIteration, *, seed: int) -> Calibrated:
    """Train on most of *examples*, and calibrate on the rest of them; no group of examples is in both.

    The models are others than those that learn from all examples, but of the same kind, and a fifth more examples change little.
    """
    seen, held = split_groups(examples, HELD_OUT, seed=seed)
    if not held or len({one for example in seen for _, one in judged_features(example)}) < 2:
        return Calibrated(figures={"on": "nothing: there are too few groups of texts to hold one out"})
    made = calibrate_on(held, train_spans(seen, on_iteration), train_relevance(seen), seed=seed)
    told = {"on": "a held-out part of the training data", "trained_records": len(seen)} | made.figures
    return Calibrated(spans=made.spans, relevance=made.relevance, figures=told)


def calibrate_on(held: Sequence[TaggingExample], spans: SpanFinder, relevance: RelevanceModel, *, seed: int) -> Calibrated:
    """Calibrate on *held*, which the models have not seen.

    The figures are those of calibrations that have not seen what they are measured on: each half is measured with that of the other.
    """
    halves = split_groups(held, 0.5, seed=seed)
    by_span = [[answer for example in half for answer in _span_answers(example, spans)] for half in halves]
    by_relevance = [[answer for example in half for answer in _relevance_answers(example, relevance)] for half in halves]
    figures = {"records": len(held), "spans": _figures(*by_span), "relevance": _figures(*by_relevance)}
    return Calibrated(
        spans=fit_calibration([*by_span[0], *by_span[1]]), relevance=fit_calibration([*by_relevance[0], *by_relevance[1]]), figures=figures
    )


def _span_answers(example: TaggingExample, spans: SpanFinder) -> list[ScoredAnswer]:
    gold = {(span.start, span.end, span.entity_type) for span in example.spans}
    return [ScoredAnswer(odds, tuple(span) in gold) for span, odds in spans.find_with_odds(example.context)]


def _relevance_answers(example: TaggingExample, relevance: RelevanceModel) -> list[ScoredAnswer]:
    return [ScoredAnswer(relevance.log_odds(features), gold == "high") for features, gold in judged_features(example)]


def _figures(first: Sequence[ScoredAnswer], second: Sequence[ScoredAnswer]) -> dict[str, Any]:
    """How well calibrated the answers of both halves are, each by what the other taught, and as they are."""
    both, taught = [*first, *second], (fit_calibration(second), fit_calibration(first))
    right = [answer.right for answer in both]
    plain = reliability_json([Calibration().probability(answer.log_odds) for answer in both], right)
    if taught[0] is None or taught[1] is None:
        return {**plain, "calibrated": False}
    said = [taught[0].probability(answer.log_odds) for answer in first] + [taught[1].probability(answer.log_odds) for answer in second]
    return {**reliability_json(said, right), "calibrated": True, "ece_uncalibrated": plain["ece"]}
