"""Delete runs, releases, or the texts of prompts and replies; and shrink the store's file.

A run or a release is deleted in one transaction, after checks, and what would be deleted can be counted before. A run's journal of calls
(replies that were paid for) stays by default, because later runs reuse its replies and cost sums need it. A release only refers to records,
so deleting it deletes no records. When texts are purged, token counts and costs stay.

DuckDB reuses the space of deleted rows but never returns it to the file system, and purged bytes remain until they are overwritten.
``compact`` copies the store into a new file. If all tables of the copy are equal to the original's, the copy replaces the old file.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from piiloom.corpus.store.call_events import OPEN_STATES
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.derived_stores import left_over
from piiloom.corpus.store.releases import get_release
from piiloom.corpus.store.runs import get_run
from piiloom.corpus.store.store_files import attached, copy_database, identifier, locked, log_of, opened_meanwhile, remove_files, sync
from piiloom.foundation.errors import OutputError, RunError, StoreError

# _RESULTS: the tables with a run's data, except runs, records, spans and calls. _CALLS: tables that are deleted with the calls.
_RESULTS = ("plan_items", "stage_results", "shared_results", "rejects", "judgements")
_CALLS = ("batches", "batch_requests")
_ANNOTATION = ("annotation_items", "annotation_documents", "annotation_assignments", "adjudications", "guideline_questions")
_SUGGESTED = ("suggestions", "suggested_records")
_OF_RELEASE = ("release_members", "release_withheld", "release_values")
_OF_RUN = "SELECT record_order FROM records WHERE run_id = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContents:
    """Counts of a run's data in the store. ``replies`` cost ``cost_usd``; other runs have reused ``lent`` of them (by key)."""

    records: int
    spans: int
    plan_items: int
    stage_results: int
    rejects: int
    calls: int
    replies: int
    lent: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTies:
    """What prevents deleting a run: releases, records with annotation work, open batches, and unmerged partition files."""

    releases: tuple[str, ...]
    annotated: int
    batches: int
    partitions: int


def contents_of_run(store: Store, run_id: str) -> RunContents:
    """Count what the store holds of run *run_id*."""
    sql = f"""SELECT (SELECT count(*) FROM records WHERE run_id = $1),
            (SELECT count(*) FROM spans WHERE record_order IN (SELECT record_order FROM records WHERE run_id = $1)),
            (SELECT count(*) FROM plan_items WHERE run_id = $1), (SELECT count(*) FROM stage_results WHERE run_id = $1),
            (SELECT count(*) FROM rejects WHERE run_id = $1), (SELECT count(DISTINCT hash(key)) FROM call_events WHERE run_id = $1),
            (SELECT count(*) FROM call_events WHERE run_id = $1 AND kind = 'reply'),
            (SELECT count(DISTINCT hash(key)) FROM call_events WHERE run_id = $1 AND kind = 'reply' AND key IN {_lent("$1")}),
            (SELECT coalesce(fsum((entry->>'$.cost_usd')::DOUBLE), 0) FROM call_events WHERE run_id = $1 AND kind = 'reply')"""  # noqa: S608
    return store.objects(RunContents, sql, [run_id])[0]


def ties_of_run(store: Store, run_id: str) -> RunTies:
    """Find what prevents deleting run *run_id*."""
    releases = store.column(
        "SELECT name FROM releases WHERE run_id = $1 OR name IN (SELECT release_name FROM release_members WHERE record_order IN "
        "(SELECT record_order FROM records WHERE run_id = $1)) ORDER BY created_order",
        [run_id],
    )
    named = " UNION ".join(f"SELECT record_id FROM {table}" for table in _ANNOTATION)  # noqa: S608 - constants
    annotated = store.value(
        f"SELECT count(DISTINCT id) FROM records WHERE run_id = ? AND id IN ({named} UNION SELECT source_id FROM annotation_controls)",  # noqa: S608
        [run_id],
    )
    open_batches = "SELECT count(*) FROM batches WHERE run_id = ? AND list_contains(?::VARCHAR[], state)"
    batches = store.value(open_batches, [run_id, list(OPEN_STATES)])
    return RunTies(
        releases=tuple(releases),
        annotated=annotated,
        batches=batches,
        partitions=len(left_over(store, run_id)),
    )


def refuse_tied(store: Store, run_id: str) -> None:
    """Raise ``RunError``, with a remedy, if anything prevents deleting the run."""
    ties = ties_of_run(store, run_id)
    where, of_store = str(store.path), f" --store {shlex.quote(str(store.path))}"
    if ties.batches:
        raise RunError(
            f"run {run_id} has open batches at its provider ({ties.batches})",
            where=where,
            remedy=f"Cancel them first: piiloom batch cancel --run {run_id}{of_store}",
        )
    if ties.partitions:
        raise RunError(
            f"run {run_id} has partition files ({ties.partitions}) that are not merged into the store",
            where=where,
            remedy=f"Merge them first: piiloom generate --resume {run_id}{of_store}",
        )
    if ties.releases:
        commands = "; ".join(f"piiloom releases delete {shlex.quote(name)}{of_store}" for name in ties.releases)
        raise RunError(
            f"run {run_id} is in {_listed(ties.releases)}, whose records would be deleted",
            where=where,
            remedy=f"Delete these first: {commands}",
        )
    if ties.annotated:
        raise RunError(
            f"people have annotated records of run {run_id} ({ties.annotated}), and their work is never deleted",
            where=where,
            remedy="Keep the run. To continue without it, release and export the other runs and import them into another store",
        )


