"""The settings of the training of an adapter."""

from __future__ import annotations

from typing import Any, Final, Self

from pydantic import model_validator

from piiloom.corpus.markers import MarkerChoice
from piiloom.detection.families import CAPID, MARKERS
from piiloom.detection.training.training_options import HOW, TrainingPlace, check_markers
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import AnyPath, setting
from piiloom.foundation.torch_devices import DEVICES

CAPID_ALPACA: Final = "capid-alpaca"
VERIFIER_1: Final = "verifier-1"
VERIFIER_2: Final = "verifier-2"
TASKS: Final = (CAPID, CAPID_ALPACA, MARKERS, VERIFIER_1, VERIFIER_2)
PRECISIONS: Final = ("auto", "4bit", "16bit", "32bit")
ADAMW, ADAMW_8BIT = "adamw", "adamw-8bit"
OPTIMIZERS: Final = ("auto", ADAMW, ADAMW_8BIT)


class LoraSettings(MarkerChoice):
    """The settings of a training of an adapter. Their defaults are those of Table 6 of the CAPID paper.

    ``precision`` "auto" is 4 bits on a GPU and 32 bits on a CPU; ``optimizer`` "auto" is AdamW with 8-bit states on a GPU and with 32-bit
    states on a CPU.

    ``batch_size`` examples go through the model at once, ``accumulation`` times for each step of the optimizer. Raises ``UsageError`` for
    unknown words and numbers out of range.
    """

    task: str = setting(CAPID, f"Task that the model learns: {', '.join(TASKS)}.", metavar="TASK")
    rank: int = setting(32, "Rank of the adapter's matrices.", metavar="N", panel=HOW, advanced=True)
    alpha: int = setting(32, "Weight of the adapter: alpha / rank.", metavar="N", panel=HOW, advanced=True)
    dropout: float = setting(0.0, "Dropout in the adapter.", metavar="SHARE", panel=HOW, advanced=True)
    batch_size: int = setting(2, "Examples that go through the model at once.", metavar="N", panel=HOW)
    accumulation: int = setting(4, "Batches of a step.", metavar="N", panel=HOW, advanced=True)
    epochs: float = setting(2.0, "Passes over the examples.", metavar="X", panel=HOW)
    learning_rate: float = setting(2e-4, "The learning rate of AdamW.", metavar="X", panel=HOW)
    weight_decay: float = setting(0.01, "Weight decay of AdamW.", metavar="X", panel=HOW, advanced=True)
    optimizer: str = setting("auto", f"Optimizer: {', '.join(OPTIMIZERS)}.", metavar="NAME", panel=HOW, advanced=True)
    warmup: float = setting(0.03, "Share of the steps in which the learning rate rises.", metavar="SHARE", panel=HOW, advanced=True)
    max_steps: int | None = setting(None, "End after this number of steps, for a trial.", metavar="N", panel=HOW, advanced=True)
    max_tokens: int | None = setting(
        None, "Longest example; longer ones are left out (default: the longest that the model takes).", metavar="N", panel=HOW
    )
    precision: str = setting("auto", f"Precision of the model: {', '.join(PRECISIONS)}.", metavar="NAME", panel=HOW)
    device: str = setting("auto", f"Device: {', '.join(DEVICES)}.", metavar="NAME", panel=HOW)
    seed: int = setting(7, "Seed of the order of the records and of other random numbers.", panel=HOW)

    @model_validator(mode="after")
    def _in_range(self) -> Self:
        for name, known in (("task", TASKS), ("device", DEVICES), ("precision", PRECISIONS), ("optimizer", OPTIMIZERS)):
            if getattr(self, name) not in known:
                raise UsageError(
                    f"there is no {name} {getattr(self, name)!r}", where=f"--{name}", remedy=f"Choose one of {', '.join(known)}"
                )
        check_markers(self, self.task)
        for name in ("rank", "alpha", "batch_size", "accumulation", "max_steps", "max_tokens"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise UsageError("it must be at least 1", where=f"--{name.replace('_', '-')}")
        if self.epochs <= 0 or self.learning_rate <= 0:
            raise UsageError("it must be more than 0", where="--epochs, --learning-rate")
        if not all(0 <= share < 1 for share in (self.warmup, self.dropout, self.weight_decay)):
            raise UsageError("it is a number from 0 to less than 1", where="--warmup, --dropout, --weight-decay")
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return {name: getattr(self, name) for name in LoraSettings.model_fields}

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the result, for digests: not the device, nor the division of a step's examples into batches."""
        shaping = self.to_json()
        del shaping["device"], shaping["batch_size"], shaping["accumulation"]
        return shaping | {"step": self.batch_size * self.accumulation}


class LoraPlace(TrainingPlace):
    """The folder of the base model, and that of the adapter."""

    model: AnyPath = setting(..., "Folder of a causal language model with its tokenizer.", metavar="DIR")
