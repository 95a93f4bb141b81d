"""Partition stores: what is lent, what comes back, and that nothing comes back twice."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from piiloom.corpus.store.call_events import CallEvent, answered_keys, save_call_events, save_prompt_texts
from piiloom.corpus.store.costs import open_sends, spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.derived_stores import deal_partition, left_over, merge_partition, missing, note_lost
from piiloom.corpus.store.runs import (
    RejectRow,
    StageResultRow,
    create_run,
    get_run,
    lift_rejects,
    load_plan_items,
    load_rejects,
    load_stage_results,
    save_plan_items,
    save_rejects,
    save_stage_results,
)
from piiloom.foundation.errors import NotAStore, StoreError, StoreLocked
from tests.longer import mostly_long

TABLES = ("call_events", "plan_items", "stage_results", "rejects", "prompt_texts", "shared_results", "runs")


def event(number: int, kind: str = "reply", item: object = 0, **entry) -> CallEvent:
    told = {"try": 1, "reply": f"said {number}", "cost_usd": 0.5, "input": 1, "cached": 0, "output": 1, **entry}
    return CallEvent(key=f"{number:x}".ljust(64, "0"), kind=kind, stage="situation", item_id=str(item), attempt=0, entry=told)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "it's a 'store'.duckdb") as store:
        for name in ("one", "two"):
            create_run(store, provider="openai", model="m", seed=7, samples=9, config={"a": "é"}, config_digest=name, run_id=name)
        save_call_events(store, "two", [event(1, item=3), event(2, item=4), event(3, item="3/1"), event(9, item="33/1")])
        save_call_events(store, "one", [event(4, item=3), event(5, "verdict", item=3, verdict="accepted")])
        save_prompt_texts(store, [("a", "known")])
        save_stage_results(store, "one", [StageResultRow(plan_index=3, stage="values", payload="old")])
        save_rejects(store, "one", [RejectRow(plan_index=3, stage="values", reason_code="x", attempts=1)])
        lift_rejects(store, "one", indexes=[3])
        yield store


def dump(store: Store) -> dict[str, list]:
    return {table: store.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in TABLES}  # noqa: S608


def work(path) -> None:
    """What a process does in a partition."""
    with Store.open(path, create=False) as part:
        assert get_run(part, "one").seed == 7
        save_call_events(
            part, "one", [event(8, "sent", item=3, worst_usd=2.0), event(6, item=3), event(7, "verdict", item=3, verdict="accepted")]
        )
        save_prompt_texts(part, [("a", "known"), ("b", "new")])
        save_plan_items(part, "one", [(3, "{}"), (5, "{}")])
        save_stage_results(part, "one", [StageResultRow(plan_index=3, stage="values", payload="new")])
        save_rejects(part, "one", [RejectRow(plan_index=5, stage="values", reason_code="y", attempts=2)])
        save_rejects(part, "one", [RejectRow(plan_index=None, key="run-wide", stage="topics", reason_code="z", attempts=2)])


def test_a_partition_has_its_run_and_the_replies_that_may_answer_it(store):
    partition = deal_partition(store, "one", 2, [3, 5])
    assert partition.path.name == "it's a 'store'.one.part-0002.duckdb"
    with Store.open(partition.path, create=False) as part:
        assert get_run(part, "one") == get_run(store, "one")
        assert len(answered_keys(part)) == 3
        rows = part.rows("SELECT run_id, item_id, kind, entry->>'$.reply' FROM call_events ORDER BY rowid")
        assert rows == [("two", "3", "reply", "said 1"), ("two", "3/1", "reply", "said 3"), ("one", "3", "reply", "said 4")]


def test_what_is_new_comes_back_once(store):
    partition = deal_partition(store, "one", 0, [3, 5])
    work(partition.path)
    kept = partition.path.with_name("copy")
    shutil.copy(partition.path, kept)
    before = spending(store, "one").answered
    merged = merge_partition(store, "one", partition.path)
    assert (merged.events, merged.results, merged.rejects, merged.again) == (3, 1, 1, False)
    assert not partition.path.exists()
    assert spending(store, "one").answered == before + 1
    assert [send.worst_usd for send in open_sends(store, "one")] == [2.0]
    assert load_stage_results(store, "one", "values") == {3: "new"}
    assert [row.reason_code for row in load_rejects(store, "one")] == ["y"]
    assert [row.reason_code for row in load_rejects(store, "one", lifted=True)] == ["x"]
    assert load_plan_items(store, "one") == [(3, "{}"), (5, "{}")]
    assert store.rows("SELECT * FROM prompt_texts ORDER BY ALL") == [("a", "known"), ("b", "new")]
    whole = dump(store)
    shutil.move(kept, partition.path)  # as if the process had been killed before it could delete it
    assert left_over(store, "one") == (partition.path,)
    assert merge_partition(store, "one", partition.path).again
    assert dump(store) == whole
    assert left_over(store, "one") == ()


def test_partitions_are_found_by_their_run(store, tmp_path):
    beside, elsewhere = deal_partition(store, "one", 0, [1]), deal_partition(store, "one", 1, [2], folder=tmp_path / "shared")
    other = deal_partition(store, "two", 0, [1])
    assert left_over(store, "one") == (beside.path, elsewhere.path)
    assert left_over(store, "two") == (other.path,)
    assert missing(store, "one") == ()
    elsewhere.path.unlink()
    assert missing(store, "one") == (elsewhere,)
    note_lost(store, elsewhere)
    assert missing(store, "one") == ()
    assert left_over(store, "one") == (beside.path,)


# Deals the items 1 and 2 of run "one" into the folder of argument 2, and is killed at the moment that argument 3 names.
KILLED = """
import os, signal, sys
from pathlib import Path
from piiloom.corpus.store import derived_stores
from piiloom.corpus.store.database import Store
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[3] == "before its file":
    derived_stores.remove_partition = lambda path: die() if path.name.endswith(".new") else None