def delete_run(store: Store, run_id: str, *, with_journal: bool = False) -> None:
    """Delete a run with its records, plan and rejects. *with_journal*: also its calls, except those whose replies other runs use.

    Raises ``RunError`` if there is no such run or something prevents it (``refuse_tied``); then nothing is changed.
    """
    run = get_run(store, run_id)
    with store.writing():
        refuse_tied(store, run.id)
        for table in _SUGGESTED:
            store.change(f"DELETE FROM {table} WHERE record_order IN ({_OF_RUN})", [run.id])  # noqa: S608 - constants
        store.change(f"DELETE FROM spans WHERE record_order IN ({_OF_RUN})", [run.id])  # noqa: S608 - a constant
        store.change("DELETE FROM records WHERE run_id = ?", [run.id])
        for table in (*_RESULTS, *(_CALLS if with_journal else ())):
            store.change(f"DELETE FROM {table} WHERE run_id = ?", [run.id])  # noqa: S608 - a constant
        if with_journal:
            store.change(f"DELETE FROM call_events WHERE run_id = $1 AND key NOT IN {_lent('$1')}", [run.id])  # noqa: S608
            drop_unused_prompts(store)
        store.change("DELETE FROM runs WHERE id = ?", [run.id])


def delete_release(store: Store, name: str) -> None:
    """Delete all of the release *name*, but no records. Raises ``ReleaseError`` if it does not exist."""
    release = get_release(store, name)
    with store.writing():
        for table in _OF_RELEASE:
            store.change(f"DELETE FROM {table} WHERE release_name = ?", [release.name])  # noqa: S608 - a constant
        store.change("DELETE FROM releases WHERE name = ?", [release.name])


def _lent(run: str) -> str:
    """Return a subquery for the keys of a run's replies that other runs have used. *run* is an SQL parameter, such as ``$1``."""
    return f"(SELECT key FROM call_events WHERE kind = 'used' AND run_id <> {run} AND entry->>'$.from_run' = {run})"  # noqa: S608


def _listed(names: tuple[str, ...]) -> str:
    return f"{'release' if len(names) == 1 else 'releases'} {', '.join(names)}"


_CHUNK = 2_000
# Checkpoint after this many chunks. Until then DuckDB keeps the replaced rows, about 2.5 MB a chunk.
_PIECES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """How many texts were purged. ``prompts`` includes deleted system prompts that no event refers to any more."""

    prompts: int = 0
    replies: int = 0
    rejects: int = 0


def last_heard(store: Store) -> dict[str, datetime | None]:
    """Return when each run with calls last sent one; None if that was not recorded (before schema version 3)."""
    return {
        run: datetime.fromisoformat(at) if at else None
        for run, at in store.rows("SELECT run_id, max(entry->>'$.at') FROM call_events GROUP BY run_id")
    }


def purge_texts(store: Store, run_ids: Sequence[str]) -> Purged:
    """Replace the texts of all prompts and replies of *run_ids* by null. Records are unchanged.

    Works in chunks, each in its own transaction, since DuckDB keeps the rows that a transaction replaces in memory. If interrupted,
    part of the texts is purged; calling it again continues.
    """
    prompts = replies = 0
    chosen = list(run_ids)
    places = store.integers(
        "SELECT rowid FROM call_events WHERE list_contains(?::VARCHAR[], run_id) AND kind IN ('sent', 'reply', 'failed', 'verdict') "
        "ORDER BY rowid",
        [chosen],
    )
    for piece, at in enumerate(range(0, len(places), _CHUNK), 1):
        sent, answered = _purge_chunk(store, places[at], places[min(at + _CHUNK, len(places)) - 1], chosen)
        prompts, replies = prompts + sent, replies + answered
        if piece % _PIECES == 0:
            store.change("CHECKPOINT")
    with store.transaction():
        rejects = _count(store, "rejects WHERE last_reply IS NOT NULL AND list_contains(?::VARCHAR[], run_id)", chosen)
        store.change("UPDATE rejects SET last_reply = NULL WHERE list_contains(?::VARCHAR[], run_id)", [chosen])
        prompts += drop_unused_prompts(store)
    return Purged(prompts=prompts, replies=replies, rejects=rejects)


def without_texts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of an event's *entry* without texts of prompts, replies and messages. Codes, counts and costs stay."""
    kept = dict(entry)
    for name in ("user", "reply", "message"):
        if name in kept:
            kept[name] = None
    # These are "code: explanation". Keep the code only, as the explanation may quote the reply.
    for name in ("error", "fault", "unmet"):
        if isinstance(kept.get(name), str):
            kept[name] = kept[name].partition(": ")[0]
    return kept


