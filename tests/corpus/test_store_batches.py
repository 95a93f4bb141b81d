"""Batches in the store: what is open, and what of it is still owed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from piiloom.corpus.store.call_events import (
    BATCH_STATES,
    OPEN_STATES,
    BatchRequestRow,
    BatchRow,
    CallEvent,
    load_batches,
    load_open_batches,
    save_batch_requests,
    save_batches,
    save_call_events,
)
from piiloom.corpus.store.database import MEMORY, Store


@pytest.fixture
def store():
    with Store.open(MEMORY) as opened:
        yield opened


def batch(name="b1", **changes):
    row = BatchRow(
        id=name,
        run_id="r1",
        provider="openai",
        endpoint="https://api.openai.com/v1",
        model="m",
        remote_id=None,
        state="preparing",
        requests=2,
        created_at="2026-11-21T21:00:00.000+00:00",
    )
    return replace(row, **changes)


def request(number, batch_id="b1", **changes):
    row = BatchRequestRow(
        batch_id=batch_id,
        run_id="r1",
        custom_id=f"{batch_id}-{number}",
        key=f"key{number}",
        stage="situation",
        item_id=str(number),
        attempt=0,
        worst_usd=None if number == 9 else 0.25,
    )
    return replace(row, **changes)


def test_a_batch_is_replaced_by_its_newer_row(store):
    save_batches(store, [batch(), batch("b2", created_at="2026-11-22T00:00:00.000+00:00")])
    save_batches(store, [batch(state="submitted", remote_id="batch_7"), batch(state="ended", remote_id="batch_7")])
    assert load_batches(store) == [
        batch(state="ended", remote_id="batch_7"),
        batch("b2", created_at="2026-11-22T00:00:00.000+00:00"),
    ]
    save_batches(store, [])
    assert len(load_batches(store)) == 2


def test_batches_are_chosen_by_run_and_state(store):
    rows = [batch(state, state=state) for state in BATCH_STATES] + [batch("other", run_id="r2")]
    save_batches(store, rows)
    assert {row.id for row in load_batches(store, "r1")} == set(BATCH_STATES)
    assert {row.id for row in load_batches(store, states=OPEN_STATES)} == {*OPEN_STATES, "other"}
    assert {found.row.id for found in load_open_batches(store, "r1")} == set(OPEN_STATES)


def test_requests_come_back_as_they_were_written(store):
    rows = [request(1), request(9), request(3)]
    save_batch_requests(store, rows)
    save_batch_requests(store, [request(1, "b2")])
    assert store.objects(BatchRequestRow, "FROM batch_requests WHERE batch_id = 'b1' ORDER BY rowid") == rows


def test_what_has_a_reply_is_not_owed_and_tries_are_counted(store):
    save_batches(store, [batch(state="collected"), batch("b2", state="submitted")])
    save_batch_requests(store, [request(1), request(2), request(1, "b2"), request(2, "b2"), request(3, "b2")])
    reply = CallEvent(key="key2", kind="reply", stage="situation", item_id="2", attempt=0, entry={"reply": "{}"})
    failure = CallEvent(key="key1", kind="failed", stage="situation", item_id="1", attempt=0, entry={"try": 1})
    save_call_events(store, "r1", [reply, failure])
    (found,) = load_open_batches(store, "r1")
    assert [(owed.row.key, owed.tries) for owed in found.owed] == [("key1", 2), ("key3", 1)]
