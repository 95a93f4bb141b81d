"""The progress of commands on standard error: a bar on a terminal, a line every few seconds elsewhere; nothing with --quiet or --json."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from piiloom.cli.terminal import error_console, harmless, is_quiet, say_aside
from piiloom.foundation.errors import Interrupted, ProviderError
from piiloom.foundation.noop import noop

T = TypeVar("T")

LINE_EVERY_S = 5.0


class AskingProgress(Protocol):
    """Progress of the asking of a model."""

    def line(self) -> str:
        """Return it as one line."""
        ...


def line_of(progress: AskingProgress) -> str:
    """Return *progress* as one line."""
    return progress.line()


@contextmanager
def shown(
    described: Callable[[T], str],
    *,
    wanted: bool,
    label: str = "",
    share: Callable[[T], tuple[float, float | None]] | None = None,
    lasting: Callable[[T], bool] | None = None,
    at_once: bool = False,
) -> Iterator[Callable[[T], None]]:
    """Give the function that shows each progress as the line that *described* returns, after *label*; nothing unless *wanted*.

    *share* returns the parts that are done and their total (None: unknown), for the bar. A progress that is *lasting* is a line of its own
    at once, also on a terminal. *at_once*: the bar is drawn with each progress, for work that lets no other thread run.
    """
    before = f"{label}: " if label else ""
    if not wanted or is_quiet():
        yield noop
        return
    if not (sys.stderr.isatty() and error_console().is_terminal):
        yield _lines(before, described, lasting)
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar_only = () if share is None else (BarColumn(bar_width=None),)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), *bar_only, TimeElapsedColumn())
    with Progress(*columns, console=error_console(), transient=True) as bar:
        task = bar.add_task(f"{before}starting", total=None)

        def watch(progress: T) -> None:
            line = before + described(progress)
            if lasting is not None and lasting(progress):
                say_aside(line)
                return
            done, total = (0.0, None) if share is None else share(progress)
            bar.update(task, description=harmless(line), completed=done, total=total, refresh=at_once)

        yield watch


def _lines(before: str, described: Callable[[T], str], lasting: Callable[[T], bool] | None) -> Callable[[T], None]:
    said = time.monotonic()

    def watch(progress: T) -> None:
        nonlocal said
        now, line = time.monotonic(), described(progress)
        if now - said >= LINE_EVERY_S or (lasting is not None and lasting(progress)):
            said = now
            say_aside(before + line)

    return watch


@contextmanager
def asking(replies: Path, *, wanted: bool = True) -> Iterator[Callable[[AskingProgress], None]]:
    """Give the function that shows how far the asking of a model is; errors of the block get the remedy to repeat the command.

    *replies* is the file in which the replies are kept. Raises ``Interrupted`` for Ctrl-C, and the block's ``BudgetReached`` and
    ``ProviderError`` with that remedy.
    """
    from piiloom.execution.calls import AGAIN
    from piiloom.execution.money.budget import BudgetReached

    try:
        with shown(line_of, wanted=wanted) as watch:
            yield watch
    except KeyboardInterrupt:
        raise Interrupted("stopped at once", remedy=AGAIN) from None
    except BudgetReached as error:
        error.remedy = f"{AGAIN}. Raise --budget-usd for it"
        raise
    except ProviderError as error:
        if replies.exists():  # else it failed before anything was sent
            error.remedy = f"{error.remedy.rstrip('.')}. {AGAIN}" if error.remedy else AGAIN
        raise
