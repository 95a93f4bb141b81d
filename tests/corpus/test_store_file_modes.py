"""Stores and their copies are for their owner, exports for owner and group, by whatever umask."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piiloom.corpus.formats.registry import FORMATS
from piiloom.corpus.releases.exporting import export_formats
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import compact
from piiloom.corpus.store.derived_stores import restore_snapshot, take_snapshot
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.store_files import log_of
from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations
from piiloom.foundation.whole_files import OWNER_AND_GROUP, OWNER_ONLY, created_without
from tests.corpus.planted_leaks import plain_record
from tests.longer import mostly_long

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):o}"


@pytest.fixture(params=mostly_long([0o022, 0o002, 0o077, 0], quick=[0o022]))
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    assert os.umask(before) == request.param  # as it was left


def test_modes_of_stores_copies_and_exports(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "s.duckdb"
    older = Migrations(MIGRATIONS.steps[:-1])
    with Store.open(path, migrations=older):
        pass
    with Store.open(path) as store:
        add_records(store, None, [(None, plain_record(number)) for number in range(8)], status="imported")
        found = {"store": mode(path), "log": mode(log_of(path)), "backup": mode(next(path.parent.glob("*.bak")))}
        snapshot = take_snapshot(store, NOW, keep=2)
        add_records(store, None, [(None, plain_record(9))], status="imported")  # the log is a new file after a checkpoint
        found |= {"snapshot": mode(snapshot), "folder": mode(snapshot.parent), "new log": mode(log_of(path))}
    compact(path)
    found["compacted"] = mode(path)
    found["restored"] = mode(restore_snapshot(snapshot, path, NOW).store)
    assert found == {name: "700" if name == "folder" else "600" for name in found}
    with Store.open(path) as store:
        create_release(store, "v1", test_size=0)
        export_formats(store, "v1", [FORMATS[name] for name in ("native", "csv", "parquet", "brat")], tmp_path / "out")
    written = {mode(file) for file in (tmp_path / "out").rglob("*") if file.is_file()}
    assert written == {f"{0o640 & ~umask:o}"}
    (tmp_path / "other").touch()
    assert mode(tmp_path / "other") == f"{0o666 & ~umask:o}"


def test_a_mode_that_a_user_has_given_a_store_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        path.chmod(0o660)
        assert mode(take_snapshot(store, NOW, keep=1)) == "660"
    compact(path)
    assert mode(path) == "660"


def test_several_threads_and_masks_leave_the_umask_as_it_was() -> None:
    before = os.umask(0o022)
    os.umask(0o022)

    def work(mask: int) -> None:
        for _ in range(200):
            with created_without(mask):
                pass

    threads = [threading.Thread(target=work, args=(mask,)) for mask in (OWNER_ONLY, OWNER_AND_GROUP, OWNER_ONLY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with created_without(OWNER_AND_GROUP), created_without(OWNER_ONLY):
        inner = os.umask(0o777)
        os.umask(inner)
    assert (inner, os.umask(before)) == (0o077, 0o022)
