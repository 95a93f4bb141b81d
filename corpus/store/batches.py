"""Batches at a provider: what was handed over, under which id, and which requests were in it.

A batch is written before it is created remotely, and again with every change of its state; the row of an id is replaced.
Its requests are written once. What came of a request is in the journal, not here: a request without a reply there is
still owed, or was sent again in a later batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, Literal, cast, get_args

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.statements import select

BatchState = Literal["preparing", "submitted", "ended", "collected", "cancelled", "failed"]
BATCH_STATES: tuple[BatchState, ...] = get_args(BatchState)
# In these states a batch may hold replies that were paid for and are not in the journal yet.
OPEN_STATES: tuple[BatchState, ...] = ("preparing", "submitted", "ended")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """One batch. ``remote_id`` is None until the provider has answered; ``detail`` says why a batch came to nothing."""

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
    """One request of a batch: the journal's ``key``, whose item it is, and the most that it can cost (None: no price known)."""

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
    """A request whose key has no reply in the journal yet. ``tries`` counts the batches that it was in so far."""

    row: BatchRequestRow
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBatch:
    """A batch that has not been collected, and what of it is still owed."""

    row: BatchRow
    owed: tuple[OwedRequest, ...]


_BATCH = tuple(field.name for field in fields(BatchRow))
_REQUEST = tuple(field.name for field in fields(BatchRequestRow))


def save_batches(store: Store, rows: Sequence[BatchRow]) -> None:
    """Keep batches; the last row of an id counts and replaces what was there."""
    latest = {row.id: row for row in rows}
    if not latest:
        return
    with store.writing():
        store.change("DELETE FROM batches WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(latest)])
        store.append("batches", _BATCH, [astuple(row) for row in latest.values()])


def save_batch_requests(store: Store, rows: Sequence[BatchRequestRow]) -> None:
    """Keep the requests of batches, each once."""
    store.append("batch_requests", _REQUEST, [astuple(row) for row in rows])


def load_batches(store: Store, run_id: str | None = None, *, states: Sequence[BatchState] = BATCH_STATES) -> list[BatchRow]:
    """The batches of a run (None: of all runs) in one of *states*, oldest first."""
    rest = "WHERE list_contains(?::VARCHAR[], state) AND (?::VARCHAR IS NULL OR run_id = ?) ORDER BY created_at, id"
    return [_batch(row) for row in store.rows(select(_BATCH, "batches", rest), [list(states), run_id, run_id])]


def load_batch_requests(store: Store, batch_id: str) -> list[BatchRequestRow]:
    """The requests of a batch, in the order they were written."""
    found = store.rows(select(_REQUEST, "batch_requests", "WHERE batch_id = ? ORDER BY rowid"), [batch_id])
    return [BatchRequestRow(**dict(zip(_REQUEST, row, strict=True))) for row in found]


def load_open_batches(store: Store, run_id: str | None = None) -> list[OpenBatch]:
    """The batches of a run (None: of all) that may hold replies which are paid for and not in the journal, oldest first."""
    return [OpenBatch(row=row, owed=_owed(store, row.id)) for row in load_batches(store, run_id, states=OPEN_STATES)]


def keys_out(store: Store, *, but_not: str) -> dict[str, str]:
    """Keys that batches of other runs than *but_not* still owe a reply to, and the run that waits for it."""
    sql = """
        SELECT r.key, r.run_id FROM batch_requests r JOIN batches b ON b.id = r.batch_id
        WHERE list_contains(?::VARCHAR[], b.state) AND b.run_id <> ? AND NOT EXISTS (
            SELECT 1 FROM call_events e WHERE e.key = r.key AND e.run_id = r.run_id AND e.kind = 'reply')"""
    return dict(store.rows(sql, [list(OPEN_STATES), but_not]))


def _owed(store: Store, batch_id: str) -> tuple[OwedRequest, ...]:
    # A run that was killed while it collected results has journaled some of them; those count once.
    sql = """
        SELECT r.batch_id, r.run_id, r.custom_id, r.key, r.stage, r.item_id, r.attempt, r.worst_usd,
            (SELECT count(*) FROM batch_requests o WHERE o.key = r.key AND o.run_id = r.run_id) FROM batch_requests r
        WHERE r.batch_id = ? AND NOT EXISTS (
            SELECT 1 FROM call_events e WHERE e.key = r.key AND e.run_id = r.run_id AND e.kind = 'reply')
        ORDER BY r.rowid"""
    found = store.rows(sql, [batch_id])
    return tuple(OwedRequest(row=BatchRequestRow(**dict(zip(_REQUEST, values, strict=True))), tries=tries) for *values, tries in found)


def _batch(row: tuple[Any, ...]) -> BatchRow:
    values = dict(zip(_BATCH, row, strict=True))
    values["state"] = cast("BatchState", values["state"])
    return BatchRow(**values)
