"""The state of a training, kept so that a killed one goes on as if nothing had happened. Needs the extra ``train``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import torch

from piiloom.detection.encoder.encoder_settings import CHECKPOINT
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.whole_files import drafted

_SCHEMA: Final = 1


class Checkpoints:
    """The checkpoint of the training *identity* (what shapes its result, as a digest) in *folder*."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.path = folder / CHECKPOINT
        self._identity = identity

    def save(self, state: dict[str, Any]) -> None:
        """Replace the checkpoint by *state*. Raises ``OutputError``."""
        with drafted(self.path) as fh:
            torch.save({"schema": _SCHEMA, "identity": self._identity, **state}, fh)

    def load(self) -> dict[str, Any] | None:
        """Return what was saved, None if there is nothing.

        Raises ``DataError`` if it is damaged, and ``UsageError`` if it is of other data, settings or another base.
        """
        if not self.path.exists():
            return None
        try:
            state: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
            schema, identity = state["schema"], state["identity"]
        except Exception as error:  # the library raises what it likes
            raise DataError("the checkpoint is damaged", where=str(self.path), remedy="Begin anew with --force") from error
        if schema != _SCHEMA or identity != self._identity:
            problem = "the checkpoint is of a training with other records, settings or another base model"
            raise UsageError(problem, where=str(self.path), remedy="Give the same ones with --resume, or begin anew with --force")
        return state

    def remove(self) -> None:
        """Remove the checkpoint: the training is done."""
        self.path.unlink(missing_ok=True)
