"""Other stores made of a store: snapshots, from which it can be restored, and partitions, on which other processes work.

A snapshot is taken of a store in use: DuckDB copies one consistent view.

A partition is a share of a run's plan items in a separate file, which another process works on and which is merged back. The partition of
``work.duckdb`` is the file ``work.<run>.part-<number>.duckdb``. ``deal_partition`` creates it with what the other process needs: the run,
and the journal's replies that may answer calls of these items. A table ``partition_ticket`` in it holds the partition's id and run. The
main store records the state of each partition ("dealt", "merged" or "lost") among its shared results. So a file left by a killed process
is found, and no partition is merged twice.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb

from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.runs import load_shared_results, save_shared_results
from piiloom.corpus.store.store_files import (
    attached,
    copy_database,
    duckdb_errors,
    identifier,
    list_snapshots,
    locked,
    log_of,
    next_snapshot,
    opening_fault,
    remove_files,
    sync,
)
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
        copy_database(store.change, source, _COPY)


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


# The stage name of the partitions in the main store's shared results; the key is the partition id.
STAGE = "partition"
_TICKET = "CREATE TABLE partition_ticket (id VARCHAR, run_id VARCHAR, number BIGINT, lent BIGINT)"
# Columns are listed explicitly, because their order may differ between the two stores (depending on the migrations each went through).
_EVENT = "key, run_id, kind, stage, item_id, attempt, entry"
_RESULT = "plan_index, run_id, stage, payload"
_REJECT = "plan_index, key, run_id, stage, reason_code, detail, attempts, last_reply, lifted"
_RUN = "id, created_order, provider, model, seed, samples, config, config_digest, status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A share of a run: ``items`` is the number of its plan items, ``path`` its store file."""

    id: str
    run_id: str
    number: int
    path: Path
    items: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """How many rows a merge brought into the main store. ``again``: the partition had been merged before, and nothing changed."""

    events: int = 0
    results: int = 0
    rejects: int = 0
    again: bool = False


def partition_path(store: Store, run_id: str, number: int, folder: Path | None = None) -> Path:
    """Return the path of partition *number*, beside the store or in *folder*."""
    return (folder or store.path.absolute().parent) / f"{store.path.stem}.{run_id}.part-{number:04d}.duckdb"


def deal_partition(store: Store, run_id: str, number: int, indexes: Sequence[int], *, folder: Path | None = None) -> Partition:
    """Create the store of partition *number* for the plan items *indexes*, in *folder* or beside the main store.

    An existing file of that name is deleted, so merge left-over partitions first (``left_over``). The partition is recorded before its
    file is begun, and the file gets its name when it is whole: whenever the process is killed, the partition is left over or missing.
    """
    path = partition_path(store, run_id, number, folder)
    remove_partition(path)
    partition = Partition(id=uuid4().hex, run_id=run_id, number=number, path=path, items=len(indexes))
    _note(store, partition, "dealt")
    draft = _draft(path)
    remove_partition(draft)
    Store.open(draft).close()
    with attached(store.change, draft, "part"):
        with store.transaction():
            _lend(store, partition, indexes)
        store.change("CHECKPOINT part")  # so that the file is whole without a log, and can be renamed
    draft.rename(path)
    return partition


def _draft(path: Path) -> Path:
    """Return the path of a partition store that is not filled yet. ``left_over`` does not find it."""
    return path.with_name(f"{path.name}.new")


def merge_partition(store: Store, run_id: str, path: Path) -> Merge:
    """Merge the partition store at *path* into *store* in one transaction, and delete the file after the commit.

    Merging the same partition again changes nothing. Raises ``StoreLocked`` while a process still has it open, and ``StoreError``
    if it is not a partition of *run_id*.
    """
    Store.open(path, create=False).close()  # replays the log that a killed process left, and upgrades an older schema
    with attached(store.change, path, "part", read_only=True):
        partition, lent = _ticket(store, run_id, path)
        with store.transaction():
            if _states(store, run_id).get(partition.id, {}).get("state") == "merged":
                merged = Merge(again=True)
            else:
                merged = _take_over(store, run_id, lent)
                _note(store, partition, "merged", **asdict(merged))
    remove_partition(path)
    return merged


def left_over(store: Store, run_id: str) -> tuple[Path, ...]:
    """List the existing partition files of a run: those recorded as dealt, and all files of matching name beside the store."""
    beside = store.path.absolute().parent.glob(f"{store.path.stem}.{run_id}.part-*.duckdb")
    noted = (Path(state["path"]) for state in _states(store, run_id).values() if state["state"] == "dealt")
    return tuple(sorted({*beside, *(path for path in noted if path.exists())}))


def missing(store: Store, run_id: str) -> tuple[Partition, ...]:
    """List the partitions of a run that are recorded as dealt but whose file does not exist."""
    return tuple(
        Partition(id=name, run_id=run_id, number=state["number"], path=Path(state["path"]), items=state["items"])
        for name, state in _states(store, run_id).items()
        if state["state"] == "dealt" and not Path(state["path"]).exists()
    )


