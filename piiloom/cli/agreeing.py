"""Agreement to what would leave this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from piiloom.cli.terminal import say_aside
from piiloom.foundation.errors import UsageError


def agree_to_send(words: str, *, yes: bool, confirm: Callable[..., bool] = typer.confirm) -> None:
    """Say what would leave this machine, and ask for agreement unless it was given beforehand. Raises ``UsageError`` without it."""
    for line in words.splitlines():
        say_aside(line)
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("sending texts to a provider must be confirmed, and there is no terminal to ask", remedy="Add --yes")
    if not confirm("Send these texts?", err=True):
        raise UsageError("nothing was sent, because sending was not confirmed", remedy="Confirm it, or add --yes")
