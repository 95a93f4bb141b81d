"""The progress of a run in the store: plan items, results of stages, rejects, and counts of them.

Saving an item again replaces the old row (delete and insert in one transaction), so saving is idempotent. Payloads are JSON texts
that the store does not interpret. Shared results belong to the run as a whole, not to a plan item.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import select


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResultRow:
    """The result of *stage* for the plan item ``plan_index``; ``payload`` is JSON."""

    plan_index: int
    stage: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectRow:
    """Why a plan item (or, with ``key``, a shared result) was rejected. ``last_reply`` is the provider's last reply."""

    plan_index: int | None
    stage: str
    reason_code: str
    attempts: int
    key: str | None = None
    detail: str = ""
    last_reply: str | None = None


def save_plan_items(store: Store, run_id: str, rows: Sequence[tuple[int, str]]) -> None:
    """Save plan items, given as (index, JSON)."""
    latest = dict(rows)
    if not latest:
        return
    indexes = list(latest)
    with store.writing():
        store.change(
            "DELETE FROM plan_items WHERE run_id = ? AND plan_index BETWEEN ? AND ? AND plan_index IN (SELECT unnest(?::BIGINT[]))",
            [run_id, min(indexes), max(indexes), indexes],
        )
        store.append("plan_items", ("plan_index", "run_id", "item"), [(index, run_id, item) for index, item in latest.items()])


def load_plan_items(store: Store, run_id: str) -> list[tuple[int, str]]:
    """Return the plan items of a run as (index, JSON), sorted by index."""
    found = store.rows("SELECT plan_index, item FROM plan_items WHERE run_id = ? ORDER BY plan_index", [run_id])
    return [(index, item) for index, item in found]


def save_stage_results(store: Store, run_id: str, rows: Sequence[StageResultRow]) -> None:
    """Save stage results. *rows* may contain several stages."""
    latest = {(row.stage, row.plan_index): row.payload for row in rows}
    if not latest:
        return
    stages, indexes = [stage for stage, _ in latest], [index for _, index in latest]
    # The range lets DuckDB skip blocks that cannot contain these items.
    bounds = [run_id, min(indexes), max(indexes), sorted(set(stages))]
    within = "run_id = ? AND plan_index BETWEEN ? AND ? AND list_contains(?::VARCHAR[], stage)"
    with store.writing():
        # Usually there is nothing to replace, and this query is three times as fast as a DELETE that finds nothing.
        if store.rows(select(("1",), "stage_results", f"WHERE {within} LIMIT 1"), bounds):
            store.change(
                f"DELETE FROM stage_results WHERE {within} "  # noqa: S608 - the constant above
                "AND (stage, plan_index) IN (SELECT unnest(?::VARCHAR[]), unnest(?::BIGINT[]))",
                [*bounds, stages, indexes],
            )
        values = [(index, run_id, stage, payload) for (stage, index), payload in latest.items()]
        store.append("stage_results", ("plan_index", "run_id", "stage", "payload"), values)


def load_stage_results(store: Store, run_id: str, stage: str, *, without: Collection[int] = ()) -> dict[int, str]:
    """Return the results of *stage* by plan index, in plan order, except for the indexes in *without*."""
    sql = (
        "SELECT plan_index, payload FROM stage_results WHERE run_id = ? AND stage = ? "
        "AND plan_index NOT IN (SELECT unnest(?::BIGINT[])) ORDER BY plan_index"
    )
    return dict(store.rows(sql, [run_id, stage, list(without)]))


def save_shared_results(store: Store, run_id: str, rows: Sequence[tuple[str, str, str]]) -> None:
    """Save shared results as (stage, key, JSON), such as the topics of a pair. A result with the same stage and key is replaced."""
    latest = {(stage, key): payload for stage, key, payload in rows}
    if not latest:
        return
    with store.writing():
        store.change(
            "DELETE FROM shared_results WHERE run_id = ? AND (stage, key) IN (SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]))",
            [run_id, [stage for stage, _ in latest], [key for _, key in latest]],
        )
        values = [(key, run_id, stage, payload) for (stage, key), payload in latest.items()]
        store.append("shared_results", ("key", "run_id", "stage", "payload"), values)


def load_shared_results(store: Store, run_id: str, stage: str) -> dict[str, str]:
    """Return the shared results of *stage* by key, sorted by key."""
    sql = "SELECT key, payload FROM shared_results WHERE run_id = ? AND stage = ? ORDER BY key"
    return dict(store.rows(sql, [run_id, stage]))


def drop_shared_results(store: Store, run_id: str, keys: Sequence[str]) -> None:
    """Delete the shared results with these *keys*, whatever their stage, so that they are generated again."""
    if keys:
        store.change("DELETE FROM shared_results WHERE run_id = ? AND list_contains(?::VARCHAR[], key)", [run_id, list(keys)])


def save_rejects(store: Store, run_id: str, rows: Sequence[RejectRow]) -> None:
    """Save rejects. One with the same stage and item (or key) is replaced, unless it was lifted."""
    latest = {(row.stage, row.plan_index, row.key): row for row in rows}
    if not latest:
        return
    stages, indexes, keys = (list(column) for column in zip(*latest, strict=True))
    with store.writing():
        store.change(
            "DELETE FROM rejects WHERE run_id = ? AND NOT lifted AND EXISTS (SELECT 1 FROM "
            "(SELECT unnest(?::VARCHAR[]) AS stage, unnest(?::BIGINT[]) AS plan_index, unnest(?::VARCHAR[]) AS key) AS new "
            "WHERE new.stage = rejects.stage AND new.plan_index IS NOT DISTINCT FROM rejects.plan_index "
            "AND new.key IS NOT DISTINCT FROM rejects.key)",
            [run_id, stages, indexes, keys],
        )
        store.append(
            "rejects",
            ("plan_index", "key", "run_id", "stage", "reason_code", "detail", "attempts", "last_reply", "lifted"),
            [(r.plan_index, r.key, run_id, r.stage, r.reason_code, r.detail, r.attempts, r.last_reply, False) for r in latest.values()],
        )