def note_lost(store: Store, partition: Partition) -> None:
    """Record that the store of *partition* is lost for good; its items count as open again. A half-made store is deleted."""
    with suppress(OutputError):
        remove_partition(_draft(partition.path))  # it only takes up room; if it is in the way, ``deal_partition`` reports it
    _note(store, partition, "lost")


def remove_partition(path: Path) -> None:
    """Delete a partition store and its log, if they are there. Raises ``OutputError``."""
    try:
        # Delete the log first: a log left alone would be replayed into the next store of this name.
        log_of(path).unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"the partition store cannot be deleted ({error.strerror})", where=str(path)) from error


def _lend(store: Store, partition: Partition, indexes: Sequence[int]) -> None:
    """Copy what *partition* needs into the attached store, in a transaction of the caller."""
    store.change(f"INSERT INTO part.runs ({_RUN}) SELECT {_RUN} FROM runs WHERE id = ?", [partition.run_id])  # noqa: S608 - constants
    # Copy only the replies of these items: a call's key depends on the item, so replies of other items cannot answer its calls.
    # A stage may make several calls for one item, which then have the item ids "17/0", "17/1".
    lending = f"INSERT INTO part.call_events ({_EVENT}) SELECT {_EVENT} FROM call_events WHERE kind = 'reply' "  # noqa: S608
    store.change(f"{lending} AND split_part(item_id, '/', 1) IN (SELECT unnest(?::VARCHAR[]))", [[str(index) for index in indexes]])
    store.change(_TICKET.replace("partition_ticket", "part.partition_ticket"))
    lent = store.rows("SELECT count(*) FROM part.call_events")[0][0]
    store.change("INSERT INTO part.partition_ticket VALUES (?, ?, ?, ?)", [partition.id, partition.run_id, partition.number, lent])


def _take_over(store: Store, run_id: str, lent: int) -> Merge:
    counts = {
        "events": store.rows("SELECT count(*) FROM part.call_events WHERE rowid >= ?", [lent])[0][0],
        "results": store.rows("SELECT count(*) FROM part.stage_results WHERE run_id = ?", [run_id])[0][0],
        "rejects": store.rows("SELECT count(*) FROM part.rejects WHERE run_id = ? AND plan_index NOT NULL", [run_id])[0][0],
    }
    for sql in (
        # Skip the replies that deal() had copied in: the first *lent* rows. DuckDB keeps the order of the rest.
        f"INSERT INTO call_events ({_EVENT}) SELECT {_EVENT} FROM part.call_events WHERE rowid >= {int(lent)} AND run_id = ?",  # noqa: S608
        "DELETE FROM plan_items WHERE run_id = ? AND plan_index IN (SELECT plan_index FROM part.plan_items)",
        "INSERT INTO plan_items (plan_index, run_id, item) SELECT plan_index, run_id, item FROM part.plan_items WHERE run_id = ?",
        "DELETE FROM stage_results WHERE run_id = ? AND (stage, plan_index) IN (SELECT stage, plan_index FROM part.stage_results)",
        f"INSERT INTO stage_results ({_RESULT}) SELECT {_RESULT} FROM part.stage_results WHERE run_id = ?",  # noqa: S608
        "DELETE FROM rejects WHERE run_id = ? AND NOT lifted AND (stage, plan_index) IN (SELECT stage, plan_index FROM part.rejects)",
        # Only rejects of plan items: the main store has its own of shared results.
        f"INSERT INTO rejects ({_REJECT}) SELECT {_REJECT} FROM part.rejects WHERE run_id = ? AND plan_index NOT NULL",  # noqa: S608
    ):
        store.change(sql, [run_id])
    known = "SELECT sha256 FROM prompt_texts"
    store.change(f"INSERT INTO prompt_texts (sha256, text) SELECT sha256, text FROM part.prompt_texts WHERE sha256 NOT IN ({known})")  # noqa: S608
    return Merge(**counts)


def _ticket(store: Store, run_id: str, path: Path) -> tuple[Partition, int]:
    there = store.rows("SELECT 1 FROM duckdb_tables() WHERE database_name = 'part' AND table_name = 'partition_ticket'")
    found = store.rows("SELECT id, run_id, number, lent FROM part.partition_ticket") if there else []
    if not found or found[0][1] != run_id:
        raise StoreError(f"the file is not a partition of run {run_id}", where=str(path), remedy="Move it away if you still need it")
    name, _, number, lent = found[0]
    noted = _states(store, run_id).get(name, {})
    return Partition(id=name, run_id=run_id, number=number, path=path, items=noted.get("items", 0)), lent


def _states(store: Store, run_id: str) -> dict[str, dict[str, Any]]:
    return {name: json.loads(text) for name, text in load_shared_results(store, run_id, STAGE).items()}


def _note(store: Store, partition: Partition, state: str, **more: object) -> None:
    noted = {"number": partition.number, "path": str(partition.path), "items": partition.items, "state": state, **more}
    save_shared_results(store, partition.run_id, [(STAGE, partition.id, json.dumps(noted))])
