"""The options of trainings: records, the folder of the result, and the settings of adapters, spaCy pipelines, encoders and jobs at OpenAI.

This module imports nothing heavy, so that ``--help`` is quick.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from piiloom.providers.model_calls import CALLS, MODEL, MONEY

DATA: Final = "Data"
HOW: Final = "Training"
DEFAULT_EPOCHS: Final = 3
DEFAULT_SEED: Final = 7


def check_markers(asked: MarkerChoice, task: str) -> None:
    """Raise ``UsageError`` for a choice of markers without the *task* that learns them."""
    if asked.marker_set.pairs and task != MARKERS:
        raise UsageError(f"the task {task!r} has no markers", where="--markers", remedy=f"Add --task {MARKERS}, or leave it out")


def check_known(asked: Settings, **known: Sequence[str]) -> None:
    """Raise ``UsageError`` for a word of *asked* that is not one of the *known* ones of its setting."""
    for name, words in known.items():
        if (given := getattr(asked, name)) not in words:
            raise UsageError(f"there is no {name} {given!r}", where=f"--{name}", remedy=f"Choose one of {', '.join(words)}")


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
        check_known(self, task=TASKS, device=DEVICES, precision=PRECISIONS, optimizer=OPTIMIZERS)
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


JOB: Final = "Job"
_TUNED_TASKS: Final = (MARKERS, CAPID, VERIFIER_1, VERIFIER_2)
_LONGEST_SUFFIX: Final = 64
_LARGEST_SEED: Final = 2**31 - 1
_MOST_EPOCHS: Final = 50


class JobSettings(MarkerChoice):
    """The settings of a job at OpenAI. ``epochs`` None: OpenAI chooses. Raises ``UsageError`` for values that OpenAI would refuse."""

    task: str = setting(MARKERS, "Task that is learnt: markers, capid, verifier-1 or verifier-2.", panel=JOB)
    model: str | None = setting(None, "The base model (default gpt-4.1-mini-2025-04-14), or a tuned one.", metavar="NAME", panel=JOB)
    suffix: str | None = setting(None, "Part of the tuned model's name (default piiloom-TASK).", panel=JOB, advanced=True)
    seed: int | None = setting(None, "OpenAI's seed, and that of the part for validation.", panel=JOB)
    epochs: Converted[int | None, int | str | None] = setting(
        DEFAULT_EPOCHS, "Passes over the data; auto: OpenAI chooses.", metavar="N|auto", panel=JOB, kind=str
    )
    batch_size: int | None = setting(
        None, "Examples in a batch; OpenAI chooses by default.", metavar="N", panel=JOB, ge=1, le=256, advanced=True
    )
    learning_rate: float | None = setting(
        None, "Multiplier of the learning rate; OpenAI's by default.", metavar="X", panel=JOB, ge=0, advanced=True
    )

    @field_validator("epochs", mode="before")
    @classmethod
    def _count(cls, epochs: Any) -> Any:
        if epochs == "auto":
            return None
        if isinstance(epochs, str) and not (epochs.isascii() and epochs.isdigit()):
            raise UsageError(f"{epochs!r} is no number of epochs", where="--epochs", remedy="Give a number, or auto")
        return epochs

    @model_validator(mode="after")
    def _accepted(self) -> Self:
        check_known(self, task=_TUNED_TASKS)
        check_markers(self, self.task)
        suffix = self.suffix
        if suffix is not None and not (0 < len(suffix) <= _LONGEST_SUFFIX and suffix.isascii() and suffix.replace("-", "a").isalnum()):
            raise UsageError(
                f"{suffix!r} cannot be part of a model's name",
                where="--suffix",
                remedy=f"Give up to {_LONGEST_SUFFIX} ASCII letters, digits and dashes",
            )
        if self.seed is not None and not 0 <= self.seed <= _LARGEST_SEED:
            raise UsageError("OpenAI takes no such seed", where="--seed", remedy=f"Give a number from 0 to {_LARGEST_SEED:,}")
        if self.epochs is not None and not 1 <= self.epochs <= _MOST_EPOCHS:
            raise UsageError("this is no number of epochs", where="--epochs", remedy=f"Give a number from 1 to {_MOST_EPOCHS}, or auto")
        return self


class TuningOptions(TrainingInput, JobSettings):
    """The options of a training at OpenAI."""

    training_price: float | None = setting(
        None, "USD per million trained tokens, if not as listed.", metavar="USD", panel=JOB, ge=0, advanced=True
    )
    base_url: str | None = setting(None, "Another server with OpenAI's fine-tuning API.", metavar="URL", panel=CALLS, advanced=True)
    budget_usd: float | None = setting(
        None, "Hard limit of the costs: nothing is sent that could exceed it.", metavar="USD", panel=MONEY, gt=0
    )
    unpriced: bool = setting(False, "Continue although the price of training the model is unknown.", panel=MONEY, advanced=True)
    timeout_s: float = setting(
        60.0, "Longest duration of one request.", flags="--timeout", metavar="SECONDS", panel=CALLS, gt=0, le=3600, advanced=True
    )
    poll_s: float | None = setting(
        None,
        "Seconds between two looks (default 5, growing to 60).",
        flags="--poll",
        metavar="SECONDS",
        panel=CALLS,
        ge=0.01,
        advanced=True,
    )
    yes: bool = setting(False, "Confirm in advance that the texts may be sent to OpenAI.", flags="--yes -y", panel=CALLS)


ENCODER_PRECISIONS: Final = ("auto", "fp32", "bf16", "fp16")
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
    precision: str = setting(
        "auto", f"Precision: {', '.join(ENCODER_PRECISIONS)}; auto is bf16 where the device is quick at it.", panel=HOW
    )
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
        check_known(self, precision=ENCODER_PRECISIONS, device=DEVICES)
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
