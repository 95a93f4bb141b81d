"""Batches sent to a provider's batch API: their ids, states and requests.

A batch is saved before it is created at the provider, and again (replacing its row) whenever its state changes. Its requests are
saved once. The outcome of a request is in the journal of calls, not here. A request without a reply in the journal is owed: it is
still pending, or was sent again in a later batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from piiloom.corpus.store.database import Store, conditions, field_names

BatchState = Literal["preparing", "submitted", "ended", "collected", "cancelled", "failed"]
BATCH_STATES: tuple[BatchState, ...] = get_args(BatchState)
# In these states a batch may have paid replies that are not in the journal yet.
OPEN_STATES: tuple[BatchState, ...] = ("preparing", "submitted", "ended")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """One batch. ``remote_id`` is the provider's id, None until it has answered. ``detail`` says why a batch failed."""

    id: str
    run_id: str
    provider: str
    endpoint: str
    model: str
    remote_id: str | None
    state: BatchState
    requests: int
    created_at: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequestRow:
    """One request of a batch: its ``key`` in the journal, its item, and its maximum cost in USD (None: no known price)."""

    batch_id: str
    run_id: str
    custom_id: str
    key: str
    stage: str
    item_id: str
    attempt: int
    worst_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwedRequest:
    """A request whose key has no reply in the journal yet. ``tries`` counts the batches it has been in so far."""

    row: BatchRequestRow
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBatch:
    """A batch in one of ``OPEN_STATES``, with its requests that have no reply yet."""

    row: BatchRow
    owed: tuple[OwedRequest, ...]


def save_batches(store: Store, rows: Sequence[BatchRow]) -> None:
    """Save batches. A stored row with the same id is replaced; if *rows* has an id twice, the last one counts."""
    latest = {row.id: row for row in rows}
    if not latest:
        return
    with store.writing():
        store.change("DELETE FROM batches WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(latest)])
        store.add("batches", list(latest.values()))


def save_batch_requests(store: Store, rows: Sequence[BatchRequestRow]) -> None:
    """Save the requests of batches. The caller must save each only once."""
    store.add("batch_requests", rows)


def load_batches(store: Store, run_id: str | None = None, *, states: Sequence[BatchState] = BATCH_STATES) -> list[BatchRow]:
    """The batches of a run (None: of all runs) in one of *states*, oldest first."""
    condition, parameters = conditions(("list_contains(?::VARCHAR[], state)", states), ("run_id = ?", run_id))
    return store.objects(BatchRow, f"FROM batches {condition} ORDER BY created_at, id", parameters)


def load_open_batches(store: Store, run_id: str | None = None) -> list[OpenBatch]:
    """Return the batches of a run (None: of all) that may have paid replies not yet in the journal, oldest first."""
    return [OpenBatch(row=row, owed=_owed(store, row.id)) for row in load_batches(store, run_id, states=OPEN_STATES)]


def keys_out(store: Store, *, but_not: str) -> dict[str, str]:
    """Return the keys still waiting for a reply in open batches of runs other than *but_not*, each with the run that waits for it."""
    sql = """
        SELECT r.key, r.run_id FROM batch_requests r JOIN batches b ON b.id = r.batch_id
        WHERE list_contains(?::VARCHAR[], b.state) AND b.run_id <> ? AND NOT EXISTS (
            SELECT 1 FROM call_events e WHERE e.key = r.key AND e.run_id = r.run_id AND e.kind = 'reply')"""
    return dict(store.rows(sql, [list(OPEN_STATES), but_not]))


def _owed(store: Store, batch_id: str) -> tuple[OwedRequest, ...]:
    # A run that was killed while collecting results has saved some replies in the journal already; leave those out.
    sql = """
        SELECT r.batch_id, r.run_id, r.custom_id, r.key, r.stage, r.item_id, r.attempt, r.worst_usd,
            (SELECT count(*) FROM batch_requests o WHERE o.key = r.key AND o.run_id = r.run_id) FROM batch_requests r
        WHERE r.batch_id = ? AND NOT EXISTS (
            SELECT 1 FROM call_events e WHERE e.key = r.key AND e.run_id = r.run_id AND e.kind = 'reply')
        ORDER BY r.rowid"""
    names = field_names(BatchRequestRow)
    found = store.rows(sql, [batch_id])
    return tuple(OwedRequest(row=BatchRequestRow(**dict(zip(names, values, strict=True))), tries=tries) for *values, tries in found)
