"""The log of events: nothing is lost among threads, its order and its times only go forward."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from piiloom.annotation_app.event_log import EventLog, stamp
from piiloom.corpus.store.annotation_events import NewEvent, append_events, newest_sequences, newest_time, read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import DataError, StoreError
from tests.longer import EXPLORE

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


@pytest.fixture
def shared(store_path: Path) -> Iterator[SharedStore]:
    opened = SharedStore(Store.open(store_path))
    yield opened
    opened.close()


def event(kind: str = "edit", actor: str = "ada", **fields: object) -> NewEvent:
    return NewEvent(actor=actor, kind=kind, **fields)  # type: ignore[arg-type]


def test_events_come_back_as_they_went_in_in_order(store: Store) -> None:
    rows = [
        event(record_id="r1", client="c", sequence=1, guideline=3, entry={"operation": {"inserted": "é👩‍👩‍👧 \ud800"}, "n": [1, None]}),
        event("skipped", "bo", record_id="r2"),
        event("logged_in", "bo"),
    ]
    with store.writing():
        added = append_events(store, rows, "2026-11-02T12:00:00.000+00:00")
    assert read_events(store) == added
    assert [row.event for row in added] == sorted({row.event for row in added})
    assert added[0].entry == rows[0].entry
    assert append_events(store, [], "later") == []


def test_events_are_chosen_by_all_that_is_given(store: Store) -> None:
    rows = [event(actor=who, kind=kind, record_id=record) for who in ("ada", "bo") for kind in ("edit", "stale") for record in ("r1", "r2")]
    added = append_events(store, rows, "2026")

    def chosen(**given: object) -> list[int]:
        return [found.event - added[0].event for found in read_events(store, **given)]  # type: ignore[arg-type]

    assert chosen(record_ids=["r1"]) == [0, 2, 4, 6]
    assert chosen(record_ids=["r2"], actor="bo", kinds=["stale"]) == [7]
    assert chosen(after=added[5].event) == [6, 7]
    assert chosen(numbers=[added[1].event, added[3].event, 10**9]) == [1, 3]
    assert chosen(record_ids=[]) == []


def test_newest_sequence_of_each_client(store: Store) -> None:
    append_events(store, [event(client="c", sequence=n) for n in (1, 3, 2)] + [event(client="d", sequence=9), event()], "2026")
    assert newest_sequences(store, ["c", "d", "e"]) == {"c": 3, "d": 9}


def test_time_does_not_go_back_with_the_clock_nor_after_a_restart(shared: SharedStore) -> None:
    times = iter([NOON, NOON - timedelta(hours=3), NOON + timedelta(seconds=1), NOON - timedelta(days=400)])
    log = EventLog(shared, lambda: next(times))
    for _ in range(3):
        with shared.writing() as store:
            log.append(store, [event()])
    with shared.reading() as store:
        assert [found.at for found in read_events(store)] == [stamp(NOON), stamp(NOON), stamp(NOON + timedelta(seconds=1))]
        assert newest_time(store) == stamp(NOON + timedelta(seconds=1))
    assert EventLog(shared, lambda: next(times)).now() == stamp(NOON + timedelta(seconds=1))


def test_a_block_that_raises_leaves_no_event_and_the_store_goes_on(shared: SharedStore) -> None:
    log = EventLog(shared)

    def fail() -> None:
        with shared.writing() as store:
            log.append(store, [event()])
            with shared.writing() as inner:
                assert inner is store
                log.append(inner, [event(client="half \ud800")])

    with pytest.raises(DataError, match="surrogate"):
        fail()
    with shared.writing() as store:
        assert read_events(store) == []
        log.append(store, [event()])
    with shared.reading() as store:
        assert len(read_events(store)) == 1


def test_readers_see_what_is_committed_and_writers_what_they_wrote(shared: SharedStore) -> None:
    seen: list[int] = []

    def look() -> None:
        with shared.reading() as store:
            seen.append(len(read_events(store)))

    def look_elsewhere() -> None:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    with shared.writing() as store:
        append_events(store, [event()], "2026")
        look()
        look_elsewhere()
    look_elsewhere()
    assert seen == [1, 0, 1]


def test_a_closed_store_says_so(shared: SharedStore) -> None:
    shared.close()
    with pytest.raises(StoreError, match="closed"), shared.reading():
        pass


@pytest.mark.long
def test_eight_threads_lose_nothing(shared: SharedStore) -> None:
    threads, each = 8, 200 if EXPLORE else 40
    clock = iter([NOON + timedelta(seconds=(n * 7919) % 1000) for n in range(threads * each + 1)])  # it jumps to and fro
    log = EventLog(shared, lambda: next(clock))
    failures: list[BaseException] = []

    def work(client: str) -> None:
        try:
            for sequence in range(each):
                with shared.writing() as store:
                    heard = newest_sequences(store, [client]).get(client, -1)
                    assert heard == sequence - 1
                    log.append(store, [event(client=client, sequence=sequence), event("more", client=client, sequence=sequence)])
        except BaseException as error:  # noqa: BLE001 - told below, in the thread of the test
            failures.append(error)

    workers = [threading.Thread(target=work, args=(f"client-{n}",)) for n in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    with shared.reading() as store:
        found = read_events(store)
    assert len(found) == threads * each * 2
    assert len({one.event for one in found}) == len(found)
    assert all(before.at <= after.at for before, after in pairwise(found))
    for n in range(threads):
        own = [(one.sequence, one.kind) for one in found if one.client == f"client-{n}"]
        assert own == [(sequence, kind) for sequence in range(each) for kind in ("edit", "more")]


def test_who_waits_to_write_comes_before_who_has_just_written(shared: SharedStore) -> None:
    waiting, steps = threading.Event(), []

    def wait_and_write() -> None:
        waiting.set()
        with shared.writing():
            steps.append("waited")

    with shared.writing():
        thread = threading.Thread(target=wait_and_write)
        thread.start()
        waiting.wait(10)
        time.sleep(0.2)
    for _ in range(3):
        with shared.writing(), shared.alone():
            steps.append("worked")
    thread.join(10)
    assert steps == ["waited", "worked", "worked", "worked"]
