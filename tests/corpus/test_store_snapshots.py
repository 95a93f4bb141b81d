"""Snapshots of a store in use, getting one back, and the thread that makes them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from annotation_app.snapshots import SnapshotKeeper
from corpus.record import Record
from corpus.store.annotation_events import NewEvent, append_events, read_events
from corpus.store.database import MEMORY, Store
from corpus.store.records import add_records, iter_records
from corpus.store.shared import SharedStore
from corpus.store.snapshot_files import list_snapshots, next_snapshot, snapshot_folder, snapshot_time
from corpus.store.snapshots import restore_snapshot, take_snapshot
from foundation.errors import NotAStore, OutputError, StoreError, StoreLocked, StoreTooNew

MakeRecord = Callable[..., Record]
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
# Opens the store (argument 1), commits five events, says so and waits to be killed: what it wrote lies in the log.
WRITER = """
import sys
from pathlib import Path
from corpus.store.annotation_events import NewEvent, append_events
from corpus.store.database import Store
store = Store.open(Path(sys.argv[1]))
for number in range(5):
    with store.transaction():
        append_events(store, [NewEvent(actor="ada", kind="edit", entry={"number": number, "filler": "x" * 500})], "2026")
print("ready", flush=True)
sys.stdin.read()
"""
# May write files of at most 2 MB, and makes a snapshot of a store that is larger: a full disk to DuckDB. Then it goes on.
NO_ROOM = """
import resource, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from corpus.store.annotation_events import NewEvent, append_events, read_events
from corpus.store.database import Store
from corpus.store.snapshots import take_snapshot
from foundation.errors import OutputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store.open(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
try:
    take_snapshot(store, datetime(2026, 11, 3, tzinfo=UTC), 3)
except OutputError as error:
    print(error)
append_events(store, [NewEvent(actor="ada", kind="edit")], "2026")
print(len(read_events(store)))
"""


@contextmanager
def writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def events_in(path: Path) -> int:
    with Store.open(path, create=False) as store:
        return len(read_events(store))


def add_events(store: Store, count: int = 1) -> None:
    append_events(store, [NewEvent(actor="ada", kind="edit")] * count, "2026")


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


def test_no_room_is_told_and_the_store_goes_on(store_path: Path) -> None:
    with Store.open(store_path) as store:
        numbers = "SELECT 'r' || i, md5(i::VARCHAR) || md5((i + 1)::VARCHAR) || md5((i + 2)::VARCHAR) FROM range(60000) t(i)"
        store.change(f"INSERT INTO prompt_texts {numbers}")
        kept = take_snapshot(store, NOON, 3)
    assert store_path.stat().st_size > 3_000_000
    done = subprocess.run([sys.executable, "-c", NO_ROOM, str(store_path)], capture_output=True, text=True, check=True)
    message, count = done.stdout.splitlines()
    assert "no snapshot" in message
    assert "Make room" in message
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


def damaged(path: Path) -> None:
    """Make a store with two events in a snapshot and five more in its log, and flip a bit in the midst of the log."""
    with Store.open(path) as store:
        add_events(store, 2)
        take_snapshot(store, NOON, 3)
    with writer(path):
        pass
    log = path.with_name(f"{path.name}.wal")
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 0x10
    log.write_bytes(content)


def test_a_damaged_log_names_the_newest_snapshot_and_how_to_get_it_back(store_path: Path) -> None:
    damaged(store_path)
    with pytest.raises(StoreError, match="write-ahead log is damaged") as caught:
        Store.open(store_path)
    (snapshot,) = list_snapshots(store_path)
    assert f"piiloom annotate --restore {snapshot} --store {store_path}" in str(caught.value)
    content = store_path.read_bytes()
    log = store_path.with_name(f"{store_path.name}.wal").read_bytes()

    restored = restore_snapshot(snapshot, store_path, NOON)

    assert events_in(store_path) == 2
    assert restored.aside == store_path.with_name(f"{store_path.name}.damaged-2026-11-02T120000")
    assert restored.aside.read_bytes() == content
    assert restored.aside.with_name(f"{restored.aside.name}.wal").read_bytes() == log
    assert list_snapshots(store_path) == [snapshot]
    assert not list(store_path.parent.glob("*.part*"))


def test_restoring_twice_keeps_both_former_files_and_works_where_there_is_none(store_path: Path) -> None:
    damaged(store_path)
    (snapshot,) = list_snapshots(store_path)
    first = restore_snapshot(snapshot, store_path, NOON).aside
    second = restore_snapshot(snapshot, store_path, NOON).aside
    assert first is not None
    assert second is not None
    assert second.name == f"{first.name}-2"
    assert first.exists()
    assert events_in(second) == 2
    store_path.unlink()
    assert restore_snapshot(snapshot, store_path, NOON).aside is None
    assert events_in(store_path) == 2


def test_a_log_without_its_file_is_put_aside_too(store_path: Path) -> None:
    damaged(store_path)
    (snapshot,) = list_snapshots(store_path)
    store_path.unlink()  # as when a restore was killed half way
    aside = restore_snapshot(snapshot, store_path, NOON).aside
    assert aside is not None
    assert aside.with_name(f"{aside.name}.wal").exists()
    assert events_in(store_path) == 2


def test_nothing_is_put_back_while_somebody_holds_the_store(store_path: Path) -> None:
    with Store.open(store_path) as store:
        add_events(store, 2)
        snapshot = take_snapshot(store, NOON, 3)
        with pytest.raises(StoreLocked, match="this process"):
            restore_snapshot(snapshot, store_path, NOON)
    with writer(store_path) as process:
        with pytest.raises(StoreLocked, match=f"process {process.pid} "):
            restore_snapshot(snapshot, store_path, NOON)
        with pytest.raises(StoreLocked):  # and the refusal did not give up the other's lock
            Store.open(store_path)
    assert events_in(store_path) == 7
    assert sorted(entry.name for entry in store_path.parent.iterdir()) == [store_path.name, f"{store_path.name}.snapshots"]


def test_what_is_no_whole_snapshot_is_not_put_back(store_path: Path, tmp_path: Path) -> None:
    with Store.open(store_path) as store:
        store.change("INSERT INTO prompt_texts SELECT 'r' || i, md5(i::VARCHAR) FROM range(20000) t(i)")
        snapshot = take_snapshot(store, NOON, 3)
    with pytest.raises(StoreError, match="no such snapshot"):
        restore_snapshot(tmp_path / "absent", store_path, NOON)
    text = tmp_path / "text"
    text.write_text("hello\n" * 2000)
    with pytest.raises(NotAStore):
        restore_snapshot(text, store_path, NOON)
    theirs = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(theirs)) as connection:
        connection.execute("CREATE TABLE other (a INTEGER)")
    with pytest.raises(NotAStore):
        restore_snapshot(theirs, store_path, NOON)
    newer = tmp_path / "newer.duckdb"
    newer.write_bytes(snapshot.read_bytes())
    with duckdb.connect(str(newer)) as connection:
        connection.execute("INSERT INTO schema_version VALUES (999, 'piiloom', 'to come')")
    with pytest.raises(StoreTooNew, match="999"):
        restore_snapshot(newer, store_path, NOON)
    content = bytearray(snapshot.read_bytes())
    content[len(content) // 2] ^= 0x10
    snapshot.write_bytes(content)
    with pytest.raises(StoreError):
        restore_snapshot(snapshot, store_path, NOON)
    with Store.open(store_path, create=False) as store:
        assert store.rows("SELECT count(*) FROM prompt_texts") == [(20000,)]


def test_a_folder_that_cannot_be_made_is_told(store_path: Path) -> None:
    with Store.open(store_path) as store:
        snapshot_folder(store_path).write_text("in the way")
        with pytest.raises(OutputError, match="no snapshot"):
            take_snapshot(store, NOON, 3)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_keeper_makes_one_when_something_has_changed(store_path: Path) -> None:
    shared = SharedStore(Store.open(store_path))
    keeper = SnapshotKeeper(shared, every_s=0.05, keep=3)
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
        assert SnapshotKeeper(shared, every_s=60, keep=3)._first_wait(NOON + timedelta(seconds=age)) == wait
    shared.close()


def test_the_keeper_tells_what_went_wrong_and_goes_on(store_path: Path) -> None:
    shared = SharedStore(Store.open(store_path))
    snapshot_folder(store_path).write_text("in the way")
    keeper = SnapshotKeeper(shared, every_s=0.05, keep=3)
    keeper.start()
    until(lambda: keeper.fault is not None)
    assert isinstance(keeper.fault, OutputError)
    snapshot_folder(store_path).unlink()
    until(lambda: keeper.fault is None)
    assert len(keeper.snapshots()) == 1
    keeper.stop()
    shared.close()


def test_the_keeper_has_nothing_to_do_for_a_store_in_memory() -> None:
    shared = SharedStore(Store.open(MEMORY))
    keeper = SnapshotKeeper(shared, every_s=0.01, keep=3)
    keeper.start()
    keeper.stop()
    shared.close()
