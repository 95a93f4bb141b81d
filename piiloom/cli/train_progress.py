"""Showing how a training goes: a line every few seconds, and one after each epoch; always on standard error."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from piiloom.cli.terminal import error_console, say_aside

if TYPE_CHECKING:
    from piiloom.detection.encoder.training_history import TrainingProgress

_EVERY_S, _EVERY_ON_TERMINAL_S = 30.0, 5.0


class TrainingLines:
    """Says lines, unless *quiet*; what is out of the ordinary it says nevertheless."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._every = _EVERY_ON_TERMINAL_S if error_console().is_terminal else _EVERY_S
        self._said = time.monotonic()

    def watch(self, progress: TrainingProgress) -> None:
        """Say *progress*, if it is time to."""
        if progress.note is not None:
            say_aside(progress.note)
            return
        now = time.monotonic()
        if self._quiet or (progress.validation is None and now - self._said < self._every):
            return
        self._said = now
        place = f"step {progress.step:,} of {progress.steps:,}, loss {progress.loss:.3f}"
        if progress.validation is not None:
            say_aside(f"{place}; validation: {shown(dict(progress.validation))}")
        else:
            say_aside(f"epoch {progress.epoch} of {progress.epochs}, {place}, {_duration(progress.eta_s)} left")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def shown(figures: dict[str, Any] | None) -> str:
    """Return figures in one line for people."""
    names = {
        "span_f1_exact": "F1 exact",
        "span_f1_typed": "with type",
        "relevance_balanced": "relevance",
        "contrast_consistent": "contrasts",
    }
    return ", ".join(f"{label} {figures[name]:.3f}" for name, label in names.items() if figures and name in figures)
