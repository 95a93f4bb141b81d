"""Runs: one row for each generation run, in the order they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, cast

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import select
from piiloom.foundation.errors import RunError

RunStatus = Literal["running", "interrupted", "finished", "failed"]
# Threads that add runs together would number them alike.
_ONE_NEW_RUN = Lock()
_COLUMNS = ("id", "created_order", "provider", "model", "seed", "samples", "config", "config_digest", "status")
_SELECT = select(_COLUMNS, "runs")
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
        order = store.rows(_NEXT_ORDER)[0][0]
        name = run_id or f"r{order:04d}-{config_digest[:8]}"
        if store.rows("SELECT 1 FROM runs WHERE id = ?", [name]):
            raise RunError(f"there is a run {name!r} already", where=str(store.path), remedy="Resume it or choose another name")
        text = json.dumps(dict(config), ensure_ascii=False)
        store.append("runs", _COLUMNS, [(name, order, provider, model, seed, samples, text, config_digest, status)])
    return get_run(store, name)


def get_run(store: Store, run_id: str) -> RunRow:
    """Return the run *run_id*, or the newest run for ``"last"``. Raises ``RunError`` if there is none; its remedy lists known runs."""
    if run_id == "last":
        found = store.rows(f"{_SELECT}ORDER BY created_order DESC LIMIT 1")
    else:
        found = store.rows(f"{_SELECT}WHERE id = ?", [run_id])
    if found:
        return _run(found[0])
    newest = [name for (name,) in store.rows("SELECT id FROM runs ORDER BY created_order DESC LIMIT 10")]
    known = f"Known runs, newest first: {', '.join(newest)}" if newest else "The store has no runs yet"
    raise RunError(f"there is no run {run_id!r}", where=str(store.path), remedy=known)


def find_run(store: Store, config_digest: str, seed: int) -> RunRow | None:
    """The newest run of this configuration and seed, if any."""
    sql = f"{_SELECT}WHERE config_digest = ? AND seed = ? ORDER BY created_order DESC LIMIT 1"
    found = store.rows(sql, [config_digest, seed])
    return _run(found[0]) if found else None


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
    return [_run(row) for row in store.rows(f"{_SELECT}ORDER BY created_order")]


def set_run_status(store: Store, run_id: str, status: RunStatus) -> None:
    """Change the status of *run_id*. Raises ``RunError`` when there is no such run."""
    run = get_run(store, run_id)
    store.change("UPDATE runs SET status = ? WHERE id = ?", [status, run.id])


def set_run_samples(store: Store, run_id: str, samples: int) -> None:
    """Change how many records *run_id* is to have. Raises ``RunError`` when there is no such run."""
    run = get_run(store, run_id)
    store.change("UPDATE runs SET samples = ? WHERE id = ?", [samples, run.id])


def set_run_config(store: Store, run_id: str, config: Mapping[str, Any]) -> None:
    """Replace the configuration of *run_id*; ``config_digest`` stays. Raises ``RunError`` when there is no such run."""
    run = get_run(store, run_id)
    store.change("UPDATE runs SET config = ? WHERE id = ?", [json.dumps(dict(config), ensure_ascii=False), run.id])


def forget_untouched_run(store: Store, run_id: str) -> bool:
    """Delete *run_id* if the store has no calls, results, plan items, rejects or records of it. Return whether it was deleted."""
    kept = ("call_events", "shared_results", "plan_items", "stage_results", "rejects", "records")
    if any(store.rows(select(("1",), table, "WHERE run_id = ? LIMIT 1"), [run_id]) for table in kept):
        return False
    store.change("DELETE FROM runs WHERE id = ?", [run_id])
    return True


def _run(row: tuple[Any, ...]) -> RunRow:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["config"] = json.loads(values["config"])
    values["status"] = cast("RunStatus", values["status"])
    return RunRow(**values)
