"""How an adapter is trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import UsageError
from piiloom.foundation.torch_devices import DEVICES

CAPID: Final = "capid"
MARKERS: Final = "markers"
VERIFIER_1: Final = "verifier-1"
VERIFIER_2: Final = "verifier-2"
TASKS: Final = (CAPID, MARKERS, VERIFIER_1, VERIFIER_2)
PRECISIONS: Final = ("auto", "4bit", "16bit", "32bit")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraSettings:
    """What is trained, and how.

    ``task`` is what the model learns to answer: a JSON list of values (capid), the text with markers, or the verdict on a span, alone or
    behind a reasoning. ``batch`` examples go through the model at once, ``accumulation`` times for each step of the optimizer;
    ``warmup`` is the share of steps in which the learning rate rises. ``max_steps`` ends the training early. Examples of more than
    ``max_length`` tokens (None: than the model takes) are left out. ``precision`` "auto" is 4 bits on a GPU and 32 bits on a CPU.

    Raises ``UsageError`` for what makes no sense.
    """

    task: str = CAPID
    rank: int = 32
    alpha: int = 32
    dropout: float = 0.0
    batch: int = 2
    accumulation: int = 4
    epochs: float = 2.0
    learning_rate: float = 2e-4
    warmup: float = 0.03
    max_steps: int | None = None
    max_length: int | None = None
    seed: int = 7
    device: str = "auto"
    precision: str = "auto"

    def __post_init__(self) -> None:
        for name, known, option in (("task", TASKS, "--task"), ("device", DEVICES, "--device"), ("precision", PRECISIONS, "--precision")):
            if getattr(self, name) not in known:
                raise UsageError(f"there is no {name} {getattr(self, name)!r}", where=option, remedy=f"Choose one of {', '.join(known)}")
        for name in ("rank", "alpha", "batch", "accumulation", "max_steps", "max_length"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise UsageError("it must be at least 1", where=f"--{name.replace('_', '-')}")
        if self.epochs <= 0 or self.learning_rate <= 0:
            raise UsageError("it must be more than 0", where="--epochs, --learning-rate")
        if not (0 <= self.warmup < 1 and 0 <= self.dropout < 1):
            raise UsageError("it is a share from 0 to less than 1", where="--warmup, --dropout")

    @property
    def identity(self) -> dict[str, Any]:
        """What shapes the result, for digests. The device does not, nor how a step's examples are parted between batches."""
        shaping = asdict(self)
        del shaping["device"], shaping["batch"], shaping["accumulation"]
        return shaping | {"step": self.batch * self.accumulation}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraPlace:
    """Where the base model is, and where the adapter goes. ``resume`` goes on with an unfinished training there, ``force`` begins anew."""

    base: Path
    out: Path
    resume: bool = False
    force: bool = False
