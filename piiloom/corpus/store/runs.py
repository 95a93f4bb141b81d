"""Runs, and the progress of each: plan items, results of stages, rejects, and counts of them.

Saving an item again replaces the old row (delete and insert in one transaction), so saving is idempotent. Payloads are JSON texts
that the store does not interpret. Shared results belong to the run as a whole, not to a plan item.

A plan item counts as a row once it is planned or has any call, reject or record. A row is accepted (it has a record), rejected (it
has a reject that was not lifted) or open.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from threading import Lock
from typing import Any, Literal

from piiloom.corpus.store.database import Store, select
from piiloom.foundation.errors import RunError

RunStatus = Literal["running", "interrupted", "finished", "failed"]
# Threads that add runs together would number them alike.
_ONE_NEW_RUN = Lock()
# The calls of a deleted run stay in the journal under its id, so that number must never be used again.
_NEXT_ORDER = """
    SELECT 1 + greatest((SELECT coalesce(max(created_order), 0) FROM runs), (SELECT
        coalesce(max(try_cast(regexp_extract(run_id, '^r([0-9]{4,})-[0-9a-f]{8}$', 1) AS BIGINT)), 0) FROM
        (SELECT DISTINCT run_id FROM call_events)))"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run. ``created_order`` counts from 1. ``samples`` is the requested number of accepted records."""

    id: str
    created_order: int
    provider: str
    model: str | None
    seed: int
    samples: int
    config: dict[str, Any]
    config_digest: str
    status: RunStatus

    @property
    def makes_records(self) -> bool:
        """False for a run that only asks a model (``asking_run``): it has no stages."""
        return self.samples > 0


def create_run(
    store: Store,
    *,
    provider: str,
    model: str | None,
    seed: int,
    samples: int,
    config: Mapping[str, Any],
    config_digest: str,
    run_id: str | None = None,
    status: RunStatus = "running",
) -> RunRow:
    """Add a run. The default id is ``r<order>-<first 8 digits of config_digest>``. Raises ``RunError`` if the id is taken."""
    with _ONE_NEW_RUN, store.writing():
        order = store.value(_NEXT_ORDER)
        name = run_id or f"r{order:04d}-{config_digest[:8]}"
        if store.rows("SELECT 1 FROM runs WHERE id = ?", [name]):
            raise RunError(f"there is a run {name!r} already", where=str(store.path), remedy="Resume it or choose another name")
        row = RunRow(
            id=name,
            created_order=order,
            provider=provider,
            model=model,
            seed=seed,
            samples=samples,
            config=dict(config),
            config_digest=config_digest,
            status=status,
        )
        store.add("runs", [row], encoded=["config"])
    return get_run(store, name)


def get_run(store: Store, run_id: str) -> RunRow:
    """Return the run *run_id*, or the newest run for ``"last"``. Raises ``RunError`` if there is none; its remedy lists known runs."""
    found = _runs(store, "ORDER BY created_order DESC LIMIT 1") if run_id == "last" else _runs(store, "WHERE id = ?", run_id)
    if found:
        return found[0]
    newest = store.column("SELECT id FROM runs ORDER BY created_order DESC LIMIT 10")
    known = f"Known runs, newest first: {', '.join(newest)}" if newest else "The store has no runs yet"
    raise RunError(f"there is no run {run_id!r}", where=str(store.path), remedy=known)


def find_run(store: Store, config_digest: str, seed: int) -> RunRow | None:
    """The newest run of this configuration and seed, if any."""
    return next(iter(_runs(store, "WHERE config_digest = ? AND seed = ? ORDER BY created_order DESC", config_digest, seed)), None)


def asking_run(store: Store, kind: str, config: Mapping[str, Any], config_digest: str) -> RunRow:
    """Return the run that asks a model by *config* and makes no records: an earlier one, or a new one.

    What an earlier one has spent counts toward the budget. *config* has "provider", "model" and "seed"; *kind* begins the id of a new
    run ("detect-1a2b3c4d-7").
    """
    seed = config["seed"]
    known = find_run(store, config_digest, seed)
    if known is not None:
        set_run_status(store, known.id, "running")
        return known
    return create_run(
        store,
        provider=config["provider"],
        model=config["model"],
        seed=seed,
        samples=0,
        config=config,
        config_digest=config_digest,
        run_id=f"{kind}-{config_digest[:8]}-{seed}",
    )