def drop_unused_prompts(store: Store) -> int:
    """Delete the system prompts that no unpurged "sent" event refers to. Return how many were deleted."""
    needed = (
        "(SELECT entry->>'$.system' FROM call_events WHERE kind = 'sent' AND entry->>'$.user' IS NOT NULL "
        "AND entry->>'$.system' IS NOT NULL)"
    )
    unused = f"prompt_texts WHERE sha256 NOT IN {needed}"
    number = _count(store, unused)
    store.change(f"DELETE FROM {unused}")  # noqa: S608 - the constant above
    return number


def _purge_chunk(store: Store, first: int, last: int, run_ids: list[str]) -> tuple[int, int]:
    """Purge the events with row ids *first* to *last*. Return how many prompts and how many replies lost their text."""
    rows = store.rows(
        "SELECT rowid, kind, entry FROM call_events WHERE rowid BETWEEN ? AND ? AND list_contains(?::VARCHAR[], run_id)",
        [first, last, run_ids],
    )
    found = [(place, kind, json.loads(text)) for place, kind, text in rows]
    bare = [(place, without_texts(entry), entry) for place, _, entry in found]
    changed = [(place, json.dumps(new, ensure_ascii=False)) for place, new, entry in bare if new != entry]
    if changed:
        store.change(
            "UPDATE call_events SET entry = new.entry FROM (SELECT unnest(?::BIGINT[]) AS place, unnest(?::VARCHAR[]) AS entry) AS new "
            "WHERE call_events.rowid BETWEEN ? AND ? AND call_events.rowid = new.place",
            [[place for place, _ in changed], [entry for _, entry in changed], first, last],
        )
    sent = sum(kind == "sent" and entry.get("user") is not None for _, kind, entry in found)
    return sent, sum(kind == "reply" and entry.get("reply") is not None for _, kind, entry in found)


def _count(store: Store, what: str, *parameters: object) -> int:
    return int(store.value(f"SELECT count(*) FROM {what}", parameters))  # noqa: S608 - constants of this module


_COPY = "piiloom_compact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """The file's size in bytes before and after, and how many rows were copied."""

    before: int
    after: int
    rows: int


def compact(path: Path) -> Compacted:
    """Rewrite the store at *path* without free space. On any error the store is unchanged and no temporary file remains.

    Raises what ``Store.open`` does, ``OutputError`` (no room for the copy, read-only folder), and ``StoreError`` if the
    copy differs from the store, and ``StoreLocked`` if another process has opened the store meanwhile.
    """
    target = path.resolve()  # replace the file that a symbolic link points to, not the link
    partial = target.with_name(f"{target.name}.vacuum.part")
    try:
        with Store.open(path, create=False) as store:
            remove_files(partial)
            store.change("CHECKPOINT")
            rows = _copy(store, partial)
            known = _state(target)  # the log is checkpointed already, so closing changes nothing
        with locked(target, path):
            if _state(target) != known or log_of(target).exists():
                raise opened_meanwhile(path)
            partial.chmod(target.stat().st_mode & 0o777)
            sync(partial)
            after = partial.stat().st_size
            partial.replace(target)
            sync(target.parent)
    except OSError as error:
        raise OutputError(
            f"the compacted store cannot be written ({error.strerror})",
            where=str(path),
            remedy="Nothing was changed. Free disk space in its folder and try again",
        ) from error
    finally:
        with suppress(OSError):
            remove_files(partial)
    return Compacted(before=known[0], after=after, rows=rows)


def _copy(store: Store, partial: Path) -> int:
    """Copy everything into a new file at *partial* and return the number of rows. Raises ``StoreError`` if a table differs."""
    source = store.value("SELECT current_database()")
    with attached(store.change, partial, _COPY):
        copy_database(store.change, source, _COPY)
        tables = store.column("SELECT table_name FROM duckdb_tables() WHERE database_name = ?", [source])
        sums = [(_sum(store, source, name), _sum(store, _COPY, name)) for name in tables]
    if any(before != after for before, after in sums) or len(sums) == 0:
        raise StoreError("the copy differs from the store", where=str(store.path), remedy="Nothing was changed. Try again, on another disk")
    return sum(rows for (rows, _), _ in sums)


def _sum(store: Store, database: str, table: str) -> tuple[int, int | None]:
    """Return the number of rows of a table and the sum of their hashes, which does not depend on row order."""
    name = f"{identifier(database)}.main.{identifier(table)}"
    rows, hashes = store.rows(f"SELECT count(*), sum(hash(t)::HUGEINT) FROM {name} AS t")[0]  # noqa: S608 - quoted names
    return int(rows), None if hashes is None else int(hashes)


def _state(target: Path) -> tuple[int, int, int]:
    """Return size, modification time (ns) and inode of the file; a change shows that another process has written or replaced it."""
    found = target.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino
