"""How far a run is, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Phase = Literal["preparing", "counting", "looking", "filling", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """``done`` of ``total`` bytes of the input in this phase (documents for "looking" and "filling")."""

    phase: Phase
    done: int = 0
    total: int = 0
    replaced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """``report`` is what ``report.json`` holds; ``warnings`` are also told there, but for those of the vault."""

    out: Path
    documents: int
    replaced: int
    report: Mapping[str, Any]
    warnings: tuple[str, ...]
    vault: Path | None = None
