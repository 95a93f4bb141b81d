"""Reading a store that another process writes, or that nobody may write: from the file, or from a copy that is whole."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.store import store_files
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import Sight, open_to_read
from piiloom.corpus.store.records import add_records, count_records, iter_records
from piiloom.corpus.store.runs import create_run
from piiloom.corpus.store.store_files import copy_in_use, folder_for_copies, log_of
from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations
from piiloom.foundation.errors import NotAStore, OutputError, StoreError, StoreLocked, StoreTooNew

# Holds the store (argument 1) with three records committed and another one not; commits that for each line it is sent.
WRITER = """
import sys
from pathlib import Path
from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
with Store.open(Path(sys.argv[1])) as store:
    add_records(store, None, [(None, Record(id=str(n), context="kept")) for n in range(3)])
    for _ in range(9):
        with store.transaction():
            add_records(store, None, [(None, Record(id=f"x{_}", context="later"))])
            print("ready", flush=True)
            if sys.stdin.readline() != "go on\\n":
                break
"""
# Writes rows of two tables, ten of one to one of the other, as fast as it can, with a checkpoint every few commits.
BUSY = """
import sys
from pathlib import Path
from piiloom.corpus.store.database import Store
with Store.open(Path(sys.argv[1])) as store:
    store.change("SET checkpoint_threshold = '200KB'")
    at = 0
    while True:
        with store.transaction():
            store.change("INSERT INTO login_sessions SELECT random()::VARCHAR, ?, repeat('x', 50), '', false FROM range(10)", [str(at)])
            store.change("INSERT INTO annotators VALUES (?, 'x', 'x', NULL, NULL, false, '')", [str(at)])
            store.change("DELETE FROM login_sessions WHERE annotator = ?", [str(at - 40)])
            store.change("DELETE FROM annotators WHERE name = ?", [str(at - 40)])
        at += 1
        if at == 50:
            print("ready", flush=True)
