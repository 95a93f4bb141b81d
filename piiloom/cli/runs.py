"""``piiloom runs``: the runs of a store: listed, shown, deleted."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

from piiloom.cli.options import ConfirmedOptions, ListOptions, StoreOptions, seen_store
from piiloom.cli.terminal import (
    command_group,
    confirm,
    console,
    dollars,
    examples,
    in_columns,
    say,
    say_aside,
    say_json,
    say_result,
    say_table,
    store_option,
)
from piiloom.corpus.store.costs import MEMORY_FOR_SUMS
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import RunContents, contents_of_run, delete_run, refuse_tied, ties_of_run
from piiloom.corpus.store.runs import RunRow, count_rows, get_run, list_runs, rejects_by_run
from piiloom.execution.money.run_costs import COMPOSER, costs_of
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted

_LIST = ("piiloom runs list", "piiloom runs list --limit 0 --json")
_SHOW = ("piiloom runs show", "piiloom runs show r0001-1a2b3c4d --json")
_DELETE = ("piiloom runs delete r0001-1a2b3c4d", "piiloom runs delete r0001-1a2b3c4d --with-journal --yes")
_TITLES = ("run", "status", "provider", "model", "pairs", "locale", "seed", "wanted", "accepted", "rejected", "cost")
# Titles of columns that are left out, in this order, if the terminal is narrow.
_SPARED = ("locale", "seed", "pairs", "rejected")

runs_app = command_group("List, show and delete the runs of a store.", *_LIST, *_SHOW, *_DELETE)


class ShowRun(StoreOptions):
    """The options of ``runs show``."""

    run: str = setting("last", 'The run, by its id or "last".', metavar="RUN", argument=True)


class DeleteRun(ConfirmedOptions):
    """The options of ``runs delete``."""

    run: str = setting(..., 'The run, by its id or "last".', metavar="RUN", argument=True)
    with_journal: bool = setting(False, "Also delete its prompts and replies; later runs would pay for them again.")


@runs_app.command("list", epilog=examples(*_LIST))
@takes(ListOptions)
def list_all(asked: ListOptions) -> None:
    """List runs, newest first: the status, provider, number of records and cost of each."""
    with seen_store(asked.store) as (store, place):
        runs = list_runs(store)
        costs, rejected = costs_of(store, runs, one=None), rejects_by_run(store)
    lines = [costs.run_to_json(run, rejected) for run in asked.part_of(runs[::-1])]

    def table() -> list[str]:
        width = console().width if sys.stdout.isatty() else None
        return in_columns([_TITLES, *map(_cells, lines)], width=width, spared=_SPARED, left=range(6))

    asked.say_list(place, "runs", lines, table, total=len(runs), empty=f"no runs in {asked.store}")


@runs_app.command("show", epilog=examples(*_SHOW))
@takes(ShowRun)
def show(asked: ShowRun) -> None:
    """Show one run: its settings, its stages with rejects by reason, its balance and cost, and the releases with its records.

    piiloom rejects lists each reject, piiloom cost the costs by stage and model, piiloom records list the records.
    """
    from piiloom.cli.stages import stages_table
    from piiloom.generation.running.tracing import report_stages

    with seen_store(asked.store, memory_limit=MEMORY_FOR_SUMS) as (store, place):
        run = get_run(store, asked.run)
        line = costs_of(store, [run], one=run.id).run_to_json(run, rejects_by_run(store))
        rows, stages, ties = count_rows(store, run.id), report_stages(store, run) if run.makes_records else [], ties_of_run(store, run.id)
    if asked.as_json:
        more: dict[str, Any] = {"config": run.config, "rows": asdict(rows) | {"balanced": rows.balanced}}
        more |= {"stages": [asdict(stage) for stage in stages], "releases": list(ties.releases)}
        more |= {"annotated_records": ties.annotated, "open_batches": ties.batches, "partitions": ties.partitions}
        say_json({**place, **line, **more})
        return
    if run.makes_records:
        say_table(stages_table(run, stages))
        parts = f"{rows.accepted:,} accepted + {rows.rejected:,} rejected + {rows.open:,} open"
        say(f"  rows      {rows.rows_in:,} {'=' if rows.balanced else '≠'} {parts}")
    else:
        say(f"run {run.id}, {run.status}: it asks a model, and makes no records")
    say(f"  cost      {_cost(line)}")
    say(f"  settings  {_settings(run)}")
    held = {"releases": ", ".join(ties.releases), "annotated": ties.annotated, "batches": ties.batches, "partitions": ties.partitions}
    for name, told in held.items():
        if told:
            say(f"  {name:<9} {told if isinstance(told, str) else f'{told:,}'}{' open' if name in {'batches', 'partitions'} else ''}")


@runs_app.command("delete", epilog=examples(*_DELETE))
@takes(DeleteRun)
def delete(asked: DeleteRun) -> None:
    """Delete a run with its records, its plan and its rejects; first shows what would be deleted.

    Paid replies stay in the journal, for later runs and for the sums, unless --with-journal is given. A run is not deleted while
    it has open batches or partitions, while a release holds its records, or when people annotate them.
    """
    with Store.open(asked.store, create=False) as store:
        run = get_run(store, asked.run)
        refuse_tied(store, run.id)
        contents = contents_of_run(store, run.id)
        # Of the composer's replies only refused ones are kept: nothing of use to a later run.
        with_calls = asked.with_journal or run.provider == COMPOSER
        say_aside(_to_be_deleted(run, contents, with_calls=with_calls))
        confirm("deletion, deleted", "Delete it?", where=f"run {run.id}", yes=asked.yes)
        delete_run(store, run.id, with_journal=with_calls)
    say_result(
        {"store": str(asked.store), "run": run.id, "with_journal": with_calls, "deleted": asdict(contents)},
        f"deleted run {run.id}: {counted(contents.records, 'record')} with its plan, results and rejects",
        f"  next      piiloom journal vacuum{store_option(asked.store)}   (until then the file holds the texts in its free space)",
        as_json=asked.as_json,
    )


def _cost(line: dict[str, Any]) -> str:
    """Return the cost of a run, with the amount set aside; replies of unknown price are never shown as free."""
    if line["provider"] == COMPOSER:
        return "-"
    return dollars(line["cost_usd"] + line["charged_usd"]) + (" + ?" if line["unpriced"] else "")


def _cells(line: dict[str, Any]) -> tuple[str, ...]:
    names = (line["run"], line["status"], line["provider"], *(str(line[name] or "-") for name in ("model", "pairs", "locale")))
    counts = (f"{line[name]:,}" for name in ("samples", "accepted", "rejected"))
    return (*names, str(line["seed"]), *counts, _cost(line))


def _settings(run: RunRow) -> str:
    """Return the settings of *run* that are not the defaults, and the most important ones."""
    from piiloom.generation.settings.configuration import RunConfig

    shown, defaults = {"pairs", "locale", "seed", "provider", "model"}, RunConfig().model_dump(mode="json")
    kept = {name: value for name, value in run.config.items() if value is not None and (name in shown or value != defaults.get(name))}
    return ", ".join(f"{name} {'+'.join(map(str, value)) if isinstance(value, list) else value}" for name, value in kept.items())


def _to_be_deleted(run: RunRow, contents: RunContents, *, with_calls: bool) -> str:
    results = f"{counted(contents.plan_items, 'plan item')}, {counted(contents.stage_results, 'stage result')}"
    line = f"run {run.id} ({run.status}) will be deleted: {counted(contents.records, 'record')} with {counted(contents.spans, 'span')}, "
    line += f"{results}, {counted(contents.rejects, 'reject')}"
    if run.provider == COMPOSER or not contents.calls:
        return line
    replies = f"{counted(contents.replies, 'reply')} of {counted(contents.calls, 'call')} ({dollars(contents.cost_usd)})"
    if not with_calls:
        return f"{line}; the journal keeps {replies}, for later runs and for the sums (--with-journal deletes them, too)"
    lent = f", but for {counted(contents.lent, 'reply')} that other runs use" if contents.lent else ""
    return f"{line}; and from the journal {replies}{lent}: their cost is then in no sum, and a run that asks the same pays again"
