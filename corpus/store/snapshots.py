"""Copies of a store that is in use, made by DuckDB from one consistent view, and getting one of them back."""

from __future__ import annotations

import fcntl
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from piiloom.corpus.store.copying import identifier, log_of, remove, sync, text_literal
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.faults import duckdb_errors, opening_fault
from piiloom.corpus.store.migrations import MIGRATIONS
from piiloom.corpus.store.snapshot_files import list_snapshots, next_snapshot
from piiloom.corpus.store.upgrading import refuse_newer, version_of
from piiloom.foundation.errors import NotAStore, OutputError, PiiloomError, StoreError, StoreLocked

_COPY = "piiloom_snapshot"
# Attaching is for the whole process: two at once would take each other's name.
_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The store that is back, the snapshot it came from, and where the former file lies (None when there was none)."""

    store: Path
    snapshot: Path
    aside: Path | None


def take_snapshot(store: Store, now: datetime, keep: int) -> Path:
    """Copy *store* as it is committed now, drop all but the newest *keep* copies, and give the new one.

    Others may read and write meanwhile. *store* must not be in a transaction. Raises ``OutputError`` (no room) and
    ``StoreError``; then nothing is left behind and the older snapshots stay.
    """
    if store.path is MEMORY:
        raise StoreError("a store in memory has no snapshots", where=str(store.path), remedy="Name a file with --store")
    with _one_at_a_time:
        snapshot = next_snapshot(store.path, now)
        partial = snapshot.with_name(f"{snapshot.name}.part")
        try:
            snapshot.parent.mkdir(exist_ok=True)
            for leftover in snapshot.parent.glob("*.part*"):
                leftover.unlink(missing_ok=True)  # of a process that was killed while it made one
            _copy(store, partial)
            partial.chmod(store.path.stat().st_mode & 0o777)  # as private as the store
            sync(partial)
            partial.rename(snapshot)
            sync(snapshot.parent)
            for old in list_snapshots(store.path)[: -max(1, keep)]:
                old.unlink(missing_ok=True)
        except (PiiloomError, OSError) as error:
            with suppress(OSError):
                remove(partial)
            cause = error.message if isinstance(error, PiiloomError) else str(error.strerror)
            raise OutputError(
                f"no snapshot of the store could be made ({cause})",
                where=str(snapshot.parent),
                remedy="The store itself goes on. Make room",
            ) from error
    return snapshot


def restore_snapshot(snapshot: Path, path: Path, now: datetime) -> Restored:
    """Put a copy of *snapshot* in the place of the store at *path*; what is there now is kept beside it.

    Nothing is changed when it raises: ``StoreLocked`` (somebody has the store open), ``StoreError`` (the snapshot itself is
    absent or damaged), ``StoreTooNew``, ``NotAStore``, ``OutputError`` (no room).
    """
    target = path.resolve()
    _check(snapshot)
    _refuse_if_open(target, path)
    partial = target.with_name(f"{target.name}.restore.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(snapshot, partial)
        sync(partial)
        with _locked(target, path):
            aside = _put_aside(target, now)
            partial.rename(target)
            sync(target.parent)
    except OSError as error:
        raise OutputError(
            f"the snapshot cannot be put back ({error.strerror})", where=str(path), remedy="Make room beside the store and try again"
        ) from error
    finally:
        with suppress(OSError):
            remove(partial)
    return Restored(store=path, snapshot=snapshot, aside=aside)


def _copy(store: Store, partial: Path) -> None:
    source = store.rows("SELECT current_database()")[0][0]
    store.change(f"ATTACH {text_literal(str(partial))} AS {_COPY}")
    try:
        store.change(f"COPY FROM DATABASE {identifier(source)} TO {_COPY}")
        store.change(f"CHECKPOINT {_COPY}")  # so that it is one file, without a log
    finally:
        store.change(f"DETACH {_COPY}")


def _check(snapshot: Path) -> None:
    """Read every row of *snapshot*, which DuckDB checks against its sums."""
    if not snapshot.is_file():
        raise StoreError("there is no such snapshot", where=str(snapshot), remedy="Name one of the files in <store>.snapshots")
    try:
        connection = duckdb.connect(str(snapshot.absolute()), read_only=True)
    except duckdb.Error as error:
        raise opening_fault(error, snapshot) from error
    with connection, duckdb_errors(snapshot):
        version = version_of(connection, snapshot)
        refuse_newer(version, MIGRATIONS, snapshot, what="snapshot", remedy="Upgrade piiloom")
        found = connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()").fetchall()
        for (name,) in found:
            connection.execute(f"SELECT sum(hash(t)::HUGEINT) FROM {identifier(name)} AS t").fetchall()  # noqa: S608 - quoted


def _refuse_if_open(target: Path, path: Path) -> None:
    """Raise ``StoreLocked`` when this or another process has the store open, ``NotAStore`` for a file that never was a store.

    A file that cannot be opened is what we are for, also one without a DuckDB header where snapshots beside it say that it had one.
    """
    if not target.exists():
        return
    try:
        duckdb.connect(str(target), read_only=True).close()
    except duckdb.Error as error:
        fault = opening_fault(error, path)
        if isinstance(fault, StoreLocked) or (isinstance(fault, NotAStore) and not list_snapshots(path)):
            raise fault from error


@contextmanager
def _locked(target: Path, path: Path) -> Iterator[None]:
    """Hold the lock that DuckDB takes on the file, so that nobody opens it while it is put aside."""
    if not target.exists():
        yield
        return
    with target.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreLocked(
                "another process has taken the store meanwhile", where=str(path), remedy="Nothing was changed. Try again when it has ended"
            ) from None
        yield


def _put_aside(target: Path, now: datetime) -> Path | None:
    """Rename the file and its log, in this order: a file without its log would open, and lack what was last committed."""
    aside = target.with_name(f"{target.name}.damaged-{now.astimezone(UTC):%Y-%m-%dT%H%M%S}")
    number = 1
    while aside.exists() or log_of(aside).exists():
        number += 1
        aside = aside.with_name(f"{target.name}.damaged-{now.astimezone(UTC):%Y-%m-%dT%H%M%S}-{number}")
    found = target.exists()
    if found:
        target.rename(aside)
    if log_of(target).exists():
        log_of(target).rename(log_of(aside))
        found = True
    return aside if found else None
