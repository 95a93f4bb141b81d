"""Summaries of a run's plan items: which have a record, how many passed each stage, and why others were rejected."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from piiloom.corpus.store.database import Store


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
