"""The settings of the training of a spaCy pipeline."""

from __future__ import annotations

from typing import Any, Self

from pydantic import model_validator

from piiloom.detection.training.training_options import HOW, TrainingPlace
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import Settings, setting


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
