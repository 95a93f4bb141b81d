"""How a spaCy pipeline is trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from piiloom.foundation.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacySettings:
    """How it is trained.

    It ends after ``epochs``, or when the F1 on the validation records has not risen for ``patience`` epochs; the best epoch is kept.
    ``words`` are the tokens of a step, at most (one text at least). Raises ``UsageError`` for what makes no sense.
    """

    epochs: int = 30
    patience: int = 5
    words: int = 2000
    dropout: float = 0.1
    learning_rate: float = 1e-3
    seed: int = 7

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "words"):
            if getattr(self, name) < 1:
                raise UsageError("it must be at least 1", where=f"--{name}", remedy="Give 1 or more")
        if not 0 <= self.dropout < 1:
            raise UsageError("it is a share from 0 to less than 1", where="--dropout")
        if self.learning_rate <= 0:
            raise UsageError("it must be more than 0", where="--learning-rate")

    @property
    def identity(self) -> dict[str, Any]:
        """What shapes the result, for digests."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacyPlace:
    """The pipeline to begin with, a folder or the name of a package (None: a blank one), and where the trained one goes."""

    out: Path
    base: str | None = None
    resume: bool = False
    force: bool = False
