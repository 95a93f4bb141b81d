"""The work behind ``piiloom runs list``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from piiloom.cli.columns import in_columns
from piiloom.cli.costing import COMPOSER, CostReport, costs_of
from piiloom.cli.paging import rest_of_list, say_json_list
from piiloom.cli.reading import seen_store, sight_to_json
from piiloom.cli.run_summary import dollars
from piiloom.cli.terminal import console, say, say_aside
from piiloom.corpus.store.outcomes import rejects_by_run
from piiloom.corpus.store.runs import RunRow, list_runs

_TITLES = ("run", "status", "provider", "model", "pairs", "locale", "seed", "wanted", "accepted", "rejected", "cost")
# Left out, in this order, where the terminal is narrow.
_SPARED = ("locale", "seed", "pairs", "rejected")


def print_runs(path: Path, *, limit: int, offset: int, as_json: bool) -> None:
    """Print the runs of the store, newest first."""
    with seen_store(path) as (store, sight):
        runs = list_runs(store)
        costs = costs_of(store, runs, one=None)
        rejected = rejects_by_run(store)
    runs.reverse()
    shown = runs[offset : offset + limit] if limit else runs[offset:]
    if as_json:
        head = {"store": str(path), "read": sight_to_json(sight), "total": len(runs), "offset": offset, "limit": limit}
        say_json_list(head, "runs", (run_to_json(run, costs, rejected) for run in shown))
        return
    if not runs:
        say(f"no runs in {path}")
        return
    width = console().width if sys.stdout.isatty() else None
    if shown:
        say("\n".join(in_columns([_TITLES, *(_cells(run, costs, rejected) for run in shown)], width=width, spared=_SPARED, left=range(6))))
    if more := rest_of_list(len(runs), len(shown), offset=offset):
        say_aside(more)


def run_to_json(run: RunRow, costs: CostReport, rejected: dict[str, int]) -> dict[str, Any]:
    """Give one line of the list as JSON values; ``unpriced`` replies are not in the cost."""
    own = next((one for one in costs.by_run if one.name == run.id), None)
    return {
        "run": run.id,
        "status": run.status,
        "provider": run.provider,
        "model": run.model,
        "pairs": run.config.get("pairs"),
        "locale": run.config.get("locale"),
        "seed": run.seed,
        "samples": run.samples,
        "accepted": costs.accepted.get(run.id, 0),
        "rejected": rejected.get(run.id, 0),
        "cost_usd": own.cost_usd if own else 0.0,
        "charged_usd": own.charged_usd if own else 0.0,
        "unpriced": own.unpriced if own else 0,
    }


def cost_text(run: RunRow, line: dict[str, Any]) -> str:
    """Write what a run has cost, with what is set aside; replies of unknown price are never told as free."""
    if run.provider == COMPOSER:
        return "-"
    return dollars(line["cost_usd"] + line["charged_usd"]) + (" + ?" if line["unpriced"] else "")


def _cells(run: RunRow, costs: CostReport, rejected: dict[str, int]) -> tuple[str, ...]:
    line = run_to_json(run, costs, rejected)
    names = (run.id, run.status, run.provider, run.model or "-", str(line["pairs"] or "-"), line["locale"] or "-")
    counts = (run.samples, line["accepted"], line["rejected"])
    return (*names, str(run.seed), *(f"{count:,}" for count in counts), cost_text(run, line))