"""


@contextmanager
def working(code: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of ours that has the store at *path*; killed at the end."""
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go in this test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A store with one record."""
    path = tmp_path / "kept.duckdb"
    with Store.open(path) as store:
        add_records(store, None, [(None, Record(id="1", context="kept"))])
    return path


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose writer was killed: its three records are in the log."""
    path = tmp_path_factory.mktemp("killed") / "s.duckdb"
    with working(WRITER, path):
        return path


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store that another process writes."""
    path = tmp_path_factory.mktemp("held") / "s.duckdb"
    with working(WRITER, path):
        yield path


def test_what_is_committed_is_read_while_another_process_writes(tmp_path, temporary):
    path, seen = tmp_path / "s.duckdb", list[Sight]()
    with working(WRITER, path) as process:
        with open_to_read(path, tell=lambda sight, _: seen.append(sight)) as store:
            assert [record.id for record in iter_records(store)] == ["0", "1", "2"]
            process.stdin.write("go on\n")
            process.stdin.flush()
            assert process.stdout.readline() == "ready\n"  # the writer goes on while the copy is open
            assert count_records(store) == 3  # and the copy stays what it was
            assert list(temporary.iterdir()) == []  # nothing is left even where we are killed now
        with open_to_read(path) as store:
            assert count_records(store) == 4
        with pytest.raises(StoreLocked):  # its lock has survived being read
            Store.open(path)
    (sight,) = seen
    assert (sight.holder, sight.version) == (process.pid, None)
    assert sight.copied_at is not None
    assert "python" in (sight.command or "")


@pytest.mark.long
def test_copies_beside_checkpoints_are_whole(tmp_path, temporary):
    path = tmp_path / "s.duckdb"
    with working(BUSY, path):
        newest = -1
        for _ in range(12):
            with open_to_read(path) as store:
                ((few, last),) = store.rows("SELECT count(*), max(name::INTEGER) FROM annotators")
                ((many, other, distinct),) = store.rows(
                    "SELECT count(*), max(annotator::INTEGER), count(DISTINCT annotator) FROM login_sessions"
                )
            assert (few, many, other, distinct) == (40, 400, last, 40)
            assert last >= newest
            newest = last
    assert list(temporary.iterdir()) == []


def changed_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        first = file.read(1)
        file.seek(4096)
        file.write(bytes([first[0] ^ 0xFF]))  # not one that may stand there: it is part of a checksum


def cut_log(path: Path) -> None:
    os.truncate(log_of(path), 10)


def other_log(path: Path) -> None:
    log_of(path).write_bytes(bytes(reversed(log_of(path).read_bytes())))


def checkpoint_begun(path: Path) -> None:
    log_of(path).with_name(f"{path.name}.wal.checkpoint").touch()


def other_file(path: Path) -> None:
    other = path.with_name("other")
    shutil.copy(path, other)
    other.replace(path)


@pytest.mark.parametrize("event", [changed_header, cut_log, other_log, checkpoint_begun, other_file])
def test_a_copy_that_a_checkpoint_came_between_is_no_copy(tmp_path, monkeypatch, killed, event):
    path = shutil.copytree(killed.parent, tmp_path / "there") / "s.duckdb"
    copyfileobj, calls = shutil.copyfileobj, []

    def copy_slowly(*words):
        copyfileobj(*words)
        calls.append(words)
        if len(calls) == 2:  # the file, after its log
            event(path)

    assert copy_in_use(path, tmp_path / "whole.duckdb")
    monkeypatch.setattr(store_files.shutil, "copyfileobj", copy_slowly)
    assert not copy_in_use(path, tmp_path / "torn.duckdb")
    assert len(calls) == 2
    assert not list(tmp_path.glob("torn*"))


@pytest.mark.long
def test_a_log_caught_in_the_midst_of_a_commit_ends_with_the_commit_before(kept):
    with working(WRITER, kept):
        pass
    whole = log_of(kept).read_bytes()
    found = set()
    for length in (*range(0, len(whole), max(1, len(whole) // 15)), len(whole) - 1, len(whole)):
        log_of(kept).write_bytes(whole[:length])
        with open_to_read(kept) as store:
            found.add((count_records(store), len(list(iter_records(store)))))
        assert log_of(kept).read_bytes() == whole[:length]  # and reading leaves the log alone
    assert found == {(1, 1), (3, 3)}  # one of the three was there


def test_without_a_whole_copy_nothing_is_read(held, temporary, monkeypatch):
    monkeypatch.setattr(store_files, "_checkpoint_under_way", lambda _: True)
    with pytest.raises(StoreError, match="no consistent copy") as caught, open_to_read(held, patience_s=0.2):
        raise AssertionError
    assert "process" in str(caught.value)
    assert list(temporary.iterdir()) == []


@pytest.mark.long
def test_a_damaged_copy_is_never_read(kept, temporary, monkeypatch):
    copyfileobj = shutil.copyfileobj

    def spoil(source, target, size):
        copyfileobj(source, target, size)
        if not target.name.endswith(".wal"):
            for at in range(12288, target.tell(), 4096):  # each block lies within the reach of a sum
                target.seek(at + 100)
                target.write(b"spoilt")

    monkeypatch.setattr(store_files.shutil, "copyfileobj", spoil)
    with working(WRITER, kept), pytest.raises(StoreError), open_to_read(kept, patience_s=0.2) as store:
        list(iter_records(store))


def test_several_may_read_at_once_and_nothing_is_written(kept):
    before = kept.read_bytes()
    with open_to_read(kept) as store:
        code = "import sys; from pathlib import Path; from piiloom.corpus.store.opening import open_to_read\n"
        code += "with open_to_read(Path(sys.argv[1]), tell=lambda sight, _: print(sight.copied_at)): pass"
        done = subprocess.run([sys.executable, "-c", code, str(kept)], capture_output=True, text=True, check=True)
        assert count_records(store) == 1
        with pytest.raises(StoreError):
            create_run(store, provider="composer", model=None, seed=1, samples=1, config={}, config_digest="0" * 8)
    assert done.stdout == "None\n"  # it has read the file itself
    assert kept.read_bytes() == before
    assert not log_of(kept).exists()


# Reads the store (argument 1) until it is sent something, or for the seconds of argument 2.
READER = """
import select, sys
from pathlib import Path
from piiloom.corpus.store.opening import open_to_read
with open_to_read(Path(sys.argv[1])):
    print("ready", flush=True)
    select.select([sys.stdin], [], [], float(sys.argv[2]))
