"""Upgrade an open file to the current schema: back it up first, then run each migration in its own transaction."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import duckdb

from piiloom.corpus.store.copying import identifier, remove, sync, text_literal
from piiloom.corpus.store.faults import duckdb_errors, raise_if_interrupted, translate
from piiloom.corpus.store.migrations import Migration, Migrations
from piiloom.foundation.errors import NotAStore, OutputError, PiiloomError, StoreError, StoreTooNew

APPLICATION = "piiloom"
_VERSION_TABLE = """
    CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL, application VARCHAR NOT NULL, summary VARCHAR NOT NULL)
"""


def upgrade(
    connection: duckdb.DuckDBPyConnection, path: Path, migrations: Migrations, *, is_new: bool = False, keep_copy: bool = True
) -> None:
    """Upgrade the store to ``migrations.latest``. Do nothing if it is there already.

    *is_new*: the file is known to be empty. *keep_copy*: back it up first; False for a store that is itself a temporary copy.

    Raises ``NotAStore`` (a DuckDB file with other tables), ``StoreTooNew``, ``OutputError`` (no room for the backup or for a
    migration) and ``StoreError`` if a migration fails. The caller must then close the connection, which rolls that migration back.
    """
    version = 0 if is_new else version_of(connection, path)
    refuse_newer(version, migrations, path, what="store", remedy="Upgrade piiloom, or use another file with --store")
    pending = migrations.after(version)
    if pending:
        backup = back_up(connection, path, version) if version and keep_copy else None
        _apply(connection, path, pending, backup)


def refuse_newer(version: int, migrations: Migrations, path: Path, *, what: str, remedy: str) -> None:
    """Raise ``StoreTooNew`` if *version* is newer than the newest of *migrations*."""
    if version > migrations.latest:
        raise StoreTooNew(
            f"the {what} has schema version {version}; this piiloom knows versions up to {migrations.latest}",
            where=str(path),
            remedy=remedy,
        )


def version_of(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """Return the schema version of an open file, 0 for a database without tables. Raises ``NotAStore`` if it has other tables."""
    with duckdb_errors(path):
        # Query the version table directly first: listing the tables takes DuckDB 7 ms, 1.5 times as long as opening the file.
        try:
            found = connection.execute("SELECT max(version) FROM schema_version WHERE application = ?", [APPLICATION]).fetchall()
        except (duckdb.CatalogException, duckdb.BinderException):
            found = [(None,)]
        if found[0][0] is not None:
            return int(found[0][0])
        if not connection.execute("SELECT 1 FROM duckdb_tables() WHERE database_name = current_database()").fetchall():
            return 0
    raise NotAStore("the DuckDB file holds other tables than piiloom's", where=str(path), remedy="Name another file with --store")


def back_up(connection: duckdb.DuckDBPyConnection, path: Path, version: int) -> Path:
    """Copy the store to ``<name>.v<version>.bak`` in its folder and return that path. An existing file is never replaced.

    DuckDB makes the copy. Reading the file here would release the lock that keeps other processes out, since closing any
    descriptor of a file releases its POSIX locks. Raises ``OutputError``.
    """
    partial = path.with_name(f"{path.name}.v{version}.bak.part")
    try:
        remove(partial)
        with duckdb_errors(partial):
            source = connection.execute("SELECT current_database()").fetchall()[0][0]
            connection.execute(f"ATTACH {text_literal(str(partial.absolute()))} AS piiloom_backup")
            try:
                connection.execute(f"COPY FROM DATABASE {identifier(source)} TO piiloom_backup")
            finally:
                connection.execute("DETACH piiloom_backup")
        sync(partial)
        return _claim(partial, path, version)
    except (PiiloomError, OSError) as error:
        remove(partial)
        raise OutputError(
            f"the store could not be copied before its upgrade ({_cause(error)})",
            where=str(path),
            remedy="Nothing was changed. Free disk space in its folder and open it again",
        ) from error


def _claim(partial: Path, path: Path, version: int) -> Path:
    """Give the finished copy the first free name, and return it. ``link`` fails where a rename would replace a file."""
    number = 1
    while True:
        backup = path.with_name(f"{path.name}.v{version}.bak" if number == 1 else f"{path.name}.v{version}.{number}.bak")
        try:
            os.link(partial, backup)
        except FileExistsError:
            number += 1
            continue
        partial.unlink()
        sync(backup.parent)
        return backup


def _apply(connection: duckdb.DuckDBPyConnection, path: Path, steps: Sequence[Migration], backup: Path | None) -> None:
    for step in steps:
        try:
            connection.begin()
            connection.execute(_VERSION_TABLE)
            step.apply(connection)
            connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", [step.version, APPLICATION, step.summary])
            connection.commit()
        except Exception as error:  # any kind of failure; the caller closes the connection, which rolls back
            raise_if_interrupted(error)
            kept = f"A copy from before the upgrade is {backup.name}" if backup else "Free disk space, or name another file with --store"
            no_room = isinstance(error, duckdb.Error) and isinstance(translate(error, path), OutputError)
            raise (OutputError if no_room else StoreError)(
                f"schema version {step.version} ({step.summary}) could not be set up, and what was begun is undone; "
                f"the store stays at version {step.version - 1}",
                where=str(path),
                remedy=kept,
            ) from error


def _cause(error: PiiloomError | OSError) -> str:
    return error.message if isinstance(error, PiiloomError) else str(error.strerror)
