"""``piiloom runs``: the runs of a store: listed, shown, deleted."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.cost import COMPOSER, CostReport, costs_of
from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.pace import dollars
from piiloom.cli.paging import LimitOption, OffsetOption, confirmed_deletion, in_columns, rest_of_list, say_json_list
from piiloom.cli.reading import seen_store, sight_to_json
from piiloom.cli.run_summary import store_option
from piiloom.cli.staging import stage_to_json, stages_table
from piiloom.cli.terminal import console, examples, say, say_aside, say_json, say_table
from piiloom.corpus.store.call_history import MEMORY_FOR_SUMS
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import RunContents, contents_of_run, delete_run, refuse_tied, ties_of_run
from piiloom.corpus.store.outcomes import rejects_by_run
from piiloom.corpus.store.row_ledger import count_rows
from piiloom.corpus.store.runs import RunRow, get_run, list_runs
from piiloom.foundation.counting import counted
from piiloom.generation.running.stage_report import report_stages
from piiloom.generation.settings.configuration import RunConfig

_LIST = ("piiloom runs list", "piiloom runs list --limit 0 --json")
_SHOW = ("piiloom runs show", "piiloom runs show r0001-1a2b3c4d --json")
_DELETE = ("piiloom runs delete r0001-1a2b3c4d", "piiloom runs delete r0001-1a2b3c4d --with-journal --yes")

runs_app = typer.Typer(
    help="List, show and delete the runs of a store.",
    epilog=examples(*_LIST, *_SHOW, *_DELETE),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@runs_app.command("list", epilog=examples(*_LIST))
def list_all(store: StoreOption = DEFAULT_STORE, limit: LimitOption = 20, offset: OffsetOption = 0, as_json: JsonOption = False) -> None:
    """List runs, newest first: the status, provider, number of records and cost of each."""
    print_runs(store, limit=limit, offset=offset, as_json=as_json)


@runs_app.command("show", epilog=examples(*_SHOW))
def show(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help='The run, by its id or "last".')] = "last",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show one run: its settings, its stages with rejects by reason, its balance and cost, and the releases that hold its records.

    piiloom rejects lists each reject, piiloom cost the costs by stage and model, piiloom records list the records.
    """
    print_run(store, run, as_json=as_json)


@runs_app.command("delete", epilog=examples(*_DELETE))
def delete(
    run: Annotated[str, typer.Argument(metavar="RUN", help='The run, by its id or "last".')],
    with_journal: Annotated[
        bool, typer.Option("--with-journal", help="Also delete what was asked and answered; later runs would pay for it again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Delete a run with its records, its plan and its rejects; first shows what would be deleted.

    Paid replies stay in the journal, for later runs and for the sums, unless --with-journal is given. A run is not deleted while
    it has open batches or partitions, while a release holds its records, or when people annotate them.
    """
    if not delete_run_and_report(store, run, with_journal=with_journal, confirmed=yes, as_json=as_json):
        raise typer.Exit(1)


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


def print_run(path: Path, run_id: str, *, as_json: bool) -> None:
    """Print the run *run_id* ("last" works)."""
    with seen_store(path, memory_limit=MEMORY_FOR_SUMS) as (store, sight):
        run = get_run(store, run_id)
        line = run_to_json(run, costs_of(store, [run], one=run.id), rejects_by_run(store))
        rows, stages, ties = count_rows(store, run.id), report_stages(store, run) if run.makes_records else [], ties_of_run(store, run.id)
    if as_json:
        more: dict[str, Any] = {"config": run.config, "rows": asdict(rows) | {"balanced": rows.balanced}}
        more |= {"stages": [stage_to_json(stage) for stage in stages], "releases": list(ties.releases)}
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


def delete_run_and_report(path: Path, run_id: str, *, with_journal: bool, confirmed: bool, as_json: bool) -> bool:
    """Delete run *run_id*; False when that was not confirmed."""
    with Store.open(path, create=False) as store:
        run = get_run(store, run_id)
        refuse_tied(store, run.id)
        contents = contents_of_run(store, run.id)
        # The composer's replies are not kept, but for the refused ones: nothing of worth to a later run.
        with_calls = with_journal or run.provider == COMPOSER
        say_aside(_going(run, contents, with_calls=with_calls))
        if not confirmed_deletion(f"run {run.id}", confirmed=confirmed):
            return False
        delete_run(store, run.id, with_journal=with_calls)
    if as_json:
        say_json({"store": str(path), "run": run.id, "with_journal": with_calls, "deleted": asdict(contents)})
    else:
        say(f"deleted run {run.id}: {counted(contents.records, 'record')} with its plan, results and rejects")
        say(f"  next      piiloom journal vacuum{store_option(path)}   (until then the file holds the texts in its free space)")
    return True


def _going(run: RunRow, contents: RunContents, *, with_calls: bool) -> str:
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