"""


@pytest.mark.long
def test_who_wants_to_write_waits_a_moment_for_those_who_read(kept, monkeypatch):
    command = [sys.executable, "-c", READER, str(kept)]
    with subprocess.Popen([*command, "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout.readline() == "ready\n"
        with Store.open(kept) as store:  # no error: it was waited for
            assert count_records(store) == 1
    monkeypatch.setattr(store_files, "PATIENCE_S", 0.1)
    with subprocess.Popen([*command, "600"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout.readline() == "ready\n"
        with pytest.raises(StoreLocked, match=f"process {reader.pid} .*is reading the store"):
            Store.open(kept)
        reader.communicate("enough")


def test_a_process_that_holds_the_store_reads_it_through_its_own_hands(kept):
    with Store.open(kept) as store, open_to_read(kept) as reader:
        assert count_records(reader) == 1
        add_records(store, None, [(None, Record(id="2", context="more"))])
        assert count_records(reader) == 2


def test_an_older_store_is_brought_up_in_a_copy(tmp_path, temporary):
    path, seen = tmp_path / "old.duckdb", list[Sight]()
    Store.open(path, migrations=Migrations(MIGRATIONS.steps[:1])).close()
    before = path.read_bytes()
    with open_to_read(path, tell=lambda sight, _: seen.append(sight)) as store:
        assert store.rows("SELECT max(version) FROM schema_version") == [(MIGRATIONS.latest,)]
        assert store.rows("SELECT count(*) FROM releases") == [(0,)]
        assert list(temporary.iterdir()) == []
    assert seen[0].version == 1
    assert seen[0].holder is None
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["old.duckdb", "temporary"]


def test_a_newer_store_is_refused(tmp_path):
    path = tmp_path / "new.duckdb"
    Store.open(path).close()
    with pytest.raises(StoreTooNew), open_to_read(path, migrations=Migrations(MIGRATIONS.steps[:2])):
        raise AssertionError


@pytest.mark.parametrize("name", ["rows.csv", "rows.json", "rows.parquet", "notes.duckdb", "empty.duckdb"])
def test_what_is_no_store_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text("" if name.startswith("empty") else "a,b\n" * 5000)
    with pytest.raises(NotAStore), open_to_read(path):
        raise AssertionError
    path.unlink()
    with pytest.raises(StoreError, match="no store"), open_to_read(path):
        raise AssertionError
    path.mkdir()
    with pytest.raises(NotAStore, match="not a file"), open_to_read(path):
        raise AssertionError


def test_other_peoples_tables_are_refused(tmp_path):
    path = tmp_path / "mine.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE mine (a INTEGER)")
    with pytest.raises(NotAStore), open_to_read(path):
        raise AssertionError


def test_no_room_for_a_copy_is_said_before_it_is_made(held, temporary, monkeypatch):
    monkeypatch.setattr(store_files.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 5_000))
    with pytest.raises(OutputError, match="no disk space") as caught, open_to_read(held):
        raise AssertionError
    assert "TMPDIR" in str(caught.value)
    assert str(temporary) in str(caught.value)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_copy_that_is_cut_short_leaves_nothing(held, temporary, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(store_files.shutil, "copyfileobj", fail)
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else OutputError
    with pytest.raises(expected), open_to_read(held):
        raise AssertionError
    assert list(temporary.iterdir()) == []


def test_copies_of_processes_that_were_killed_are_swept(temporary):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    dead, alive, foreign = (temporary / f"piiloom-reading-{name}" for name in (f"{gone.pid}-a", f"{os.getpid()}-b", "mine"))
    for folder in (dead, alive, foreign):
        folder.mkdir()
        (folder / "copy.duckdb").touch()
    with folder_for_copies() as own:
        assert own.stat().st_mode & 0o777 == 0o700
        assert set(temporary.iterdir()) == {alive, foreign, own}
    assert set(temporary.iterdir()) == {alive, foreign}
