"""A server that is killed while it takes in edits: each one that it acknowledged is there afterwards, once."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest

from piiloom.corpus.store.annotation_events import load_documents, read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from tests.annotation_app.replaying import replayed_documents
from tests.annotation_app.sync_stories import Tab, insert, record, service_over, shared_store
from tests.forked import Forked
from tests.longer import EXPLORE

PEOPLE = 4
# Serves the store of argument 1: four people, each in a thread, who send three edits at a time and twice, and say what was acknowledged.
SERVER = """
import sys, threading
from pathlib import Path
from piiloom.annotation_app.sync.service import DocumentService
from piiloom.annotation_app.event_log import EventLog
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from tests.annotation_app.sync_stories import Tab, insert
shared = SharedStore(Store.open(Path(sys.argv[1])))
service = DocumentService(shared, EventLog(shared))
lock = threading.Lock()
def work(who):
    version = service.open(who, "r1").version
    tab = Tab(f"tab-{who}", newest=version)
    while True:
        tab.send("r1", version, *[insert("x")] * 3)
        acknowledged = service.deliver(who, tab.sent[-6:]).acknowledged[tab.name]
        version += 3
        with lock:
            print(who, acknowledged, flush=True)
for number in range(int(sys.argv[2])):
    threading.Thread(target=work, args=(f"person-{number}",), daemon=True).start()
threading.Event().wait()
"""


@pytest.mark.long
def test_every_acknowledged_edit_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    shared_store([record(1)], path).close()
    rng = random.Random(10)
    acknowledged: dict[str, int] = {}
    for _ in range(10 if EXPLORE else 6):
        for line in served_and_killed(path, rng.uniform(0.05, 0.6)):
            who, number = line.split()
            acknowledged[who] = max(acknowledged.get(who, 0), int(number))
        check(path, acknowledged)
    assert len(acknowledged) == PEOPLE
    pending_is_delivered(path, acknowledged)


def served_and_killed(path: Path, after_s: float) -> list[str]:
    """What the server acknowledged until it was killed, *after_s* seconds after the first time."""
    with Forked([sys.executable, "-c", SERVER, path, PEOPLE]) as process:
        first = process.stdout.readline()
        time.sleep(after_s)
        process.kill()
        lines = [first, *process.stdout]
    return [line for line in lines if line.endswith("\n")]


def check(path: Path, acknowledged: dict[str, int]) -> None:
    with Store.open(path, create=False) as store:
        for who, newest in acknowledged.items():
            events = read_events(store, actor=who)
            assert [event.sequence for event in events] == list(range(1, len(events) + 1))
            assert {event.kind for event in events} == {"edit"}
            assert len(events) >= newest
            assert len(events) % 3 == 0  # whole batches
        assert list(replayed_documents(store)) == load_documents(store)


def pending_is_delivered(path: Path, acknowledged: dict[str, int]) -> None:
    """The browser does not know how much was done of what was not acknowledged, and sends all of that again."""
    shared = SharedStore(Store.open(path))
    service = service_over(shared)
    for who, newest in acknowledged.items():
        tab = Tab(f"tab-{who}", newest=newest)
        tab.send("r1", newest, *[insert("x")] * 12)
        result = service.deliver(who, tab.sent)
        assert result.acknowledged == {tab.name: newest + 12}
        assert result.stale == result.refused == ()
        assert service.open(who, "r1").version == newest + 12
    shared.close()
