"""The options of trainings: the records to train on, the folder of the result, and the settings of adapters and of spaCy pipelines.

This module imports nothing heavy, so that ``--help`` is quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

from pydantic import field_validator, model_validator

from piiloom.corpus.markers import MarkerChoice
from piiloom.corpus.record import TRAIN
from piiloom.corpus.store import DEFAULT_STORE
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.families import CAPID, MARKERS
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import AnyPath, Converted, OptionalPath, Settings, setting
from piiloom.foundation.torch_devices import DEVICES
from piiloom.providers.model_calls import CALLS, MODEL

DATA: Final = "Data"
HOW: Final = "Training"
DEFAULT_EPOCHS: Final = 3
DEFAULT_SEED: Final = 7


def check_markers(asked: MarkerChoice, task: str) -> None:
    """Raise ``UsageError`` for a choice of markers without the *task* that learns them."""
    if asked.marker_set.pairs and task != MARKERS:
        raise UsageError(f"the task {task!r} has no markers", where="--markers", remedy=f"Add --task {MARKERS}, or leave it out")


class TrainingInput(Settings):
    """The records to train on: a release of a store, or files."""

    release: str | None = setting(None, "Release to train on: its split train. Or give --train.", metavar="NAME", panel=DATA)
    split: Converted[tuple[str, ...], Sequence[str]] = setting(
        (), f"Split of the release to train on ({TRAIN}, fold1 …; default {TRAIN}); repeatable.", metavar="SPLIT", panel=DATA
    )
    train: Converted[tuple[Path, ...], Sequence[str | Path]] = setting(
        (), "File of records to train on, instead of a release; repeatable.", metavar="FILE", panel=DATA
    )
    validation: OptionalPath = setting(
        None,
        "File of validation records; by default the release's validation split, or a part of the training records.",
        metavar="FILE",
        panel=DATA,
    )
    validation_size: Converted[str, str | float] = setting(
        "0.1", "Size of the part for validation where there is none; 0 trains without validation.", metavar="N|SHARE", panel=DATA
    )
    input_format: str | None = setting(
        None, "Format of the files (default native or capid, by the first row).", metavar="FORMAT", panel=DATA
    )
    skip_values: bool = setting(False, "CAPID files: leave out values without an exact place, and keep their records.", panel=DATA)
    store: AnyPath = setting(DEFAULT_STORE, "The DuckDB file of the release.", metavar="FILE", panel=DATA)

    @field_validator("validation_size", mode="before")
    @classmethod
    def _words(cls, size: Any) -> Any:
        return str(size) if isinstance(size, int | float) else size


class Continuing(Settings):
    """Options for a folder that is not empty: ``resume`` continues an unfinished training there, ``force`` begins anew."""

    resume: bool = setting(False, "Continue a training that was stopped: give the same options.")
    force: bool = setting(False, "Begin anew in a folder that is not empty; its files are replaced.")


class TrainingPlace(Continuing):
    """The folder of the trained model."""

    out: AnyPath = setting(..., "Folder for the trained model; it must be new or empty.", flags="--out -o", metavar="DIR")


class ReasoningOptions(ModelSettings, TrainingInput):
    """The options of training sets for verifiers, with reasonings that a model writes."""

    provider: str | None = setting(
        None, "Provider of the model that reasons: openai, anthropic, compatible or local. Without it, rules reason.", panel=MODEL
    )
    predictions: OptionalPath = setting(
        None,
        "Findings of a detector in the same texts, native rows: each is a candidate, which is right if the records have it.",
        metavar="FILE",
        panel=DATA,
    )
    invented: bool = setting(
        True,
        "With --predictions, add also a right and an invented wrong candidate for each span.",
        flags="--invented/--no-invented",
        panel=DATA,
    )
    replies: AnyPath = setting(
        DEFAULT_STORE, "The DuckDB file in which replies are kept, so that none is paid for twice.", metavar="FILE", panel=CALLS
    )
    max_attempts: int = setting(6, "Calls for a reasoning that ends in the right verdict.", panel=CALLS, ge=1, le=20, advanced=True)
    seed: int = setting(DEFAULT_SEED, "Seed of the part for validation and of the draws of the model.")
    default: str = setting(
        "T", "Verdict on a wrong candidate that the model always takes for right: T, or drop for no row.", metavar="T|drop"
    )


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


class SpacySettings(Settings):
    """The settings of a training. The best epoch is kept. Raises ``UsageError`` for numbers out of range."""

    epochs: int = setting(30, "Largest number of epochs.", metavar="N", panel=HOW)
    patience: int = setting(5, "Epochs without a rise of F1 on validation after which the training ends.", metavar="N", panel=HOW)
    words: int = setting(2000, "Largest number of tokens of a step (one text at least).", metavar="N", panel=HOW, advanced=True)
    dropout: float = setting(0.1, "Share of values left out.", metavar="SHARE", panel=HOW, advanced=True)
    learning_rate: float = setting(1e-3, "The learning rate of Adam.", metavar="X", panel=HOW, advanced=True)
    seed: int = setting(7, "Seed of the order of the records and of other random numbers.", panel=HOW)

    @model_validator(mode="after")
    def _in_range(self) -> Self:
        for name in ("epochs", "patience", "words"):
            if getattr(self, name) < 1:
                raise UsageError("it must be at least 1", where=f"--{name}", remedy="Give 1 or more")
        if not 0 <= self.dropout < 1:
            raise UsageError("it is a share from 0 to less than 1", where="--dropout")
        if self.learning_rate <= 0:
            raise UsageError("it must be more than 0", where="--learning-rate")
        return self

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the result, for digests."""
        return {name: getattr(self, name) for name in SpacySettings.model_fields}


class SpacyPlace(TrainingPlace):
    """The pipeline to begin with, and the folder of the trained one."""

    model: str | None = setting(
        None, "Begin with the tokenizer, vectors and word layers of this pipeline; without it, blank.", metavar="NAME|DIR"
    )
