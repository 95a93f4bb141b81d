"""How far the asking of a model is, on one line of a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from shutil import get_terminal_size
from typing import Protocol

from piiloom.cli.terminal import error_console


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
