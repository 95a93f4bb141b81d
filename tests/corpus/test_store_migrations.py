"""Schema versions: newer stores refused, older ones copied and upgraded, failed steps undone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.store import upgrading
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.corpus.store.releases import list_releases
from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations
from piiloom.foundation.errors import OutputError, StoreError, StoreTooNew

MakeRecord = Callable[..., Record]
FIRST_ONLY = Migrations(MIGRATIONS.steps[:1])


def with_next(statement: str, *, fails: bool = False) -> Migrations:
    """The real steps and one more that runs *statement* and then, with *fails*, raises an error."""
    extended = Migrations(MIGRATIONS.steps)

    @extended.register(MIGRATIONS.latest + 1, "a later idea")
    def _later(connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute(statement)
        if fails:
            raise RuntimeError

    return extended


def tables(path: Path) -> set[str]:
    with duckdb.connect(str(path)) as connection:
        return {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def test_old_store_is_copied_then_upgraded(store_path: Path, make_record: MakeRecord) -> None:
    with Store.open(store_path, migrations=FIRST_ONLY) as store:
        add_records(store, None, [(None, make_record(1))])
    with Store.open(store_path) as store:
        assert list(iter_records(store)) == [make_record(1)]
        assert list_releases(store) == []
        assert add_records(store, None, [(None, make_record(2))]) == 1
        assert list(iter_records(store)) == [make_record(1), make_record(2)]
    backup = store_path.with_name(store_path.name + ".v1.bak")
    assert {path.name for path in store_path.parent.iterdir()} == {store_path.name, backup.name}
    assert "releases" not in tables(backup)
    with Store.open(backup, migrations=FIRST_ONLY) as old:
        assert list(iter_records(old)) == [make_record(1)]
        # The copy goes on where the store was: its record numbers are not given out again.
        assert add_records(old, None, [(None, make_record(2))]) == 1
        assert list(iter_records(old)) == [make_record(1), make_record(2)]


def test_backup_never_replaces_another(store_path: Path) -> None:
    Store.open(store_path, migrations=FIRST_ONLY).close()
    taken = store_path.with_name(store_path.name + ".v1.bak")
    taken.write_text("precious")
    Store.open(store_path).close()
    assert taken.read_text() == "precious"
    assert "records" in tables(store_path.with_name(store_path.name + ".v1.2.bak"))


def test_current_store_is_not_copied(store_path: Path) -> None:
    Store.open(store_path).close()
    Store.open(store_path).close()
    assert [path.name for path in store_path.parent.iterdir()] == [store_path.name]


def test_newer_store_is_refused_untouched(store_path: Path) -> None:
    Store.open(store_path, migrations=with_next("CREATE TABLE later (a INTEGER)")).close()
    with pytest.raises(StoreTooNew, match="Upgrade piiloom"):
        Store.open(store_path)
    assert "later" in tables(store_path)
    assert [path.name for path in store_path.parent.iterdir()] == [store_path.name]


@pytest.mark.parametrize("fails", [False, True])
def test_failed_step_leaves_the_store_as_it_was(store_path: Path, make_record: MakeRecord, fails: bool) -> None:
    with Store.open(store_path) as store:
        add_records(store, None, [(None, make_record(1))])
    before = tables(store_path)
    then = "" if fails else "SELECT no_such_column FROM later"
    broken = f"CREATE TABLE later (a INTEGER); DROP TABLE spans; {then}"
    with pytest.raises(StoreError, match=rf"stays at version {MIGRATIONS.latest}.*test\.duckdb\.v{MIGRATIONS.latest}\.bak"):
        Store.open(store_path, migrations=with_next(broken, fails=fails))
    assert tables(store_path) == before
    with Store.open(store_path) as store:
        assert list(iter_records(store)) == [make_record(1)]


def test_no_room_for_the_copy_changes_nothing(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.open(store_path, migrations=FIRST_ONLY).close()

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(upgrading, "sync", full)
    with pytest.raises(OutputError, match="Nothing was changed"):
        Store.open(store_path)
    assert [path.name for path in store_path.parent.iterdir()] == [store_path.name]
    assert "releases" not in tables(store_path)


def test_steps_are_numbered_without_gaps() -> None:
    assert [step.version for step in MIGRATIONS.steps] == list(range(1, MIGRATIONS.latest + 1))
    with pytest.raises(ValueError, match="cannot follow"):
        Migrations().register(2, "too early")
