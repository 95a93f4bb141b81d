"""What several files of tests begin with: a project whose records are decided on, and a service over three records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from adjudication_stories import Project

from piiloom.annotation_app.sync.service import DocumentService
from piiloom.corpus.store import database
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations
from tests.annotation_app.sync_stories import record, service_over, shared_store


@pytest.fixture
def project() -> Iterator[Project]:
    made = Project()
    yield made
    made.shared.close()


@pytest.fixture
def alone() -> Iterator[Project]:
    """A project where one person finishes a record."""
    made = Project(wanted=1)
    yield made
    made.shared.close()


@pytest.fixture
def shared() -> Iterator[SharedStore]:
    opened = shared_store([record(n) for n in range(1, 4)])
    yield opened
    opened.close()


@pytest.fixture
def service(shared: SharedStore) -> DocumentService:
    return service_over(shared)


@pytest.fixture(autouse=True, scope="session")
def _stores_are_made_at_once() -> Iterator[None]:
    """A new store runs through eight migrations; tests make hundreds. From the second one on, its tables are those of the first."""
    real, made = database.upgrade, list[tuple[str, list[tuple[int, str, str]]]]()

    def upgrade(connection: duckdb.DuckDBPyConnection, path: Path, migrations: Migrations, *, is_new: bool = False) -> None:
        usual = is_new and migrations is MIGRATIONS
        if usual and made:
            tables, versions = made[0]
            connection.execute(f"BEGIN; {tables}")
            connection.execute("INSERT INTO schema_version SELECT unnest($1), unnest($2), unnest($3)", list(zip(*versions, strict=True)))
            connection.execute("COMMIT")
            return
        real(connection, path, migrations, is_new=is_new)
        if usual:
            found = connection.execute("SELECT sql FROM duckdb_sequences() UNION ALL SELECT sql FROM duckdb_tables()").fetchall()
            made.append(("".join(sql for (sql,) in found), connection.execute("FROM schema_version").fetchall()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "upgrade", upgrade)
        yield
