"""The journal's guard: what another run has sent in a batch is not asked for a second time."""

from __future__ import annotations

import asyncio

import pytest

from piiloom.corpus.store.call_events import BatchRequestRow, BatchRow, CallEvent, save_batch_requests, save_batches, save_call_events
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.deleting import purge_texts
from piiloom.corpus.store.runs import create_run
from piiloom.execution.committing import GroupCommitter, Journal
from piiloom.foundation.errors import RunError

KEY = "0123456789abcde" + "0" * 49
SAME_PREFIX = KEY[:15] + "1" * 49
RUNS = ("answered", "waiting", "asking")


@pytest.fixture
def store():
    with Store.open(MEMORY) as opened:
        for run in RUNS:
            create_run(opened, provider="p", model=None, seed=1, samples=1, config={}, config_digest=run, run_id=run)
        yield opened


def answer(store, key, run="answered"):
    event = CallEvent(key=key, kind="reply", stage="question", item_id="4", attempt=0, entry={"reply": "{}", "error": None})
    save_call_events(store, run, [event])


def send_in_a_batch(store, key, run="waiting"):
    batch = BatchRow(
        id="b1",
        run_id=run,
        provider="p",
        endpoint="e",
        model="m",
        remote_id="r1",
        state="submitted",
        requests=1,
        created_at="2026-01-01T00:00:00+00:00",
    )
    save_batches(store, [batch])
    request = BatchRequestRow(
        batch_id="b1", run_id=run, custom_id="b1-0", key=key, stage="question", item_id="4", attempt=0, worst_usd=None
    )
    save_batch_requests(store, [request])


def found(store, key, run="asking"):
    committer = GroupCommitter(store, run)
    journal = Journal(store, committer, run)
    committer.start()
    try:
        return asyncio.run(journal.find(key))
    finally:
        committer.close()


def test_a_key_that_is_out_in_a_batch_of_another_run_is_refused(store):
    send_in_a_batch(store, KEY)
    with pytest.raises(RunError) as caught:
        found(store, KEY)
    assert caught.value.where == "waiting"
    assert found(store, KEY, run="waiting") is None  # its own run waits for that batch
    assert found(store, SAME_PREFIX) is None


def test_a_reply_of_any_run_is_found_although_the_key_is_out_elsewhere(store):
    answer(store, KEY)
    send_in_a_batch(store, KEY)
    assert found(store, KEY).run_id == "answered"


def test_a_purged_reply_does_not_hide_the_batch_that_is_out(store):
    answer(store, KEY)
    purge_texts(store, ["answered"])
    send_in_a_batch(store, KEY)
    with pytest.raises(RunError):
        found(store, KEY)


def test_another_key_of_the_same_prefix_does_not_hide_the_batch_that_is_out(store):
    answer(store, SAME_PREFIX)
    send_in_a_batch(store, KEY)
    with pytest.raises(RunError):
        found(store, KEY)
