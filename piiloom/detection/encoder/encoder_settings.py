"""How an encoder is trained, and how its texts are cut."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from piiloom.foundation.errors import UsageError
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderSettings:
    """The settings of a training.

    ``epochs``: how often all records are read, at most; None: as often as their number asks for (``EncoderSettings.for_examples``).
    ``relevance``: whether it is learnt. ``contrast``: records of a contrast group are read in one batch, and a mention that matters to one
    of their questions only is to be told apart (``losses``). ``hide_question``: an ablation, in which the model never sees a question.
    ``question_dropout``: the share of the records that are read without their question, so that spans are found without one, too.
    ``patience``: the training ends after so many epochs in a row that do no better on the validation records; 0: never early,
    None: a third of the epochs, but at least 2.
    ``checkpoint_minutes``: how often its state is kept; 0: after each step. ``threads``: of the processor; 0: as PyTorch chooses.

    Raises ``UsageError`` for a number out of range.
    """

    epochs: int | None = None
    batch_size: int = 16
    learning_rate: float = 8e-5
    head_learning_rate: float = 1e-3
    warm_up: float = 0.1
    weight_decay: float = 0.01
    relevance: bool = True
    contrast: bool = False
    contrast_weight: float = 0.5
    class_weights: bool = True
    hide_question: bool = False
    question_dropout: float = 0.1
    patience: int | None = None
    precision: str = "auto"
    device: str = "auto"
    threads: int = 0
    max_tokens: int = MAX_TOKENS
    seed: int = 7
    checkpoint_minutes: float = 5.0

    def __post_init__(self) -> None:
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

    def for_examples(self, count: int) -> EncoderSettings:
        """Return the settings for *count* examples, with the epochs for ``_LEAST_STEPS`` steps where none are given, within bounds."""
        least, most = _EPOCHS
        enough = math.ceil(_LEAST_STEPS / math.ceil(count / self.batch_size))
        epochs = self.epochs or min(most, max(least, enough))
        return replace(self, epochs=epochs, patience=max(2, epochs // 3) if self.patience is None else self.patience)

    @property
    def windows(self) -> Windows:
        """How the texts are cut, before the model's own limit."""
        return Windows(max_tokens=self.max_tokens)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)

    @property
    def shaping(self) -> dict[str, Any]:
        """Those that shape the result: a training goes on only with the same ones."""
        return {name: value for name, value in self.to_json().items() if name not in {"checkpoint_minutes", "threads"}}


def settings_of(row: Mapping[str, Any]) -> EncoderSettings:
    """Return the settings that ``to_json`` gave; keys that are not known are left out."""
    known = {one.name for one in fields(EncoderSettings)}
    return EncoderSettings(**{name: value for name, value in row.items() if name in known})


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
