"""The work behind ``piiloom runs show``: one run in full."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from piiloom.cli.costing import costs_of
from piiloom.cli.reading import seen_store, sight_to_json
from piiloom.cli.runs_view import cost_text, run_to_json
from piiloom.cli.stages import stages_table
from piiloom.cli.terminal import say, say_json, say_table
from piiloom.corpus.store.call_history import MEMORY_FOR_SUMS
from piiloom.corpus.store.deleting import ties_of_run
from piiloom.corpus.store.progress import rejects_by_run
from piiloom.corpus.store.row_ledger import count_rows
from piiloom.corpus.store.runs import RunRow, get_run
from piiloom.generation.running.stage_report import report_stages
from piiloom.generation.settings.configuration import RunConfig


def print_run(path: Path, run_id: str, *, as_json: bool) -> None:
    """Print the run *run_id* ("last" works)."""
    with seen_store(path, memory_limit=MEMORY_FOR_SUMS) as (store, sight):
        run = get_run(store, run_id)
        line = run_to_json(run, costs_of(store, [run], one=run.id), rejects_by_run(store))
        rows, stages, ties = count_rows(store, run.id), report_stages(store, run) if run.makes_records else [], ties_of_run(store, run.id)
    if as_json:
        more: dict[str, Any] = {"config": run.config, "rows": asdict(rows) | {"balanced": rows.balanced}}
        more |= {"stages": [asdict(stage) for stage in stages], "releases": list(ties.releases)}
        more |= {"annotated_records": ties.annotated, "open_batches": ties.batches, "partitions": ties.partitions}
        say_json({"store": str(path), "read": sight_to_json(sight), **line, **more})
        return
    if run.makes_records:
        say_table(stages_table(run, stages))
    parts = f"{rows.accepted:,} accepted + {rows.rejected:,} rejected + {rows.open:,} open"
    if run.makes_records:
        say(f"  rows      {rows.rows_in:,} {'=' if rows.balanced else '≠'} {parts}")
    else:
        say(f"run {run.id}, {run.status}: it asks a model, and makes no records")
    say(f"  cost      {cost_text(run, line)}")
    say(f"  settings  {settings_text(run)}")
    if ties.releases:
        say(f"  releases  {', '.join(ties.releases)}")
    for name, count in (("annotated", ties.annotated), ("batches", ties.batches), ("partitions", ties.partitions)):
        if count:
            say(f"  {name:<9} {count:,}{'' if name == 'annotated' else ' open'}")


def settings_text(run: RunRow) -> str:
    """Write the settings of *run* that are not the defaults, and those that everyone asks for."""
    fields = RunConfig.model_fields
    shown = {"pairs", "locale", "seed", "provider", "model"}
    held = {
        name: value
        for name, value in run.config.items()
        if value is not None and (name in shown or name not in fields or value != _plain_default(name))
    }
    return ", ".join(f"{name} {_plain(value)}" for name, value in held.items())


def _plain_default(name: str) -> Any:
    return RunConfig().model_dump(mode="json").get(name)


def _plain(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