def list_runs(store: Store) -> list[RunRow]:
    """All runs, oldest first."""
    return _runs(store, "ORDER BY created_order")


def _runs(store: Store, clause: str, *parameters: object) -> list[RunRow]:
    return store.objects(RunRow, f"FROM runs {clause}", parameters, decoded=["config"])


def set_run_status(store: Store, run_id: str, status: RunStatus) -> None:
    """Change the status of *run_id*. Raises ``RunError`` when there is no such run."""
    store.change("UPDATE runs SET status = ? WHERE id = ?", [status, get_run(store, run_id).id])


def set_run_samples(store: Store, run_id: str, samples: int) -> None:
    """Change how many records *run_id* is to have. Raises ``RunError`` when there is no such run."""
    store.change("UPDATE runs SET samples = ? WHERE id = ?", [samples, get_run(store, run_id).id])


def set_run_config(store: Store, run_id: str, config: Mapping[str, Any]) -> None:
    """Replace the configuration of *run_id*; ``config_digest`` stays. Raises ``RunError`` when there is no such run."""
    text = json.dumps(dict(config), ensure_ascii=False)
    store.change("UPDATE runs SET config = ? WHERE id = ?", [text, get_run(store, run_id).id])


def forget_untouched_run(store: Store, run_id: str) -> bool:
    """Delete *run_id* if the store has no calls, results, plan items, rejects or records of it. Return whether it was deleted."""
    kept = ("call_events", "shared_results", "plan_items", "stage_results", "rejects", "records")
    if any(store.rows(f"SELECT 1 FROM {table} WHERE run_id = ? LIMIT 1", [run_id]) for table in kept):  # noqa: S608 - constants
        return False
    store.change("DELETE FROM runs WHERE id = ?", [run_id])
    return True


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
    return store.rows("SELECT plan_index, item FROM plan_items WHERE run_id = ? ORDER BY plan_index", [run_id])


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
        if store.rows(f"SELECT 1 FROM stage_results WHERE {within} LIMIT 1", bounds):  # noqa: S608 - the constant above
            store.change(
                f"DELETE FROM stage_results WHERE {within} "  # noqa: S608 - the constant above
                "AND (stage, plan_index) IN (SELECT unnest(?::VARCHAR[]), unnest(?::BIGINT[]))",
                [*bounds, stages, indexes],
            )
        values = [(index, run_id, stage, payload) for (stage, index), payload in latest.items()]
        store.append("stage_results", ("plan_index", "run_id", "stage", "payload"), values)


def load_stage_results(store: Store, run_id: str, stage: str, *, without: Collection[int] = ()) -> dict[int, str]:
    """Return the results of *stage* by plan index, in plan order, except for the indexes in *without*."""
    return dict(
        store.rows(
            "SELECT plan_index, payload FROM stage_results WHERE run_id = ? AND stage = ? "
            "AND plan_index NOT IN (SELECT unnest(?::BIGINT[])) ORDER BY plan_index",
            [run_id, stage, list(without)],
        )
    )


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
    return dict(store.rows("SELECT key, payload FROM shared_results WHERE run_id = ? AND stage = ? ORDER BY key", [run_id, stage]))


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
    clause = "FROM rejects WHERE run_id = ? AND lifted = ? ORDER BY plan_index NULLS LAST, stage, key"
    return store.objects(RejectRow, clause, [run_id, lifted])