elif sys.argv[3] == "half filled":
    derived_stores._lend = die
else:
    Path.rename = die
with Store.open(Path(sys.argv[1])) as store:
    derived_stores.deal_partition(store, "one", 0, [1, 2], folder=Path(sys.argv[2]))
"""


@pytest.mark.parametrize("moment", mostly_long(["before its file", "half filled", "before it has its name"], quick={"half filled"}))
def test_a_partition_whose_maker_was_killed_is_no_orphan(tmp_path, moment):
    path, folder = tmp_path / "s.duckdb", tmp_path / "elsewhere"
    with Store.open(path) as store:
        create_run(store, provider="openai", model="m", seed=7, samples=9, config={}, config_digest="one", run_id="one")
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), str(folder), moment], check=False)
    assert done.returncode == -9
    with Store.open(path) as store:
        assert left_over(store, "one") == ()
        (half,) = missing(store, "one")
        assert (half.number, half.items, half.path.parent) == (0, 2, folder)
        note_lost(store, half)
        assert (left_over(store, "one"), missing(store, "one")) == ((), ())
        assert not folder.exists() or list(folder.iterdir()) == []
        assert merge_partition(store, "one", deal_partition(store, "one", 0, [1, 2], folder=folder).path).again is False


def test_a_stump_of_the_same_name_is_replaced(store):
    path = deal_partition(store, "one", 0, [1]).path
    path.with_name(f"{path.name}.wal").write_bytes(b"old")
    work(path := deal_partition(store, "one", 0, [3]).path)
    assert merge_partition(store, "one", path).events == 3


def test_what_is_no_partition_of_the_run_is_left_alone(store):
    own, other = deal_partition(store, "one", 0, [1]), deal_partition(store, "two", 0, [1])
    other.path.replace(own.path)
    with pytest.raises(StoreError, match="not a partition of run one"):
        merge_partition(store, "one", own.path)
    Store.open(plain := own.path.with_name("plain.duckdb")).close()
    with pytest.raises(StoreError, match="not a partition of run one"):
        merge_partition(store, "one", plain)
    plain.write_text("somebody's diary")
    with pytest.raises(NotAStore):
        merge_partition(store, "one", plain)
    assert own.path.exists()
    assert plain.exists()
    assert spending(store, "one").answered == 1


def test_a_partition_that_is_worked_on_is_not_merged(store):
    path = deal_partition(store, "one", 0, [3]).path
    script = "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(StoreLocked):
            merge_partition(store, "one", path)
        holder.stdin.close()
        holder.wait()
    assert merge_partition(store, "one", path).again is False
