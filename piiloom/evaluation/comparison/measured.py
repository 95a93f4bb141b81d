"""What running a detector took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SPEED: Final = "documents/s"
MEMORY: Final = "peak MB"
COST: Final = "USD/1,000"
FAILED: Final = "failed"
NOTE: Final = "documents/s and peak memory: of a process for each detector, with the time that it takes to load"
ECE: Final = "ECE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run over ``documents`` documents, ``failed`` of which it could say nothing about.

    ``seconds``: of the run, with loading, without starting Python. ``peak_bytes``: the most memory of its process. ``usd``: what it cost;
    None if a price is unknown.
    """

    documents: int
    failed: int
    seconds: float
    peak_bytes: int
    usd: float | None


ECE_NOTE: Final = "ECE: how far scores are from the share of right spans (expected calibration error, ten bands)"


def measured_columns(measured: Mapping[str, Measured], eces: Mapping[str, float | None]) -> dict[str, dict[str, str]]:
    """Return the columns of a comparison's table, see ``comparison_table``; those in which nothing stands are left out."""
    columns = {
        SPEED: {name: _rate(one) for name, one in measured.items()},
        MEMORY: {name: f"{one.peak_bytes / 1e6:,.0f}" for name, one in measured.items()},
        COST: {name: "unknown" if one.usd is None else f"{1000 * one.usd / max(1, one.documents):.4f}" for name, one in measured.items()},
        FAILED: {name: f"{one.failed:,}" for name, one in measured.items()} if any(one.failed for one in measured.values()) else {},
        ECE: {name: f"{ece:.4f}" for name, ece in eces.items() if ece is not None},
    }
    return {title: cells for title, cells in columns.items() if cells}


def _rate(one: Measured) -> str:
    rate = one.documents / one.seconds if one.seconds else 0.0
    return f"{rate:,.1f}" if rate < 100 else f"{rate:,.0f}"
