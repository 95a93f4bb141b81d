"""Showing how far a detection is: a bar on a terminal, a line every few seconds elsewhere; always on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from piiloom.cli.run_summary import dollars, duration, rate_text
from piiloom.cli.terminal import error_console, say_aside
from piiloom.detection.running.progress import DetectionProgress, Watch
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted

LINE_EVERY_S = 5.0


class Rate:
    """Documents a second of this session, and when it will be done; what earlier sessions have done does not count."""

    def __init__(self, now: float) -> None:
        self._started = now
        self._before: tuple[int, int] | None = None

    def described(self, progress: DetectionProgress, now: float) -> str:
        """Say in one line how far it is."""
        if progress.kept == progress.documents and progress.documents:
            self._started, self._before = now, (progress.documents, progress.done)
            return f"{counted(progress.documents, 'document')} done by earlier sessions"
        documents, done = self._before or (0, 0)
        seconds = max(now - self._started, 1e-6)
        parts = [counted(progress.documents, "document")]
        if progress.total:
            parts.append(f"{min(progress.done / progress.total, 1.0):.0%} of the input")
        parts.append(rate_text((progress.documents - documents) / seconds))
        if progress.total and progress.done > done:
            parts.append(f"ETA {duration((progress.total - progress.done) * seconds / (progress.done - done))}")
        parts.append(counted(progress.spans, "span"))
        if progress.refused:
            parts.append(f"{counted(progress.refused, 'row')} set aside")
        if progress.spent_usd is not None:
            parts.append(dollars(progress.spent_usd))
        return " · ".join(parts)


@contextmanager
def shown_detection(*, wanted: bool) -> Iterator[Watch]:
    """Give the watch of a detection; it shows nothing unless *wanted*."""
    console = error_console()
    if not wanted:
        yield noop
        return
    rate = Rate(time.monotonic())
    if not console.is_terminal:
        yield _lines(rate)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=None), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def watch(progress: DetectionProgress) -> None:
            line = rate.described(progress, time.monotonic())
            bar.update(task, description=line, completed=progress.done, total=progress.total)

        yield watch


def _lines(rate: Rate) -> Watch:
    told = time.monotonic()

    def watch(progress: DetectionProgress) -> None:
        nonlocal told
        now = time.monotonic()
        line = rate.described(progress, now)
        if now - told >= LINE_EVERY_S:
            told = now
            say_aside(line)

    return watch
