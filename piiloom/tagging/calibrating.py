"""Learn what the scores of models mean, on texts that they have not seen. Importing this module needs the extra ``probe`` or ``train``.

A span's score is to be the probability that it is right: exactly this extent, and this type. A relevance's is that of "high".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, Final, NamedTuple, TypeVar

from sklearn.linear_model import LogisticRegression

from piiloom.corpus.releases.grouping import Links
from piiloom.foundation.seeding import derive_rng
from piiloom.tagging.calibration import Calibration, reliability_json
from piiloom.tagging.examples import TaggingExample
from piiloom.tagging.model import RelevanceModel, SpanFinder
from piiloom.tagging.training import OnIteration, judged_features, train_relevance, train_spans

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
