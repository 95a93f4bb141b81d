"""Showing a run while it goes: a bar on a terminal, a line every few seconds elsewhere; always on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from piiloom.cli.run_summary import Pace
from piiloom.cli.terminal import error_console, is_quiet, say_aside
from piiloom.foundation.noop import noop
from piiloom.generation.running.progress import RunProgress, Watch

LINE_EVERY_S = 5.0


@contextmanager
def shown_progress(label: str, *, wanted: bool) -> Iterator[Watch]:
    """Give the watch that shows the progress of what *label* names, or one that shows nothing unless *wanted*."""
    console = error_console()
    if not wanted or is_quiet():
        yield noop
    elif console.is_terminal:
        with _bar(console, label) as watch:
            yield watch
    else:
        yield _lines(label)


@contextmanager
def _bar(console: Console, label: str) -> Iterator[Watch]:
    pace = Pace(started=time.monotonic())
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=None), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"{label}: starting", total=None)

        def watch(progress: RunProgress) -> None:
            line = pace.describe(progress, time.monotonic())
            bar.update(task, description=f"{label}: {line}", completed=progress.accepted, total=progress.wanted or None)

        yield watch


def _lines(label: str) -> Watch:
    pace = Pace(started=time.monotonic())
    said = pace.started

    def watch(progress: RunProgress) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= LINE_EVERY_S:
            said = now
            say_aside(f"{label}: {pace.describe(progress, now)}")
        elif pace.first is None:
            pace.describe(progress, now)  # notes what was there at the start

    return watch
