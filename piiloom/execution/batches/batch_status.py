"""The state of batches at a provider, for live views and for the message after a run was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piiloom.corpus.store.batches import BatchRow
from piiloom.foundation.words import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """State of one batch for views: how many of its requests are done, as the provider last reported."""

    row: BatchRow
    total: int
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchModeState:
    """State of batch mode: the batches at the provider, and how many calls have gathered for the next ones."""

    out: Sequence[BatchStatus]
    gathered: int


def how_to_go_on(statuses: Sequence[BatchStatus], run_id: str) -> str:
    """Return a message on the batches that continue at the provider and how to resume or cancel them; "" if there are none."""
    if not statuses:
        return ""
    one = len(statuses) == 1
    what, them = ("1 batch stays", "it") if one else (f"{len(statuses)} batches stay", "them")
    requests = sum(status.row.requests for status in statuses)
    return (
        f"{what} at {statuses[0].row.provider} and will be processed there ({counted(requests, 'request')}). "
        f"Collect {them} with: piiloom generate --resume {run_id}; cancel {them} with: piiloom batch cancel --run {run_id}"
    )
