"""How far the asking of a model is, on one line of a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import Protocol

from piiloom.cli.terminal import error_console
from piiloom.execution.calls import AGAIN
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import Interrupted, ProviderError


class LineOfProgress(Protocol):
    """Progress that can be told in one line."""

    def line(self) -> str:
        """Return the line."""
        ...


class AskingLine:
    """A line on standard error, if that is a terminal; entering gives the function that shows it."""

    def __init__(self) -> None:
        self._on = error_console().is_terminal
        self._shown = False

    def __enter__(self) -> Callable[[LineOfProgress], None]:
        return self.show

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\n")

    def show(self, now: LineOfProgress) -> None:
        """Write the line over the one before."""
        if self._on:
            sys.stderr.write(f"\r\x1b[2K{now.line()[: get_terminal_size().columns - 1]}")
            sys.stderr.flush()
            self._shown = True


@contextmanager
def asking(store: Path) -> Iterator[Callable[[LineOfProgress], None]]:
    """Give what shows the progress of the block, which keeps replies in *store*; whatever stops it tells how to go on.

    Raises ``Interrupted`` for Ctrl-C, and the block's ``BudgetReached`` and ``ProviderError`` with that remedy.
    """
    try:
        with AskingLine() as watch:
            yield watch
    except KeyboardInterrupt:
        raise Interrupted("stopped at once", remedy=AGAIN) from None
    except BudgetReached as error:
        error.remedy = f"{AGAIN}. Raise --budget-usd for it"
        raise
    except ProviderError as error:
        if store.exists():  # else it failed before anything was sent
            error.remedy = f"{error.remedy.rstrip('.')}. {AGAIN}" if error.remedy else AGAIN
        raise
