"""``piiloom batch``: what of a run is out at its provider's batch API, and ending it there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, RunOption, StoreOption
from piiloom.cli.pace import dollars
from piiloom.cli.paging import in_columns
from piiloom.cli.reading import store_for_reading
from piiloom.cli.terminal import examples, say, say_aside, say_json
from piiloom.corpus.store.batches import OPEN_STATES, BatchRow, OpenBatch, load_batches, load_open_batches
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, get_run
from piiloom.execution.batches.settling import Settled, cancel_batches, forget_batches
from piiloom.execution.committing import GroupCommitter
from piiloom.foundation.counting import counted
from piiloom.generation.running.session import open_provider
from piiloom.generation.settings.setting_checks import make_config
from piiloom.providers.factory import make_batch_api

_LIST = ("piiloom batch list", "piiloom batch list --run last --json")
_CANCEL = ("piiloom batch cancel", "piiloom batch cancel --run r0001-1a2b3c4d", "piiloom batch cancel --run last --forget")

batch_app = typer.Typer(
    help="List the batches of runs made with --batch, and cancel the open ones.",
    epilog=examples(*_LIST, *_CANCEL),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@batch_app.command("list", epilog=examples(*_LIST))
def list_batches(
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help='Only this run, by its id or "last"; all runs when not given.')
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List batches with their state as this store knows it, oldest first; the provider is not asked.

    States: preparing (being made, or made without a confirmation), submitted, ended (results are being kept), collected,
    cancelled, failed. The first three are open: `piiloom generate --resume` continues them.
    """
    print_batches(store, run_id=run, as_json=as_json)


@batch_app.command("cancel", epilog=examples(*_CANCEL))
def cancel(
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    forget: Annotated[
        bool,
        typer.Option("--forget", help="Do not ask the provider: give the batches up, and count what they may have cost as spent."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Cancel the open batches of a run at the provider, and keep the replies that are ready by then, which are paid for.

    It can take the provider ten minutes. After Ctrl-C the same command goes on. The run can be resumed afterwards: what
    was answered is not sent again.
    """
    end_batches(store, run_id=run or "last", forget=forget, as_json=as_json)


_TITLES = ("batch", "run", "provider", "model", "state", "requests", "made", "provider's id", "detail")


def print_batches(path: Path, *, run_id: str | None, as_json: bool) -> None:
    """Print the batches of a run, or of all runs."""
    with store_for_reading(path) as store:
        rows = load_batches(store, get_run(store, run_id).id if run_id else None)
    if as_json:
        batches = [asdict(row) | {"open": row.state in OPEN_STATES} for row in rows]
        say_json({"store": str(path), "batches": batches})
        return
    if not rows:
        say(f"no batches in {path}{f' of run {run_id}' if run_id else ''}")
        return
    for line in in_columns([_TITLES, *(_cells(row) for row in rows)], left=(0, 1, 2, 3, 4, 6, 7, 8)):
        say(line)


def end_batches(path: Path, *, run_id: str, forget: bool, as_json: bool) -> None:
    """End the open batches of a run, or give them up, and print what came of each."""
    with Store.open(path, create=False) as store:
        run = get_run(store, run_id)
        batches = load_open_batches(store, run.id)
        settled: list[Settled] = []
        if batches:
            committer = GroupCommitter(store, run.id)
            committer.start()
            with closing(committer):
                settled = forget_batches(committer, batches) if forget else asyncio.run(_cancelled(run, committer, batches, quiet=as_json))
    if as_json:
        say_json({"store": str(path), "run": run.id, "batches": [_result(one) for one in settled]})
        return
    if not batches:
        say(f"run {run.id} has no open batch")
    for one in settled:
        say(_line(one))


async def _cancelled(run: RunRow, committer: GroupCommitter, batches: Sequence[OpenBatch], *, quiet: bool) -> list[Settled]:
    provider = open_provider(make_config(run.config))
    try:
        if not quiet:
            say_aside(f"asking {provider.name} to cancel {counted(len(batches), 'batch')} (this may take ten minutes)")
        return await cancel_batches(provider, make_batch_api(provider), committer, batches)
    finally:
        await provider.aclose()


def _cells(row: BatchRow) -> tuple[str, ...]:
    made = row.created_at.replace("T", " ")[:16]
    return (row.id, row.run_id, row.provider, row.model, row.state, f"{row.requests:,}", made, row.remote_id or "-", row.detail or "-")


def _result(settled: Settled) -> dict[str, Any]:
    counts = {"owed": settled.owed, "answered": settled.answered}
    return asdict(settled.row) | counts | {"cost_usd": settled.cost_usd, "charged_usd": settled.charged_usd}


def _line(settled: Settled) -> str:
    cost = "price unknown" if settled.cost_usd is None else dollars(settled.cost_usd)
    kept = f"{settled.answered:,} of {counted(settled.owed, 'request')} answered and kept ({cost})"
    aside = f", {dollars(settled.charged_usd)} set aside for what may have been billed" if settled.charged_usd else ""
    return f"{settled.row.id}: {settled.row.state}, {kept}{aside}"
