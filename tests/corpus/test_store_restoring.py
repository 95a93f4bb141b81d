"""Getting a snapshot back: what was there is put aside, and nothing is touched when it cannot be done."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import duckdb
import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.derived_stores import restore_snapshot, take_snapshot
from piiloom.corpus.store.store_files import list_snapshots
from piiloom.foundation.errors import NotAStore, OutputError, StoreError, StoreLocked, StoreTooNew
from tests.corpus.snapshot_stories import NOON, add_events, events_in, writer

pytestmark = pytest.mark.long


_made: list[Path] = []


def damaged(path: Path) -> None:
    """Make a store with two events in a snapshot and five more in its log, and flip a bit in the midst of the log."""
    if not _made:
        with Store.open(path) as store:
            add_events(store, 2)
            take_snapshot(store, NOON, 3)
        with writer(path):
            pass
        log = path.with_name(f"{path.name}.wal")
        content = bytearray(log.read_bytes())
        content[len(content) // 2] ^= 0x10
        log.write_bytes(content)
        _made.append(Path(shutil.copytree(path.parent, path.parents[1] / "kept as it was made")))
    else:
        shutil.copytree(_made[0], path.parent)


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


def refuse_renames(monkeypatch: pytest.MonkeyPatch, *refused: int) -> list[Path]:
    """Have the disk refuse the renames of the given numbers (from 1); returns what was to be renamed, as it comes."""
    rename, asked = Path.rename, list[Path]()

    def refuse_or_rename(old: Path, new: Path) -> Path:
        asked.append(old)
        if len(asked) in refused:
            raise OSError(errno.EIO, "Input/output error")
        return rename(old, new)

    monkeypatch.setattr(Path, "rename", refuse_or_rename)
    return asked


@pytest.mark.parametrize("refused", [1, 2, 3], ids=["the file", "its log", "the snapshot"])
def test_a_refused_rename_leaves_everything_where_it_was(store_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int) -> None:
    damaged(store_path)
    (snapshot,) = list_snapshots(store_path)
    before = {entry.name: entry.read_bytes() for entry in store_path.parent.iterdir() if entry.is_file()}
    asked = refuse_renames(monkeypatch, refused)
    with pytest.raises(OutputError, match=r"cannot be restored \(Input/output error\). Nothing was changed"):
        restore_snapshot(snapshot, store_path, NOON)
    assert len(asked) == 2 * refused - 1
    assert {entry.name: entry.read_bytes() for entry in store_path.parent.iterdir() if entry.is_file()} == before


def test_a_store_that_cannot_get_its_name_back_is_told_with_the_remedy(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged(store_path)
    (snapshot,) = list_snapshots(store_path)
    content = store_path.read_bytes()
    refuse_renames(monkeypatch, 3, 4)
    with pytest.raises(OutputError, match="nothing is lost") as caught:
        restore_snapshot(snapshot, store_path, NOON)
    aside = store_path.with_name(f"{store_path.name}.damaged-2026-11-02T120000")
    log, log_aside = (path.with_name(f"{path.name}.wal") for path in (store_path, aside))
    assert str(caught.value.remedy).endswith(f"in this order: {log_aside} to {log}, {aside} to {store_path}")
    assert (aside.read_bytes(), log_aside.exists(), store_path.exists()) == (content, True, False)


@pytest.mark.long
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


def test_a_file_that_never_was_a_store_is_not_put_aside(store_path: Path, tmp_path: Path) -> None:
    damaged(store_path)
    (snapshot,) = list_snapshots(store_path)
    mine = tmp_path / "mine.csv"
    mine.write_text("a,b\n1,2\n")
    with pytest.raises(NotAStore, match="--store"):
        restore_snapshot(snapshot, mine, NOON)
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["mine.csv"]
    assert mine.read_text() == "a,b\n1,2\n"


def test_a_store_that_has_lost_its_header_is_got_back(store_path: Path) -> None:
    damaged(store_path)
    content = bytes(4096) + store_path.read_bytes()[4096:]
    store_path.write_bytes(content)
    restored = restore_snapshot(list_snapshots(store_path)[0], store_path, NOON)
    assert events_in(store_path) == 2
    assert restored.aside is not None
    assert restored.aside.read_bytes() == content
