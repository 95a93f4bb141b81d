"""How far a run is, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionProgress:
    """``done`` of ``total`` lines, rows or files of the input are finished (``total`` None: unknown).

    ``kept`` of the ``documents`` were done by earlier sessions. ``spent_usd`` is what a model has cost, in all sessions of its run.
    """

    documents: int
    spans: int
    refused: int
    done: int
    total: int | None
    kept: int = 0
    spent_usd: float | None = None


Watch = Callable[[DetectionProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionReport:
    """What a run did.

    ``figures`` are the counts (``documents``, ``spans``, ``types``, ``subtypes`` …), equal for equal inputs and settings. ``files`` were
    written. ``kept`` documents were done by earlier sessions; ``seconds`` and ``documents_per_second`` are of this session,
    ``model`` what a model was asked and has cost.
    """

    out: Path
    figures: Mapping[str, Any]
    files: tuple[Path, ...]
    kept: int
    seconds: float
    model: Mapping[str, Any] | None = None

    @property
    def documents_per_second(self) -> float | None:
        """How many documents this session did in a second; None if there were none to be done."""
        done = self.figures["documents"] + self.figures["failed"] - self.kept
        return done / self.seconds if done > 0 and self.seconds > 0 else None

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        rate = self.documents_per_second
        return {
            "out": str(self.out),
            **self.figures,
            "files": [str(path) for path in self.files],
            "model": None if self.model is None else dict(self.model),
            "kept": self.kept,
            "seconds": round(self.seconds, 3),
            "documents_per_second": None if rate is None else round(rate, 1),
        }
