"""The options of a training at OpenAI. This module imports nothing heavy, so that ``--help`` is quick."""

from __future__ import annotations

from typing import Any, Final, Self

from pydantic import field_validator, model_validator

from piiloom.corpus.markers import MarkerChoice
from piiloom.detection.families import CAPID, MARKERS
from piiloom.detection.training.training_options import DEFAULT_EPOCHS, VERIFIER_1, VERIFIER_2, TrainingInput, check_markers
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import Converted, setting
from piiloom.providers.model_calls import CALLS, MONEY

JOB: Final = "Job"
TASKS: Final = (MARKERS, CAPID, VERIFIER_1, VERIFIER_2)
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
        if self.task not in TASKS:
            raise UsageError(f"there is no task {self.task!r}", where="--task", remedy=f"Choose one of {', '.join(TASKS)}")
        check_markers(self, self.task)
        suffix = self.suffix
        if suffix is not None and not (0 < len(suffix) <= _LONGEST_SUFFIX and suffix.isascii() and suffix.replace("-", "a").isalnum()):
            remedy = f"Give up to {_LONGEST_SUFFIX} ASCII letters, digits and dashes"
            raise UsageError(f"{suffix!r} cannot be part of a model's name", where="--suffix", remedy=remedy)
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
