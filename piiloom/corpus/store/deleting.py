"""Delete a run or a release in one transaction, after checks; and preview what would be deleted.

A run's journal of calls (replies that were paid for) stays by default, because later runs reuse its replies and cost sums need it. A
release only refers to records, so deleting it deletes no records. DuckDB keeps the freed space in the file; ``compacting`` returns it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from piiloom.corpus.store.batches import OPEN_STATES
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.partitions import left_over
from piiloom.corpus.store.purging import drop_unused_prompts
from piiloom.corpus.store.releases import get_release
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import RunError

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
class Ties:
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
    records, spans, items, results, rejects, calls, replies, lent, cost = store.rows(sql, [run_id])[0]
    return RunContents(
        records=records,
        spans=spans,
        plan_items=items,
        stage_results=results,
        rejects=rejects,
        calls=calls,
        replies=replies,
        lent=lent,
        cost_usd=cost,
    )


def ties_of_run(store: Store, run_id: str) -> Ties:
    """Find what prevents deleting run *run_id*."""
    releases = store.rows(
        "SELECT name FROM releases WHERE run_id = $1 OR name IN (SELECT release_name FROM release_members WHERE record_order IN "
        "(SELECT record_order FROM records WHERE run_id = $1)) ORDER BY created_order",
        [run_id],
    )
    named = " UNION ".join(f"SELECT record_id FROM {table}" for table in _ANNOTATION)  # noqa: S608 - constants
    annotated = store.rows(
        f"SELECT count(DISTINCT id) FROM records WHERE run_id = ? AND id IN ({named} UNION SELECT source_id FROM annotation_controls)",  # noqa: S608
        [run_id],
    )
    open_batches = "SELECT count(*) FROM batches WHERE run_id = ? AND list_contains(?::VARCHAR[], state)"
    batches = store.rows(open_batches, [run_id, list(OPEN_STATES)])
    return Ties(
        releases=tuple(name for (name,) in releases),
        annotated=annotated[0][0],
        batches=batches[0][0],
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