def load_rejects(store: Store, run_id: str, *, lifted: bool = False) -> list[RejectRow]:
    """Return the active rejects of a run (or the *lifted* ones), sorted by plan index; those of shared results come last."""
    found = store.rows(
        "SELECT plan_index, key, stage, reason_code, detail, attempts, last_reply FROM rejects WHERE run_id = ? AND lifted = ? "
        "ORDER BY plan_index NULLS LAST, stage, key",
        [run_id, lifted],
    )
    return [
        RejectRow(plan_index=index, key=key, stage=stage, reason_code=code, detail=detail, attempts=attempts, last_reply=reply)
        for index, key, stage, code, detail, attempts, reply in found
    ]


def lift_rejects(store: Store, run_id: str, *, codes: Sequence[str] = (), indexes: Sequence[int] = (), keys: Sequence[str] = ()) -> int:
    """Lift the rejects with a reason code in *codes*, a plan index in *indexes* or a key in *keys*, so that these are tried again.

    Return how many were lifted. The rows stay in the table, marked as lifted.
    """
    which = (
        "run_id = ? AND NOT lifted AND (list_contains(?::VARCHAR[], reason_code) OR list_contains(?::BIGINT[], plan_index) "
        "OR list_contains(?::VARCHAR[], key))"
    )
    found = [run_id, list(codes), list(indexes), list(keys)]
    lifted: int = store.rows(select(("count(*)",), "rejects", f"WHERE {which}"), found)[0][0]
    if lifted:
        store.change(f"UPDATE rejects SET lifted = true WHERE {which}", found)  # noqa: S608 - the constant above
    return lifted


def plan_indexes(store: Store, run_id: str) -> list[int]:
    """List the plan indexes of the run's records, ascending."""
    rows = store.rows("SELECT DISTINCT plan_index FROM records WHERE run_id = ? AND plan_index IS NOT NULL ORDER BY plan_index", [run_id])
    return [index for (index,) in rows]


def count_by_furthest_stage(store: Store, run_id: str, stages: Sequence[str]) -> dict[str, int]:
    """Count plan items by the last of *stages* (in pipeline order) that has a result for them."""
    sql = (
        "SELECT furthest, count(*) FROM (SELECT max(list_position(?::VARCHAR[], stage)) AS furthest "
        "FROM stage_results WHERE run_id = ? GROUP BY plan_index) GROUP BY furthest"
    )
    return {stages[furthest - 1]: number for furthest, number in store.rows(sql, [list(stages), run_id]) if furthest}


def count_reasons(store: Store, run_id: str) -> dict[str, dict[str, int]]:
    """Count the rejects of a run by stage and reason code."""
    reasons: dict[str, dict[str, int]] = {}
    sql = "SELECT stage, reason_code, count(*) FROM rejects WHERE run_id = ? AND NOT lifted GROUP BY ALL ORDER BY stage, reason_code"
    for stage, code, number in store.rows(sql, [run_id]):
        reasons.setdefault(stage, {})[code] = number
    return reasons


def count_attempts(store: Store, run_id: str) -> dict[str, dict[str, int]]:
    """Count the replies and final failures of a run by stage and verdict.

    The verdict is "error" for failures and unusable replies, and "none" for replies that no validator has judged yet.
    """
    counts: dict[str, dict[str, int]] = {}
    sql = (
        "SELECT c.stage, coalesce(v.verdict, CASE WHEN c.kind = 'failed' OR c.entry->>'$.error' IS NOT NULL THEN 'error' END, 'none') "
        "AS verdict, count(*) FROM call_events c LEFT JOIN (SELECT key, last(entry->>'$.verdict' ORDER BY rowid) AS verdict "
        "FROM call_events WHERE run_id = ? AND kind = 'verdict' GROUP BY key) v ON v.key = c.key AND c.kind = 'reply' "
        "WHERE c.run_id = ? AND (c.kind = 'reply' OR (c.kind = 'failed' AND c.entry->>'$.final' = 'true')) GROUP BY ALL ORDER BY ALL"
    )
    for stage, verdict, number in store.rows(sql, [run_id, run_id]):
        counts.setdefault(stage, {})[verdict] = number
    return counts


def rejects_by_run(store: Store) -> dict[str, int]:
    """Count the rejected plan items of each run that has any."""
    sql = "SELECT run_id, count(DISTINCT plan_index) FROM rejects WHERE NOT lifted AND plan_index IS NOT NULL GROUP BY run_id"
    return dict(store.rows(sql))


def records_by_origin(store: Store, record_ids: Collection[str]) -> dict[str | None, int]:
    """Count *record_ids* by the run that made them (None: imported), oldest run first; where several have one, the oldest counts."""
    sql = (
        "SELECT run_id, count(*) FROM records WHERE record_order IN (SELECT min(record_order) FROM records "
        "WHERE id IN (SELECT unnest(?::VARCHAR[])) GROUP BY id) GROUP BY run_id ORDER BY min(record_order)"
    )
    return dict(store.rows(sql, [list(record_ids)]))
