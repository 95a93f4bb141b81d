"""How a training goes, and what came of it. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ValidationFigures = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingProgress:
    """Where a training stands. ``loss`` is a running mean, ``eta_s`` the seconds that the rest takes at most.

    ``validation``: the figures of the epoch that has just ended, else None. ``note`` is something to be told, as a halved batch.
    """

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    eta_s: float
    validation: ValidationFigures | None = None
    note: str | None = None


@dataclass(slots=True, kw_only=True)
class TrainingHistory:
    """What came of a training: the mean loss of each epoch, the figures of the validation after each, and the best epoch (from 1).

    ``losses`` has (step, running loss) of each tenth of an epoch, for the plot. ``micro_batch`` is what is read at once in the end.
    """

    epoch_losses: list[float] = field(default_factory=list)
    validations: list[dict[str, float]] = field(default_factory=list)
    losses: list[tuple[int, float]] = field(default_factory=list)
    best_epoch: int = 0
    micro_batch: int = 0
    seconds: float = 0.0
