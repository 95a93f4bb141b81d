"""What a probe found, as tables."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from piiloom.cli.terminal import harmless, say, say_table
from piiloom.evaluation.probe.data import ProbeCorpus
from piiloom.evaluation.probe.run import ProbeResult, TestResult, Training
from piiloom.evaluation.probe.saving import Saved
from piiloom.evaluation.probe.scores import RESAMPLES
from piiloom.evaluation.scoring.bootstrap import Interval
from piiloom.foundation.words import counted

_NOTHING = "–"
# Broken so that the tables fit 80 columns; otherwise the figures would be.
_FIGURES = ("trained\non", "exact F1", "overlap F1", "type\naccuracy", "relevance\naccuracy", "relevance\nbalanced")
_SHARES = ("type", "gold", "found", "exact\nR", "exact\nP", "overlap\nR", "overlap\nP", "type\naccuracy")


def print_result(result: ProbeResult, *, by_type: bool) -> None:
    """Print a table for each test file, one row a training, and if wanted one by type for the last training."""
    say(f"train {result.corpus.file}: {counted(len(result.corpus.records), 'record')}{_left_out(result.corpus)}")
    for number, test in enumerate(result.trainings[-1].tests):
        say_table(_figures_table(result, number))
        if _left_out(test.corpus):
            say(f"  test{_left_out(test.corpus)}")
        if by_type:
            say_table(_type_table(result.trainings[-1], test))
    if result.trainings[-1].tests:
        say(f"below the figures: 95% intervals, bootstrap over the test records ({RESAMPLES:,} resamples, seed {result.seed})")


def _left_out(corpus: ProbeCorpus) -> str:
    return f", left out: {', '.join(f'{reason} {count:,}' for reason, count in corpus.left_out.items())}" if corpus.left_out else ""


def _figures_table(result: ProbeResult, number: int) -> Table:
    test = result.trainings[-1].tests[number]
    held = f"{counted(len(test.corpus.records), 'record')}, {counted(test.spans, 'span')} ({test.high:,} high, {test.low:,} low)"
    table = Table(title=f"test {harmless(test.corpus.file)}\n{held}", show_lines=len(result.trainings) > 1)
    for name in _FIGURES:
        table.add_column(name, justify="right")
    for training in result.trainings:
        found = training.tests[number]
        figures, judged = found.figures, bool(found.high or found.low)
        table.add_row(
            f"{training.records:,}",
            _with_interval(figures.span_f1_exact, found.intervals["span_f1_exact"]),
            _with_interval(figures.span_f1_overlap, found.intervals["span_f1_overlap"]),
            f"{figures.type_acc:.4f}",
            f"{figures.rel_acc:.4f}" if judged else _NOTHING,
            _with_interval(figures.rel_balanced, found.intervals["rel_balanced"]) if judged else _NOTHING,
        )
    return table


def _with_interval(value: float, interval: Interval) -> str:
    return f"{value:.4f}\n{interval.low:.3f}–{interval.high:.3f}"


def _type_table(training: Training, test: TestResult) -> Table:
    table = Table(title=f"by type, trained on {counted(training.records, 'record')} (R recall, P precision)")
    for name in _SHARES:
        table.add_column(name, justify="left" if name == "type" else "right")
    for score in test.by_type:
        shares = (_NOTHING if share is None else f"{share:.3f}" for share in score.shares().values())
        table.add_row(harmless(score.entity_type), f"{score.gold:,}", f"{score.found:,}", *shares)
    return table


def print_saved(saved: Saved) -> None:
    """Say what was saved, and how much its scores are worth."""
    types = counted(len(saved.types), "type")
    say(f"saved {harmless(str(saved.folder))}: {types}, learnt from {counted(saved.records, 'record')}")
    for line in _calibration_lines(saved):
        say(f"  {line}")


def _calibration_lines(saved: Saved) -> Iterator[str]:
    figures = saved.calibration
    if "records" not in figures:
        yield f"scores are as the models have them, calibrated on {figures['on']}"
        return
    yield f"calibrated on {harmless(figures['on'])}, {counted(figures['records'], 'record')}"
    for what, meant in (("spans", "scores of spans"), ("relevance", "probabilities of high")):
        told = figures[what]
        if told["calibrated"]:
            yield f"{meant}: ECE {told['ece']:.3f} ({told['ece_uncalibrated']:.3f} as the model has them), {told['count']:,} of them"
        else:
            yield f"{meant}: as the model has them, for there were only {told['count']:,} to calibrate on"
