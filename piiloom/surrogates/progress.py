"""Progress and result of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from piiloom.foundation.frames import Framed

Phase = Literal["preparing", "scanning", "replacing", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a run: ``done`` of ``total`` in this phase, in bytes of the input for "scanning", then in documents.

    ``replaced`` counts the surrogates so far.
    """

    phase: Phase
    done: int = 0
    total: int = 0
    replaced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport(Framed):
    """Result of a run. ``report`` is the content of ``report.json``. ``warnings`` has the report's warnings and those about the vault."""

    out: Path
    documents: int
    replaced: int
    report: Mapping[str, Any]
    warnings: tuple[str, ...]
    vault: Path | None = None
