"""Snapshots of a store in use: what they hold, which are kept, and what happens when one cannot be made."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.derived_stores import OldSnapshotsRemain, take_snapshot
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.corpus.store.store_files import list_snapshots, next_snapshot, snapshot_folder, snapshot_time
from piiloom.foundation.errors import OutputError, StoreError
from tests.corpus.snapshot_stories import NOON, add_events, events_in

MakeRecord = Callable[..., Record]
# May write files of at most 2 MB, and makes a snapshot of a store that is larger: a full disk to DuckDB. Then it goes on.
NO_ROOM = """
import resource, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from piiloom.corpus.store.annotation_events import NewEvent, append_events, read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.derived_stores import take_snapshot
from piiloom.foundation.errors import OutputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store.open(Path(sys.argv[1]))
sys.dont_write_bytecode = True  # half a file would be taken for a whole one next time
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
try:
    take_snapshot(store, datetime(2026, 11, 3, tzinfo=UTC), 3)
except OutputError as error:
    print(error)
append_events(store, [NewEvent(actor="ada", kind="edit")], "2026")
print(len(read_events(store)))
"""


def test_a_snapshot_holds_all_that_is_committed_and_nothing_else(store_path: Path, make_record: MakeRecord) -> None:
    with Store.open(store_path) as store:
        add_records(store, None, [(None, make_record(1))])
        add_events(store, 3)
        with store.beside().transaction():
            pass
        snapshot = take_snapshot(store, NOON, 5)
        add_events(store)
        assert snapshot == snapshot_folder(store_path) / "2026-11-02T120000.000Z.duckdb"
        assert list(snapshot_folder(store_path).iterdir()) == [snapshot]
    with Store.open(snapshot) as copy:
        assert list(iter_records(copy)) == [make_record(1)]
        known = [event.event for event in read_events(copy)]
        assert len(known) == 3
        add_events(copy)  # the numbers go on where they were
        assert read_events(copy)[-1].event > known[-1]


def test_a_snapshot_is_as_private_as_the_store(store_path: Path) -> None:
    with Store.open(store_path) as store:
        store_path.chmod(0o600)
        assert take_snapshot(store, NOON, 5).stat().st_mode & 0o777 == 0o600


def test_the_newest_are_kept_and_a_clock_that_goes_back_keeps_their_order(store_path: Path) -> None:
    with Store.open(store_path) as store:
        moments = [NOON, NOON, NOON - timedelta(days=1), NOON + timedelta(minutes=1), NOON + timedelta(minutes=2)]
        made = []
        for moment in moments:
            add_events(store)
            made.append(take_snapshot(store, moment, 3))
    assert made == sorted(set(made))
    assert list_snapshots(store_path) == made[-3:]
    assert [events_in(snapshot) for snapshot in made[-3:]] == [3, 4, 5]


def test_an_old_snapshot_that_cannot_be_deleted_is_told_beside_the_new_one(store_path: Path) -> None:
    stuck = snapshot_folder(store_path) / "2026-11-01T120000.000Z.duckdb"
    (stuck / "held").mkdir(parents=True)  # a folder cannot be unlinked
    with Store.open(store_path) as store:
        older = [take_snapshot(store, NOON, 9), take_snapshot(store, NOON, 9)]
        with pytest.raises(OldSnapshotsRemain, match="the snapshot was made, but 1 of the older ones cannot be deleted") as caught:
            take_snapshot(store, NOON, 2)
    assert caught.value.where == str(stuck)
    kept = list_snapshots(store_path)
    assert kept[:2] == [stuck, older[1]]  # the other old one went
    assert len(kept) == 3
    assert events_in(kept[2]) == 0


def test_other_files_in_the_folder_are_left_alone_and_broken_off_copies_go(store_path: Path) -> None:
    folder = snapshot_folder(store_path)
    folder.mkdir(parents=True)
    names = {"notes.txt", "before-the-move.duckdb", "2026-13-45T990000.000Z.duckdb"}
    for name in {*names, "2026-11-01T120000.000Z.duckdb.part", "2026-11-01T120000.000Z.duckdb.part.wal"}:
        (folder / name).write_text("mine")
    with Store.open(store_path) as store:
        snapshot = take_snapshot(store, NOON, 1)
    assert {entry.name for entry in folder.iterdir()} == {*names, snapshot.name}
    assert list_snapshots(store_path) == [snapshot]
    assert snapshot_time(snapshot) == NOON


def test_a_name_is_never_taken_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    first = next_snapshot(path, NOON)
    first.parent.mkdir()
    first.touch()
    assert next_snapshot(path, NOON - timedelta(hours=1)).name == "2026-11-02T120000.001Z.duckdb"


def test_a_store_in_memory_has_no_snapshots(store: Store) -> None:
    with pytest.raises(StoreError, match="memory"):
        take_snapshot(store, NOON, 3)


@pytest.mark.long
def test_no_room_is_told_and_the_store_goes_on(store_path: Path) -> None:
    with Store.open(store_path) as store:
        numbers = "SELECT 'r' || i, md5(i::VARCHAR) || md5((i + 1)::VARCHAR) || md5((i + 2)::VARCHAR) FROM range(60000) t(i)"
        store.change(f"INSERT INTO prompt_texts {numbers}")
        kept = take_snapshot(store, NOON, 3)
    assert store_path.stat().st_size > 3_000_000
    done = subprocess.run([sys.executable, "-c", NO_ROOM, str(store_path)], capture_output=True, text=True, check=True)
    message, count = done.stdout.splitlines()
    assert "no snapshot" in message
    assert "Free disk space" in message
    assert count == "1"
    assert list(snapshot_folder(store_path).iterdir()) == [kept]
    assert events_in(store_path) == 1


def test_writers_go_on_while_snapshots_are_made(store_path: Path) -> None:
    shared = SharedStore(Store.open(store_path))
    done = threading.Event()
    failures: list[BaseException] = []

    def write() -> None:
        try:
            while not done.is_set():
                with shared.writing() as store:
                    add_events(store, 2)
        except BaseException as error:  # noqa: BLE001 - told below, in the thread of the test
            failures.append(error)

    workers = [threading.Thread(target=write) for _ in range(3)]
    for worker in workers:
        worker.start()
    with shared.reading() as store:
        made = [take_snapshot(store, NOON, 5) for _ in range(5)]
    done.set()
    for worker in workers:
        worker.join()
    assert failures == []
    shared.close()
    counts = [events_in(snapshot) for snapshot in [*made, store_path]]
    assert counts == sorted(counts)
    assert all(count % 2 == 0 for count in counts)  # whole transactions only


def test_a_folder_that_cannot_be_made_is_told(store_path: Path) -> None:
    with Store.open(store_path) as store:
        snapshot_folder(store_path).write_text("in the way")
        with pytest.raises(OutputError, match="no snapshot"):
            take_snapshot(store, NOON, 3)
