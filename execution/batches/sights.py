"""What is out at a provider, for whoever watches a run or has stopped it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piiloom.corpus.store.batches import BatchRow
from piiloom.foundation.counting import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSight:
    """A batch that is out, for whoever watches: how many of its requests are done as far as its provider tells."""

    row: BatchRow
    total: int
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveState:
    """Batch mode at a moment: the batches that are out, and how many calls have gathered for the next ones."""

    out: Sequence[BatchSight]
    gathered: int


def how_to_go_on(sights: Sequence[BatchSight], run_id: str) -> str:
    """Say what goes on at the provider without us, and how to take it up or end it; empty when nothing is out."""
    if not sights:
        return ""
    one = len(sights) == 1
    what, them = ("1 batch stays", "it") if one else (f"{len(sights)} batches stay", "them")
    requests = sum(sight.row.requests for sight in sights)
    return (
        f"{what} at {sights[0].row.provider} and will be worked on there ({counted(requests, 'request')}). "
        f"Take {them} up with: piiloom generate --resume {run_id}; end {them} with: piiloom batch cancel --run {run_id}"
    )
