"""Showing how many documents were read: a spinner on a terminal, a line every few seconds elsewhere; always on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from piiloom.cli.run_summary import rate_text
from piiloom.cli.terminal import error_console, say_aside
from piiloom.evaluation.evaluating import Watch
from piiloom.foundation.words import counted

LINE_EVERY_S = 5.0


@contextmanager
def shown_documents(*, wanted: bool) -> Iterator[Watch | None]:
    """Give the watch of an evaluation, or None unless *wanted*."""
    console = error_console()
    if not wanted:
        yield None
        return
    started = time.monotonic()
    if not console.is_terminal:
        yield _lines(started)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("reading")
        yield lambda done: progress.update(task, description=_told(done, started))


def _lines(started: float) -> Watch:
    told = started

    def watch(done: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= LINE_EVERY_S:
            told = now
            say_aside(_told(done, started))

    return watch


def _told(done: int, started: float) -> str:
    return f"{counted(done, 'document')} · {rate_text(done / max(time.monotonic() - started, 1e-6))}"
