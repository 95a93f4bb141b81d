"""The settings of the training of an encoder, of the windows into which its texts are cut, and the history of a training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from pydantic import model_validator

from piiloom.detection.training.training_options import HOW, Continuing, TrainingInput
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import Settings, setting
from piiloom.foundation.torch_devices import DEVICES

PRECISIONS: Final = ("auto", "fp32", "bf16", "fp16")
MAX_TOKENS: Final = 384
OVERLAP: Final = 64
# A question longer than that is cut: what is left of a window must hold text.
QUESTION_TOKENS: Final = 96
# The state of a training that is not done yet, in the folder that it writes.
CHECKPOINT: Final = "training.checkpoint"
_LEAST_TOKENS: Final = 32
# Few records have to be read more often before an encoder marks well; docs/training.md has the figures.
_LEAST_STEPS: Final = 480
_EPOCHS: Final = (4, 24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """How a text is cut: windows of up to ``max_tokens`` tokens, each with the whole question, which share ``overlap`` of them."""

    max_tokens: int = MAX_TOKENS
    overlap: int = OVERLAP
    question_tokens: int = QUESTION_TOKENS

    def bounded(self, model_tokens: int) -> Windows:
        """Return the windows for a model that reads *model_tokens* at once."""
        size = min(self.max_tokens, model_tokens)
        return Windows(max_tokens=size, overlap=min(self.overlap, size // 4), question_tokens=min(self.question_tokens, size // 3))


class EncoderSettings(Settings):
    """The settings of a training.

    ``contrast``: records of a contrast group are read in one batch, and mentions of high relevance to one of their questions only are
    told apart (``losses``). ``question_dropout``: share of the records that are read without their question, so that spans are found
    without one, too. Raises ``UsageError`` for a number out of range.
    """

    epochs: int | None = setting(
        None, "Largest number of passes over the records (default 4; for fewer than 1,900 records up to 24).", metavar="N", panel=HOW
    )
    batch_size: int = setting(16, "Windows of one step.", metavar="N", panel=HOW)
    learning_rate: float = setting(8e-5, "Learning rate of the encoder; larger ones need 1e-5 to 3e-5.", metavar="X", panel=HOW)
    head_learning_rate: float = setting(1e-3, "Learning rate of the heads.", flags="-")
    warm_up: float = setting(0.1, "Share of the steps in which the learning rate rises.", flags="-")
    weight_decay: float = setting(0.01, "Weight decay.", flags="-")
    relevance: bool = setting(
        True, "Learn the relevance to the question; without it, spans and types only.", flags="--relevance/--no-relevance", panel=HOW
    )
    contrast: bool = setting(
        False,
        "Learn also from the differences between questions of one text, at a price in spans.",
        panel=HOW,
        advanced=True,
        flags="--contrast/--no-contrast",
    )
    contrast_weight: float = setting(0.5, "Weight of that loss.", flags="-")
    class_weights: bool = setting(
        True,
        "Larger weights of rare types and of the rarer relevance.",
        flags="--class-weights/--no-class-weights",
        panel=HOW,
        advanced=True,
    )
    hide_question: bool = setting(False, "Ablation: never read the question, and guess the relevance without it.", panel=HOW, advanced=True)
    question_dropout: float = setting(0.1, "Share of records that are read without their question.", flags="-")
    patience: int | None = setting(
        None,
        "Epochs without progress in validation after which the training ends; 0: never early (default: a third of the epochs, at least 2).",
        metavar="N",
        panel=HOW,
        advanced=True,
    )
    precision: str = setting("auto", f"Precision: {', '.join(PRECISIONS)}; auto is bf16 where the device is quick at it.", panel=HOW)
    device: str = setting("auto", f"Device: {', '.join(DEVICES)}.", panel=HOW)
    threads: int = setting(0, "Threads on the processor; 0: as PyTorch chooses.", metavar="N", panel=HOW, advanced=True)
    max_tokens: int = setting(
        MAX_TOKENS, "Tokens of a window; longer texts are read in several, which overlap.", metavar="N", panel=HOW, advanced=True
    )
    seed: int = setting(7, "Seed of the order of the records and of other random numbers.", panel=HOW)
    checkpoint_minutes: float = setting(
        5.0,
        "Minutes between two checkpoints (besides one after each epoch); 0: one after each step.",
        metavar="N",
        panel=HOW,
        advanced=True,
    )

    @model_validator(mode="after")
    def _in_range(self) -> Self:
        least = {"epochs": 1, "batch_size": 1, "patience": 0, "threads": 0, "checkpoint_minutes": 0, "max_tokens": _LEAST_TOKENS}
        for name, bound in least.items():
            if (given := getattr(self, name)) is not None and given < bound:
                raise UsageError(f"at least {bound} is needed", where=_option(name))
        for name in ("learning_rate", "head_learning_rate"):
            if not 0 < getattr(self, name) < 1:
                raise UsageError("a learning rate lies between 0 and 1", where=_option(name), remedy="Usual are 1e-5 to 1e-3")
        for name, known in (("precision", PRECISIONS), ("device", DEVICES)):
            if getattr(self, name) not in known:
                raise UsageError(
                    f"there is no {name} {getattr(self, name)!r}", where=_option(name), remedy=f"Choose one of {', '.join(known)}"
                )
        return self

    def for_examples(self, count: int) -> EncoderSettings:
        """Return the settings for *count* examples, with the epochs for ``_LEAST_STEPS`` steps where none are given, within bounds."""
        least, most = _EPOCHS
        enough = math.ceil(_LEAST_STEPS / math.ceil(count / self.batch_size))
        epochs = self.epochs or min(most, max(least, enough))
        patience = max(2, epochs // 3) if self.patience is None else self.patience
        return self.model_copy(update={"epochs": epochs, "patience": patience})

    @property
    def windows(self) -> Windows:
        """How the texts are cut, before the model's own limit."""
        return Windows(max_tokens=self.max_tokens)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return {name: getattr(self, name) for name in EncoderSettings.model_fields}

    @property
    def shaping(self) -> dict[str, Any]:
        """The settings that shape the result: a training goes on only with the same ones."""
        return {name: value for name, value in self.to_json().items() if name not in {"checkpoint_minutes", "threads"}}


class EncoderOptions(Continuing, EncoderSettings, TrainingInput):
    """The options of a training besides the folders of the base model and of the result."""

    onnx: bool = setting(False, "Also write model.onnx, for detection without PyTorch.")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


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
