"""``piiloom probe``: the effect of a data set on a detector that never changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from piiloom.cli.options import AsJson
from piiloom.cli.progress import shown
from piiloom.cli.terminal import examples, harmless, say_result, table_of
from piiloom.evaluation.probe.data import ProbeCorpus
from piiloom.evaluation.probe.files import Probed, ProbeSettings
from piiloom.evaluation.probe.files import probe_files as run_probe
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted

if TYPE_CHECKING:
    from rich.table import Table

    from piiloom.evaluation.probe.run import ProbeResult, ProbeStep, ProbeTraining, TestResult
    from piiloom.evaluation.scoring.resampling import Interval

PROBE_EXAMPLES = examples(
    "piiloom probe outputs/v1/train.jsonl outputs/v1/test.jsonl",
    "piiloom probe train.jsonl people.jsonl web.jsonl --sizes 250,500,1000,2107",
    "piiloom probe train.jsonl people.jsonl --by-type --errors outputs/errors.jsonl",
    "piiloom probe train.jsonl people.jsonl --limit 500 --json",
    "piiloom probe outputs/v1/train.jsonl people.jsonl --out outputs/detector",
    "piiloom probe outputs/v1-capid/train.jsonl outputs/v1-capid/test.jsonl --input-format capid",
)

_NOTHING = "–"
# Broken so that the tables fit 80 columns; otherwise the figures would be.
_FIGURES = ("trained\non", "exact F1", "overlap F1", "type\naccuracy", "relevance\naccuracy", "relevance\nbalanced")
_SHARES = ("type", "gold", "found", "exact\nR", "exact\nP", "overlap\nR", "overlap\nP", "type\naccuracy")


class Probe(AsJson, ProbeSettings):
    """The command line of ``piiloom probe``."""

    train: Path = setting(..., "The data to train on.", argument=True, metavar="TRAIN")
    tests: list[Path] = setting([], "Files to test on; with --out, there may be none.", argument=True, metavar="TEST...")


@takes(Probe)
def probe(asked: Probe) -> None:
    """Train a small fixed detector on TRAIN and score it on each TEST.

    The detector never changes (a CRF finds spans, a regression judges their relevance), so only the data vary: two
    sets that are probed with the same tests can be compared. Needs piiloom's extra "probe". Takes about a minute for 2,000 records.
    docs/probe.md explains the figures.
    """
    with shown(described, wanted=not asked.as_json, share=_share, at_once=True) as watch:
        probed = run_probe(asked.train, asked.tests, asked, watch)
    say_result(probed.to_json(), *_parts(probed, asked), as_json=asked.as_json)


def described(step: ProbeStep) -> str:
    """Describe *step* in words."""
    from piiloom.tagging.training import MAX_ITERATIONS

    trained = counted(step.records, "record")
    if step.test is not None:
        return f"trained on {trained}, testing on {harmless(step.test)}"
    work = f"{'calibrating: ' if step.calibrating else ''}training on {trained}"
    return f"{work}: iteration {step.iterations} of at most {MAX_ITERATIONS}" if step.iterations else work


def _share(step: ProbeStep) -> tuple[float, float]:
    from piiloom.tagging.training import MAX_ITERATIONS

    return step.iterations, MAX_ITERATIONS


def _parts(probed: Probed, asked: Probe) -> Iterator[str | Table | None]:
    """Yield a table for each test file, one row per training, and if wanted one by type for the last training; then what was written."""
    from piiloom.evaluation.probe.scores import RESAMPLES

    result, last = probed.result, probed.result.trainings[-1]
    yield f"train {result.corpus.file}: {counted(len(result.corpus.records), 'record')}{_left_out(result.corpus)}"
    for number, test in enumerate(last.tests):
        left_out = _left_out(test.corpus)
        yield _figures_table(result, number)
        yield f"  test{left_out}" if left_out else None
        yield _type_table(last, test) if asked.by_type else None
    if last.tests:
        yield f"below the figures: 95% intervals, bootstrap over the test records ({RESAMPLES:,} resamples, seed {result.seed})"
    if probed.errors is not None:
        kinds = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in probed.errors.most_common())
        yield f"errors when trained on {counted(last.records, 'record')}: {kinds or 'none'}; in {asked.errors}"
    if probed.saved is not None:
        yield from _saved_lines(probed.saved)


def _left_out(corpus: ProbeCorpus) -> str:
    return f", left out: {', '.join(f'{reason} {count:,}' for reason, count in corpus.left_out.items())}" if corpus.left_out else ""


def _figures_table(result: ProbeResult, number: int) -> Table:
    test = result.trainings[-1].tests[number]
    held = f"{counted(len(test.corpus.records), 'record')}, {counted(test.spans, 'span')} ({test.high:,} high, {test.low:,} low)"
    title = f"test {test.corpus.file}\n{held}"
    rows = []
    for training in result.trainings:
        found = training.tests[number]
        figures, judged = found.figures, bool(found.high or found.low)
        cells = (
            f"{training.records:,}",
            _with_interval(figures.span_f1_exact, found.intervals["span_f1_exact"]),
            _with_interval(figures.span_f1_overlap, found.intervals["span_f1_overlap"]),
            f"{figures.type_acc:.4f}",
            f"{figures.rel_acc:.4f}" if judged else _NOTHING,
            _with_interval(figures.rel_balanced, found.intervals["rel_balanced"]) if judged else _NOTHING,
        )
        rows.append(cells)
    return table_of(title, _FIGURES, rows, right=range(len(_FIGURES)), ruled=len(rows) > 1)


def _with_interval(value: float, interval: Interval) -> str:
    return f"{value:.4f}\n{interval.low:.3f}–{interval.high:.3f}"


def _type_table(training: ProbeTraining, test: TestResult) -> Table:
    rows = [
        (name, f"{gold:,}", f"{found:,}", *(_NOTHING if share is None else f"{share:.3f}" for share in shares))
        for name, gold, found, *shares in (score.values() for score in test.by_type)
    ]
    title = f"by type, trained on {counted(training.records, 'record')} (R recall, P precision)"
    return table_of(title, _SHARES, rows, right=range(1, len(_SHARES)))


def _saved_lines(saved: dict[str, Any]) -> Iterator[str]:
    types, figures = counted(len(saved["types"]), "type"), saved["calibration"]
    yield f"saved {harmless(saved['folder'])}: {types}, learnt from {counted(saved['records'], 'record')}"
    if "records" not in figures:
        yield f"  scores are as the models have them, calibrated on {figures['on']}"
        return
    yield f"  calibrated on {harmless(figures['on'])}, {counted(figures['records'], 'record')}"
    for name, meant in (("spans", "scores of spans"), ("relevance", "probabilities of high")):
        part = figures[name]
        if part["calibrated"]:
            yield f"  {meant}: ECE {part['ece']:.3f} ({part['ece_uncalibrated']:.3f} as the model has them), {part['count']:,} of them"
        else:
            yield f"  {meant}: as the model has them, for there were only {part['count']:,} to calibrate on"
