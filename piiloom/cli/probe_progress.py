"""Showing a probe while it trains: a bar on a terminal, a line every few seconds elsewhere; always on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from piiloom.cli.terminal import error_console, harmless, say_aside
from piiloom.evaluation.probe.run import ProbeStep, Watch
from piiloom.foundation.words import counted
from piiloom.tagging.training import MAX_ITERATIONS

LINE_EVERY_S = 5.0


@contextmanager
def shown_steps(*, wanted: bool) -> Iterator[Watch | None]:
    """Give the watch that shows the steps of a probe, or None unless *wanted*."""
    console = error_console()
    if not wanted:
        yield None
        return
    if not console.is_terminal:
        yield _lines()
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=None), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=MAX_ITERATIONS)

        def watch(step: ProbeStep) -> None:
            # CRFsuite lets no other thread run while it counts: the bar is drawn here or not at all.
            bar.update(task, description=described(step), completed=step.iterations, refresh=True)

        yield watch


def described(step: ProbeStep) -> str:
    """Say one step in words."""
    trained = f"{counted(step.records, 'record')}"
    if step.test is not None:
        return f"trained on {trained}, testing on {harmless(step.test)}"
    what = f"{'calibrating: ' if step.calibrating else ''}training on {trained}"
    return f"{what}: iteration {step.iterations} of at most {MAX_ITERATIONS}" if step.iterations else what


def _lines() -> Watch:
    said = time.monotonic()

    def watch(step: ProbeStep) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= LINE_EVERY_S:
            said = now
            say_aside(described(step))

    return watch
