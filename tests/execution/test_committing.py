"""Group commits: what was waited for is on disk, and a failure reaches every caller."""

from __future__ import annotations

import asyncio

import pytest

from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.runs import RejectRow, create_run, load_plan_items, load_rejects, load_shared_results
from piiloom.execution.committing import Batch, GroupCommitter
from piiloom.foundation.errors import DataError


@pytest.fixture
def store():
    with Store.open(MEMORY) as opened:
        yield opened


@pytest.fixture
def run_id(store):
    return create_run(store, provider="p", model=None, seed=1, samples=1, config={}, config_digest="d").id


def test_rows_are_in_the_store_once_the_commit_was_awaited(store, run_id):
    committer = GroupCommitter(store, run_id)
    committer.start()

    async def put_all():
        await asyncio.gather(*(committer.commit(Batch(plan_items=[(index, f'"{index}"')])) for index in range(50)))

    asyncio.run(put_all())
    committer.close()
    assert load_plan_items(store, run_id) == [(index, f'"{index}"') for index in range(50)]


def test_closing_writes_what_lingers(store, run_id):
    committer = GroupCommitter(store, run_id, pace_s=60)
    committer.start()
    reject = RejectRow(plan_index=4, stage="spans", reason_code="value_missing", attempts=1)
    committer.put(Batch(rejects=[reject], shared=[("topics", "a+b", "[]")]))
    committer.close()
    assert load_rejects(store, run_id) == [reject]
    assert load_shared_results(store, run_id, "topics") == {"a+b": "[]"}


def test_a_failed_commit_is_told_to_waiting_and_later_callers(store, run_id):
    committer = GroupCommitter(store, run_id)
    committer.start()
    with pytest.raises(DataError):
        asyncio.run(committer.commit(Batch(plan_items=[(1, "\ud800")])))
    with pytest.raises(DataError):
        committer.put(Batch(plan_items=[(2, "fine")]))
    with pytest.raises(DataError):
        committer.close()
    assert load_plan_items(store, run_id) == []


def test_a_committer_that_never_started_closes(store, run_id):
    committer = GroupCommitter(store, run_id)
    committer.close()
    assert load_plan_items(store, run_id) == []
