"""The thread that makes snapshots while the app serves."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from piiloom.annotation_app.serving.services import PeriodicSnapshots
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.derived_stores import take_snapshot
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.store_files import snapshot_folder
from piiloom.foundation.errors import OutputError
from tests.corpus.snapshot_stories import NOON, add_events, events_in


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.long
def test_the_keeper_makes_one_when_something_has_changed(store_path: Path) -> None:
    shared = SharedStore(Store.open(store_path))
    keeper = PeriodicSnapshots(shared, every_s=0.05, keep=3)
    keeper.start()
    keeper.start()
    until(lambda: len(keeper.snapshots()) == 1)
    time.sleep(0.3)
    assert len(keeper.snapshots()) == 1
    with shared.writing() as store:
        add_events(store)
    until(lambda: len(keeper.snapshots()) == 2)
    keeper.stop()
    with shared.writing() as store:
        add_events(store)
    time.sleep(0.15)
    assert len(keeper.snapshots()) == 2
    assert keeper.fault is None
    assert keeper.take() == keeper.snapshots()[-1]
    keeper.stop()
    shared.close()
    assert [events_in(snapshot) for snapshot in keeper.snapshots()] == [0, 1, 2]


def test_the_keeper_waits_until_the_newest_is_old_enough(store_path: Path) -> None:
    shared = SharedStore(Store.open(store_path))
    with shared.reading() as store:
        take_snapshot(store, NOON, 3)
    for age, wait in ((0, 60), (20, 40), (90, 0), (-3600, 60)):
        assert PeriodicSnapshots(shared, every_s=60, keep=3)._first_wait(NOON + timedelta(seconds=age)) == wait
    shared.close()


def test_the_keeper_tells_what_went_wrong_and_goes_on(store_path: Path) -> None:
    shared = SharedStore(Store.open(store_path))
    snapshot_folder(store_path).write_text("in the way")
    keeper = PeriodicSnapshots(shared, every_s=0.05, keep=3)
    keeper.start()
    until(lambda: keeper.fault is not None)
    assert isinstance(keeper.fault, OutputError)
    snapshot_folder(store_path).unlink()
    until(lambda: keeper.fault is None)
    assert len(keeper.snapshots()) == 1
    keeper.stop()
    shared.close()


def test_an_idle_store_gets_no_second_snapshot_because_an_old_one_cannot_be_deleted(store_path: Path) -> None:
    shared = SharedStore(Store.open(store_path))
    (snapshot_folder(store_path) / "2026-11-01T120000.000Z.duckdb" / "held").mkdir(parents=True)
    keeper = PeriodicSnapshots(shared, every_s=0.05, keep=1)
    keeper.start()
    until(lambda: keeper.fault is not None)
    time.sleep(0.3)
    keeper.stop()
    shared.close()
    assert "the snapshot was made" in str(keeper.fault)
    assert len(keeper.snapshots()) == 2


def test_the_keeper_has_nothing_to_do_for_a_store_in_memory() -> None:
    shared = SharedStore(Store.open(MEMORY))
    keeper = PeriodicSnapshots(shared, every_s=0.01, keep=3)
    keeper.start()
    keeper.stop()
    shared.close()
