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
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

from piiloom.corpus.formats.base import Json
from piiloom.corpus.releases.manifest import types_beside
from piiloom.evaluation.probe.data import ProbeCorpus, ProbeRecord
from piiloom.evaluation.probe.scores import ProbeFigures, TestedRecord, count_table, record_intervals, type_scores
from piiloom.evaluation.scoring.resampling import Interval
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.whole_files import sha256_of
from piiloom.foundation.words import counted
from piiloom.tagging.model import RelevanceModel, SpanFinder, TaggingModel
from piiloom.tagging.model_folder import save_model
from piiloom.tagging.training import MAX_ITERATIONS, calibrate_on, calibrate_on_held_out, judged_features, train_relevance, train_spans
from piiloom.taxonomy.own_types import only

DEFAULT_SEED = 7
_PACKAGES: Final = ("python-crfsuite", "scikit-learn", "sklearn-crfsuite")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeStep:
    """The progress of a probe: it trains on ``records`` records and has done ``iterations``, or tests on the file ``test`` if set.

    ``calibrating``: this training is for the calibration of what is saved.
    """

    records: int
    iterations: int
    test: str | None = None
    calibrating: bool = False


ProbeWatch = Callable[[ProbeStep], None]


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
    figures: ProbeFigures
    intervals: dict[str, Interval]
    by_type: list[dict[str, Any]]
    comparisons: tuple[TestedRecord, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTraining:
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
    trainings: tuple[ProbeTraining, ...]


def run_probe(
    train: ProbeCorpus,
    tests: Sequence[ProbeCorpus],
    *,
    sizes: Sequence[int] | None = None,
    seed: int = DEFAULT_SEED,
    watch: ProbeWatch | None = None,
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
    train: ProbeCorpus, records: Sequence[ProbeRecord], tests: Sequence[ProbeCorpus], seed: int, watch: ProbeWatch, on_trained: OnTrained
) -> ProbeTraining:
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
    return ProbeTraining(records=len(records), spans=high + low, high=high, tests=tuple(results))


def _tested(test: ProbeCorpus, trained: Trained, seed: int) -> TestResult:
    comparisons = tuple(
        TestedRecord(
            record=record,
            found=tuple(trained.spans.find(record.context)),
            # In span order, so that the figures do not depend on what is found.
            judged=tuple((gold, trained.relevance.judge(features)) for features, gold in judged_features(record)),
        )
        for record in test.records
    )
    table = count_table(comparisons)
    high, low = _judged_spans(test.records)
    return TestResult(
        corpus=test,
        spans=sum(len(record.spans) for record in test.records),
        high=high,
        low=low,
        figures=ProbeFigures(**table.overall()),
        intervals=record_intervals(table, seed=seed),
        by_type=type_scores(table),
        comparisons=comparisons,
    )


def _judged_spans(records: Sequence[ProbeRecord]) -> tuple[int, int]:
    relevances = [span.relevance for record in records for span in record.spans]
    return relevances.count("high"), relevances.count("low")


def save_trained(
    folder: Path, trained: Trained, result: ProbeResult, *, calibrate: ProbeCorpus | None = None, watch: ProbeWatch | None = None
) -> Json:
    """Calibrate *trained*, the last training of *result*, and write it to *folder*; return what was saved, as JSON values.

    It is calibrated on *calibrate*, or on a part of the training data, for which it is trained once more without that part.
    """
    watch = watch or noop
    if calibrate is not None:
        made = calibrate_on(calibrate.records, trained.spans, trained.relevance, seed=result.seed)
        made.figures["on"] = Path(calibrate.file).name
    else:
        records = len(trained.records)
        made = calibrate_on_held_out(
            trained.records, lambda number: watch(ProbeStep(records=records, iterations=number, calibrating=True)), seed=result.seed
        )
    types = trained.spans.entity_types
    model = TaggingModel(
        spans=trained.spans,
        relevance=trained.relevance,
        span_calibration=made.spans,
        relevance_calibration=made.relevance,
        own_types=only(types_beside(Path(result.corpus.file)), types),
    )
    tests = [_figures_of(test) for test in result.trainings[-1].tests]
    save_model(
        folder,
        model,
        {name: version(name) for name in _PACKAGES},
        data=_data(result.corpus, trained),
        settings={"seed": result.seed, "most_iterations": MAX_ITERATIONS},
        figures={"tests": tests, "calibration": made.figures},
    )
    return {"folder": str(folder), "types": list(types), "records": len(trained.records), "calibration": made.figures}


def _data(corpus: ProbeCorpus, trained: Trained) -> dict[str, Any]:
    """What it learnt from; the name of the file without its folder, so that equal data give equal bytes."""
    spans = Counter(span.entity_type for record in trained.records for span in record.spans)
    judged = Counter(span.relevance for record in trained.records for span in record.spans if span.relevance is not None)
    return {
        "file": Path(corpus.file).name,
        "sha256": sha256_of(Path(corpus.file)),
        "records": len(trained.records),
        "spans": dict(sorted(spans.items())),
        "relevance": dict(sorted(judged.items())),
    }


def _figures_of(test: TestResult) -> dict[str, Any]:
    about = {"file": Path(test.corpus.file).name, "records": len(test.corpus.records), "spans": test.spans}
    return about | {name: round(value, 6) for name, value in asdict(test.figures).items()}