def lift_rejects(store: Store, run_id: str, *, codes: Sequence[str] = (), indexes: Sequence[int] = (), keys: Sequence[str] = ()) -> int:
    """Lift the rejects with a reason code in *codes*, a plan index in *indexes* or a key in *keys*, so that these are tried again.

    Return how many were lifted. The rows stay in the table, marked as lifted.
    """
    which = (
        "run_id = ? AND NOT lifted AND (list_contains(?::VARCHAR[], reason_code) OR list_contains(?::BIGINT[], plan_index) "
        "OR list_contains(?::VARCHAR[], key))"
    )
    found = [run_id, list(codes), list(indexes), list(keys)]
    lifted: int = store.value(f"SELECT count(*) FROM rejects WHERE {which}", found)  # noqa: S608 - the constant above
    if lifted:
        store.change(f"UPDATE rejects SET lifted = true WHERE {which}", found)  # noqa: S608 - the constant above
    return lifted


def plan_indexes(store: Store, run_id: str) -> list[int]:
    """List the plan indexes of the run's records, ascending."""
    return store.column("SELECT DISTINCT plan_index FROM records WHERE run_id = ? AND plan_index IS NOT NULL ORDER BY plan_index", [run_id])


def count_by_furthest_stage(store: Store, run_id: str, stages: Sequence[str]) -> dict[str, int]:
    """Count plan items by the last of *stages* (in pipeline order) that has a result for them."""
    return {
        stages[furthest - 1]: number
        for furthest, number in store.rows(
            "SELECT furthest, count(*) FROM (SELECT max(list_position(?::VARCHAR[], stage)) AS furthest "
            "FROM stage_results WHERE run_id = ? GROUP BY plan_index) GROUP BY furthest",
            [list(stages), run_id],
        )
        if furthest
    }


def count_reasons(store: Store, run_id: str) -> dict[str, dict[str, int]]:
    """Count the rejects of a run by stage and reason code."""
    return _by_stage(
        store.rows(
            "SELECT stage, reason_code, count(*) FROM rejects WHERE run_id = ? AND NOT lifted GROUP BY ALL ORDER BY stage, reason_code",
            [run_id],
        )
    )


def count_attempts(store: Store, run_id: str) -> dict[str, dict[str, int]]:
    """Count the replies and final failures of a run by stage and verdict.

    The verdict is "error" for failures and unusable replies, and "none" for replies that no validator has judged yet.
    """
    return _by_stage(
        store.rows(
            "SELECT c.stage, coalesce(v.verdict, CASE WHEN c.kind = 'failed' OR c.entry->>'$.error' IS NOT NULL THEN 'error' END, 'none') "
            "AS verdict, count(*) FROM call_events c LEFT JOIN (SELECT key, last(entry->>'$.verdict' ORDER BY rowid) AS verdict "
            "FROM call_events WHERE run_id = ? AND kind = 'verdict' GROUP BY key) v ON v.key = c.key AND c.kind = 'reply' "
            "WHERE c.run_id = ? AND (c.kind = 'reply' OR (c.kind = 'failed' AND c.entry->>'$.final' = 'true')) GROUP BY ALL ORDER BY ALL",
            [run_id, run_id],
        )
    )


def _by_stage(rows: Sequence[tuple[Any, ...]]) -> dict[str, dict[str, int]]:
    return {stage: {name: number for _, name, number in group} for stage, group in groupby(rows, key=itemgetter(0))}


def rejects_by_run(store: Store) -> dict[str, int]:
    """Count the rejected plan items of each run that has any."""
    return dict(
        store.rows("SELECT run_id, count(DISTINCT plan_index) FROM rejects WHERE NOT lifted AND plan_index IS NOT NULL GROUP BY run_id")
    )


def records_by_origin(store: Store, record_ids: Collection[str]) -> dict[str | None, int]:
    """Count *record_ids* by the run that made them (None: imported), oldest run first; where several have one, the oldest counts."""
    return dict(
        store.rows(
            "SELECT run_id, count(*) FROM records WHERE record_order IN (SELECT min(record_order) FROM records "
            "WHERE id IN (SELECT unnest(?::VARCHAR[])) GROUP BY id) GROUP BY run_id ORDER BY min(record_order)",
            [list(record_ids)],
        )
    )


