"""The probe: train a small detector with fixed settings on one data set and test it on others, so that only the data varies.

::

    from pathlib import Path
    from piiloom.evaluation.probe.data import read_corpus
    from piiloom.evaluation.probe.run import run_probe

    result = run_probe(read_corpus(Path("train.jsonl")), [read_corpus(Path("test.jsonl"))], sizes=[250, 1000])
    for training in result.trainings:
        print(training.records, training.tests[0].figures)

Importing this module needs the extra ``probe``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from piiloom.corpus.record import Relevance
from piiloom.evaluation.probe.data import ProbeCorpus, ProbeRecord
from piiloom.evaluation.probe.matching import Comparison, compare
from piiloom.evaluation.probe.scores import Figures, TypeScore, count_table, figures, intervals, type_scores
from piiloom.evaluation.scoring.bootstrap import Interval
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted
from piiloom.tagging.model import RelevanceModel, SpanFinder
from piiloom.tagging.training import judged_features, train_relevance, train_spans

DEFAULT_SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeStep:
    """The progress of a probe: it trains on ``records`` records and has done ``iterations``, or tests on the file ``test`` if set.

    ``calibrating``: this training is for the calibration of what is saved.
    """

    records: int
    iterations: int
    test: str | None = None
    calibrating: bool = False


Watch = Callable[[ProbeStep], None]


class Trained(NamedTuple):
    """What a training gave: the records that it trained on, in order, and the two models."""

    records: Sequence[ProbeRecord]
    spans: SpanFinder
    relevance: RelevanceModel


OnTrained = Callable[[Trained], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """The result on one test file: its numbers of spans (``high`` and ``low`` of those judged) and the models' figures on it."""

    __test__ = False  # tells pytest that this is not a test class

    corpus: ProbeCorpus
    spans: int
    high: int
    low: int
    figures: Figures
    intervals: dict[str, Interval]
    by_type: tuple[TypeScore, ...]
    comparisons: tuple[Comparison, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """One training: its numbers of records, of judged spans and of high ones among them, and its tests in the given order."""

    records: int
    spans: int
    high: int
    tests: tuple[TestResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The result of a probe: the training corpus, the seed, and one training per size, the smallest first."""

    corpus: ProbeCorpus
    seed: int
    trainings: tuple[Training, ...]


def run_probe(
    train: ProbeCorpus,
    tests: Sequence[ProbeCorpus],
    *,
    sizes: Sequence[int] | None = None,
    seed: int = DEFAULT_SEED,
    watch: Watch | None = None,
    on_trained: OnTrained | None = None,
) -> ProbeResult:
    """Shuffle *train* by *seed*, train on its first records once per size in *sizes* (None: all records), and test on all *tests*.

    *watch* is called at every step, *on_trained* with the models of each training. Raises ``UsageError`` if there are no *tests* (which
    *on_trained* can do without) or fewer records than a size asks for, ``DataError`` if the spans to train on do not have both relevances.
    """
    if not tests and on_trained is None:
        raise UsageError("there is nothing to test on", remedy="Give at least one test set")
    chosen = sorted({len(train.records)} if sizes is None else set(sizes))
    _check_sizes(chosen, train)
    shuffled = list(train.records)
    random.Random(seed).shuffle(shuffled)  # not ``derive_rng``: gives the same order as the shared probe tool for the same seed
    trainings = [_training(train, shuffled[:size], tests, seed, watch or noop, on_trained or noop) for size in chosen]
    return ProbeResult(corpus=train, seed=seed, trainings=tuple(trainings))


def _check_sizes(sizes: Sequence[int], train: ProbeCorpus) -> None:
    there = len(train.records)
    if not sizes or sizes[0] < 1:
        raise UsageError("a training needs at least one record", remedy="Give sizes of 1 or more")
    if sizes[-1] > there:
        problem = f"{sizes[-1]:,} training records are wanted, there are {there:,}"
        raise UsageError(problem, where=train.file, remedy=f"Ask for up to {there}")


def _training(
    train: ProbeCorpus, records: Sequence[ProbeRecord], tests: Sequence[ProbeCorpus], seed: int, watch: Watch, on_trained: OnTrained
) -> Training:
    high, low = _judged_spans(records)
    if not (high and low):
        problem = f"the {counted(len(records), 'record')} to train on need spans of both relevances ({high} are high, {low} low)"
        raise DataError(problem, where=train.file, remedy="Train on more records, or on data that judges relevance")
    watch(ProbeStep(records=len(records), iterations=0))
    spans = train_spans(records, lambda number: watch(ProbeStep(records=len(records), iterations=number)))
    trained = Trained(records, spans, train_relevance(records))
    results = []
    for test in tests:
        watch(ProbeStep(records=len(records), iterations=0, test=test.file))
        results.append(_tested(test, trained, seed))
    on_trained(trained)
    return Training(records=len(records), spans=high + low, high=high, tests=tuple(results))


def _tested(test: ProbeCorpus, trained: Trained, seed: int) -> TestResult:
    comparisons = tuple(compare(record, trained.spans.find(record.context), _judged(record, trained.relevance)) for record in test.records)
    table = count_table(comparisons)
    high, low = _judged_spans(test.records)
    return TestResult(
        corpus=test,
        spans=sum(len(record.spans) for record in test.records),
        high=high,
        low=low,
        figures=figures(table),
        intervals=intervals(table, seed=seed),
        by_type=type_scores(table),
        comparisons=comparisons,
    )


def _judged(record: ProbeRecord, relevance: RelevanceModel) -> list[tuple[Relevance, Relevance]]:
    """The (gold, predicted) relevance of each judged gold span, in span order, so that the figures do not depend on what is found."""
    return [(gold, relevance.judge(features)) for features, gold in judged_features(record)]


def _judged_spans(records: Sequence[ProbeRecord]) -> tuple[int, int]:
    relevances = [span.relevance for record in records for span in record.spans]
    return relevances.count("high"), relevances.count("low")
