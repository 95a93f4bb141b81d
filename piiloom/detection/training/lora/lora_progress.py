"""How far a training is, and what it heard: progress for people, losses for the trained folder."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from piiloom.foundation.noop import noop
from piiloom.providers.local.loading import library


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraProgress:
    """Where the training is. ``seconds`` are those of this session, which began at step ``first``."""

    step: int
    steps: int
    first: int
    epoch: float
    loss: float | None
    validation_loss: float | None
    seconds: float

    def line(self) -> str:
        """Return it as a line."""
        done = self.step - self.first
        left = self.seconds / done * (self.steps - self.step) if done else None
        parts = [f"step {self.step:,} of {self.steps:,}, epoch {self.epoch:.1f}"]
        parts += [] if self.loss is None else [f"loss {self.loss:.3f}"]
        parts += [] if self.validation_loss is None else [f"validation {self.validation_loss:.3f}"]
        parts += [] if left is None else [f"{math.ceil(left / 60)} min left" if left > 90 else f"{left:.0f} s left"]
        return " · ".join(parts)


Watch = Callable[[LoraProgress], object]


@dataclass(slots=True, kw_only=True)
class Heard:
    """Losses as the trainer told them; ``validation`` has the epoch, too."""

    losses: list[float] = field(default_factory=list)
    validation: list[tuple[float, float]] = field(default_factory=list)
    first: int = 0
    began: float = field(default_factory=time.monotonic)

    def progress(self, state: Any) -> LoraProgress:
        """Return the progress of the trainer whose *state* this is."""
        return LoraProgress(
            step=state.global_step,
            steps=state.max_steps,
            first=self.first,
            epoch=state.epoch or 0.0,
            loss=self.losses[-1] if self.losses else None,
            validation_loss=self.validation[-1][1] if self.validation else None,
            seconds=time.monotonic() - self.began,
        )


def listening(heard: Heard, watch: Watch = noop) -> Any:
    """Return a callback of transformers that fills *heard* and tells *watch*; the class is made here, since its base is imported late."""

    def begin(_self: Any, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        heard.first = state.global_step
        heard.began = time.monotonic()
        # A resumed training has the losses of before in its state.
        heard.losses[:] = [one["loss"] for one in state.log_history if "loss" in one]
        heard.validation[:] = [(one["epoch"], one["eval_loss"]) for one in state.log_history if "eval_loss" in one]
        watch(heard.progress(state))

    def log(_self: Any, _args: Any, state: Any, _control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs and "loss" in logs:
            heard.losses.append(float(logs["loss"]))
        if logs and "eval_loss" in logs:
            heard.validation.append((float(logs["epoch"]), float(logs["eval_loss"])))
        watch(heard.progress(state))

    base = library("transformers").TrainerCallback
    return type("Listening", (base,), {"on_train_begin": begin, "on_log": log})()
