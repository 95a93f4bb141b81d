"""How far the training of a pipeline is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacyProgress:
    """``epoch`` is done. ``f1`` and ``best`` are on the validation records, None without such; ``best_epoch`` is that of ``best``."""

    epoch: int
    epochs: int
    loss: float
    f1: float | None
    best: float | None
    best_epoch: int

    def line(self) -> str:
        """Return it as a line."""
        shown = f"epoch {self.epoch} of at most {self.epochs} · loss {self.loss:,.1f}"
        if self.f1 is None:
            return shown
        return f"{shown} · validation F1 {self.f1:.3f}, best {self.best or 0:.3f} after epoch {self.best_epoch}"


Watch = Callable[[SpacyProgress], object]