_JUDGEMENT_COLUMNS = ("kind", "value_id", "span_id", "planned", "score", "verdict", "agrees", "reason", "provider", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """The row counts of a run. ``twice`` counts items that are both accepted and rejected; it must be 0."""

    rows_in: int
    accepted: int
    rejected: int
    open: int
    twice: int

    @property
    def balanced(self) -> bool:
        """Whether ``rows_in == accepted + rejected + open``, and no row is both accepted and rejected."""
        return not self.twice and self.rows_in == self.accepted + self.rejected + self.open


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFate:
    """All that the store holds of a plan item, except its calls.

    ``plan`` is JSON text. ``stages`` are (stage, JSON result), ``records`` (id, revision, status), ``rejects`` (row, lifted).
    """

    plan: str | None
    stages: tuple[tuple[str, str], ...]
    records: tuple[tuple[str, int, str], ...]
    rejects: tuple[tuple[RejectRow, bool], ...]
    judgements: tuple[dict[str, Any], ...]

    @property
    def is_known(self) -> bool:
        """Whether the store has anything on the item."""
        return bool(self.plan or self.stages or self.records or self.rejects)


def count_rows(store: Store, run_id: str) -> RowCounts:
    """Count the plan items of a run by state (see the module docstring)."""
    return store.objects(
        RowCounts,
        """
        WITH accepted AS (SELECT DISTINCT plan_index AS item FROM records WHERE run_id = $1 AND plan_index IS NOT NULL),
        rejected AS (SELECT DISTINCT plan_index AS item FROM rejects WHERE run_id = $1 AND plan_index IS NOT NULL AND NOT lifted),
        known AS (SELECT plan_index AS item FROM plan_items WHERE run_id = $1
            UNION SELECT plan_index FROM rejects WHERE run_id = $1 AND plan_index IS NOT NULL
            UNION SELECT try_cast(split_part(item_id, '/', 1) AS BIGINT) FROM call_events WHERE run_id = $1
                AND try_cast(split_part(item_id, '/', 1) AS BIGINT) IS NOT NULL
            UNION FROM accepted)
        SELECT (SELECT count(*) FROM known), (SELECT count(*) FROM accepted), (SELECT count(*) FROM rejected),
            (SELECT count(*) FROM known WHERE item NOT IN (FROM accepted) AND item NOT IN (FROM rejected)),
            (SELECT count(*) FROM accepted WHERE item IN (FROM rejected))""",
        [run_id],
    )[0]


def fate_of(store: Store, run_id: str, index: int) -> ItemFate:
    """Return what the store holds of plan item *index*, except its calls."""
    where, item = "WHERE run_id = ? AND plan_index = ?", [run_id, index]
    judged = store.rows(select(_JUDGEMENT_COLUMNS, f"FROM judgements {where} ORDER BY rowid"), item)
    return ItemFate(
        plan=next(iter(store.column(select(["item"], f"FROM plan_items {where}"), item)), None),
        stages=tuple(store.rows(select(["stage", "payload"], f"FROM stage_results {where} ORDER BY rowid"), item)),
        records=tuple(store.rows(select(["id", "revision", "status"], f"FROM records {where} ORDER BY revision"), item)),
        rejects=_rejects(store, where, item),
        judgements=tuple(dict(zip(_JUDGEMENT_COLUMNS, row, strict=True)) for row in judged),
    )


def rejects_of_key(store: Store, run_id: str, key: str) -> tuple[tuple[RejectRow, bool], ...]:
    """Return the rejects of a pair or topic as (row, lifted), including entries dropped from its list (keys ``<key>#…``)."""
    where = "WHERE run_id = ? AND plan_index IS NULL AND (key = ? OR starts_with(key, ?))"
    return _rejects(store, where, [run_id, key, f"{key}#"])


def _rejects(store: Store, where: str, parameters: Sequence[object]) -> tuple[tuple[RejectRow, bool], ...]:
    rows = store.objects(RejectRow, f"FROM rejects {where} ORDER BY rowid", parameters)
    lifted = store.column(f"SELECT lifted FROM rejects {where} ORDER BY rowid", parameters)  # noqa: S608 - constants of this module
    return tuple((replace(row, detail=row.detail or ""), bool(one)) for row, one in zip(rows, lifted, strict=True))
