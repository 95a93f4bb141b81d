"""Take snapshots of a store in use (DuckDB copies one consistent view) and restore a store from one."""

from __future__ import annotations

import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.faults import duckdb_errors, opening_fault
from piiloom.corpus.store.store_files import attached, identifier, list_snapshots, locked, log_of, next_snapshot, remove_files, sync
from piiloom.corpus.store.upgrading import MIGRATIONS, refuse_newer, version_of
from piiloom.foundation.errors import NotAStore, OutputError, PiiloomError, StoreError, StoreLocked
from piiloom.foundation.whole_files import OWNER_ONLY, created_without

_COPY = "piiloom_snapshot"
# ATTACH affects all threads: two snapshots at once would use the same attached name.
_one_at_a_time = threading.Lock()


class OldSnapshotsRemain(OutputError):
    """The new snapshot was made, but snapshots beyond the number to keep could not be deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredStore:
    """The restored store, the snapshot it came from, and the path of the former file (None if there was none)."""

    store: Path
    snapshot: Path
    aside: Path | None


def take_snapshot(store: Store, now: datetime, keep: int) -> Path:
    """Copy the committed state of *store*, delete all but the newest *keep* snapshots (at least 1), and return the new one.

    Other threads may read and write meanwhile. *store* must not be in a transaction.

    Raises ``StoreError`` for a store in memory, and ``OutputError`` if the copy fails (no room, say); then no partial copy remains. Raises
    ``OldSnapshotsRemain`` if the new snapshot is there, but an older one cannot be deleted.
    """
    if store.path is MEMORY:
        raise StoreError("a store in memory has no snapshots", where=str(store.path), remedy="Name a file with --store")
    with _one_at_a_time:
        snapshot = next_snapshot(store.path, now)
        partial = snapshot.with_name(f"{snapshot.name}.part")
        try:
            with created_without(OWNER_ONLY):
                snapshot.parent.mkdir(exist_ok=True)
            for leftover in snapshot.parent.glob("*.part*"):
                leftover.unlink(missing_ok=True)  # left by a process that was killed while taking a snapshot
            _copy(store, partial)
            partial.chmod(store.path.stat().st_mode & 0o777)  # same permissions as the store
            sync(partial)
            partial.rename(snapshot)
            sync(snapshot.parent)
        except (PiiloomError, OSError) as error:
            with suppress(OSError):
                remove_files(partial)
            cause = error.message if isinstance(error, PiiloomError) else str(error.strerror)
            raise OutputError(
                f"no snapshot of the store could be made ({cause})",
                where=str(snapshot.parent),
                remedy="The store itself is not affected. Free disk space there",
            ) from error
        _prune(store.path, keep)
    return snapshot


def restore_snapshot(snapshot: Path, path: Path, now: datetime) -> RestoredStore:
    """Replace the store at *path* by a copy of *snapshot*. The current file is renamed and kept (``RestoredStore.aside``).

    Raises, without changing anything, ``StoreLocked`` (the store is open somewhere), ``StoreError`` (the snapshot is absent or
    damaged), ``StoreTooNew``, ``NotAStore`` or ``OutputError`` (no room). If the current file was renamed and can get neither a
    successor nor its name back, ``OutputError`` says where it is.
    """
    target = path.resolve()
    _check(snapshot)
    _refuse_if_open(target, path)
    partial = target.with_name(f"{target.name}.restore.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with created_without(OWNER_ONLY):
            shutil.copy(snapshot, partial)
        sync(partial)
        with locked(target, path):
            aside = _free_name(target, now)
            found = _exchange(target, aside, partial)
    except OSError as error:
        raise OutputError(
            f"the snapshot cannot be restored ({error.strerror})",
            where=str(path),
            remedy="Nothing was changed. Free disk space in the store's folder and try again",
        ) from error
    finally:
        with suppress(OSError):
            remove_files(partial)
    with suppress(OSError):
        sync(target.parent)  # after a power cut the renaming may have to be repeated; both files are whole either way
    return RestoredStore(store=path, snapshot=snapshot, aside=aside if found else None)


def _prune(path: Path, keep: int) -> None:
    """Delete all but the newest *keep* snapshots of the store at *path* (at least 1). Raises ``OldSnapshotsRemain``."""
    faults: list[tuple[Path, OSError]] = []
    for old in list_snapshots(path)[: -max(1, keep)]:
        try:
            old.unlink(missing_ok=True)
        except OSError as error:
            faults.append((old, error))
    if faults:
        first, fault = faults[0]
        raise OldSnapshotsRemain(
            f"the snapshot was made, but {len(faults)} of the older ones cannot be deleted ({fault.strerror})",
            where=str(first),
            remedy="Delete it by hand; otherwise old snapshots take up more and more disk space",
        ) from fault


def _copy(store: Store, partial: Path) -> None:
    source = store.value("SELECT current_database()")
    with attached(store.change, partial, _COPY):
        store.change(f"COPY FROM DATABASE {identifier(source)} TO {_COPY}")
        store.change(f"CHECKPOINT {_COPY}")  # so that the copy is a single file without a log


def _check(snapshot: Path) -> None:
    """Check that *snapshot* is an intact store: read every row, so that DuckDB verifies its checksums. Raises as ``restore_snapshot``."""
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
    """Raise ``StoreLocked`` if any process has the store open, and ``NotAStore`` if the file never was a store.

    Any other failure to open it is accepted: a damaged store is the reason to restore. Even a file without a DuckDB header is
    accepted if it has snapshots, since these show that it was a store.
    """
    if not target.exists():
        return
    try:
        duckdb.connect(str(target), read_only=True).close()
    except duckdb.Error as error:
        fault = opening_fault(error, path)
        if isinstance(fault, StoreLocked) or (isinstance(fault, NotAStore) and not list_snapshots(path)):
            raise fault from error


def _free_name(target: Path, now: datetime) -> Path:
    """Return the path for the file that is replaced: ``<name>.damaged-<UTC time>``, with a number if that is taken."""
    first = target.with_name(f"{target.name}.damaged-{now.astimezone(UTC):%Y-%m-%dT%H%M%S}")
    aside, number = first, 1
    while aside.exists() or log_of(aside).exists():
        number += 1
        aside = first.with_name(f"{first.name}-{number}")
    return aside


def _exchange(target: Path, aside: Path, successor: Path) -> bool:
    """Rename *target* and its log to *aside*, and *successor* to *target*. Return whether there was a file or log to put aside.

    After an error everything has its former name again. The order of renaming matters, also if the process is killed meanwhile: a
    file that stands there without its log could be opened, but without the last commits. Raises ``OSError``, and ``OutputError`` if
    the store cannot get its name back.
    """
    moves = [(old, new) for old, new in ((target, aside), (log_of(target), log_of(aside))) if old.exists()]
    done: list[tuple[Path, Path]] = []
    try:
        for old, new in [*moves, (successor, target)]:
            old.rename(new)
            done.append((old, new))
    except OSError:
        _undo(done, target)
        raise
    return bool(moves)


def _undo(done: list[tuple[Path, Path]], target: Path) -> None:
    for at, (old, new) in reversed(list(enumerate(done))):
        try:
            new.rename(old)
        except OSError as error:
            left = ", ".join(f"{there} to {name}" for name, there in reversed(done[: at + 1]))
            raise OutputError(
                f"the snapshot could not be restored, and the store could not be renamed back ({error.strerror}); nothing is lost",
                where=str(target),
                remedy=f"Rename by hand, in this order: {left}",
            ) from error
