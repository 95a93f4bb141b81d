"""``piiloom batch``: the batches of runs at the batch API of a provider, listed and cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict

from piiloom.cli.options import StoreOptions, run_filter_setting, run_setting, store_for_reading
from piiloom.cli.run_summary import dollars
from piiloom.cli.terminal import command_group, examples, in_columns, say, say_aside, say_json
from piiloom.corpus.store.batches import OPEN_STATES, BatchRow, OpenBatch, load_batches, load_open_batches
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, get_run
from piiloom.execution.batches.settling import Settled, cancel_batches, forget_batches
from piiloom.execution.committing import GroupCommitter
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted
from piiloom.generation.running.session import open_provider
from piiloom.generation.settings.setting_checks import make_config
from piiloom.providers.factory import make_batch_api

_LIST = ("piiloom batch list", "piiloom batch list --run last --json")
_CANCEL = ("piiloom batch cancel", "piiloom batch cancel --run r0001-1a2b3c4d", "piiloom batch cancel --run last --forget")
_TITLES = ("batch", "run", "provider", "model", "state", "requests", "made", "provider's id", "detail")

batch_app = command_group("List the batches of runs made with --batch, and cancel the open ones.", *_LIST, *_CANCEL)


class ListBatches(StoreOptions):
    """The options of ``batch list``."""

    run: str | None = run_filter_setting()


class CancelOptions(StoreOptions):
    """The options of ``batch cancel``."""

    run: str = run_setting()
    forget: bool = setting(False, "Give the batches up without asking the provider, and count their possible cost as spent.")


@batch_app.command("list", epilog=examples(*_LIST))
@takes(ListBatches)
def list_batches(asked: ListBatches) -> None:
    """List batches with their state in this store, oldest first; the provider is not asked.

    States: preparing (being made, or made without a confirmation), submitted, ended (results are being kept), collected,
    cancelled, failed. The first three are open: `piiloom generate --resume` continues them.
    """
    with store_for_reading(asked.store) as store:
        rows = load_batches(store, get_run(store, asked.run).id if asked.run else None)
    if asked.as_json:
        say_json({"store": str(asked.store), "batches": [asdict(row) | {"open": row.state in OPEN_STATES} for row in rows]})
    elif not rows:
        say(f"no batches in {asked.store}{f' of run {asked.run}' if asked.run else ''}")
    else:
        say("\n".join(in_columns([_TITLES, *map(_cells, rows)], left=(0, 1, 2, 3, 4, 6, 7, 8))))


@batch_app.command("cancel", epilog=examples(*_CANCEL))
@takes(CancelOptions)
def cancel(asked: CancelOptions) -> None:
    """Cancel the open batches of a run at the provider, and keep the replies that are ready by then, which are paid for.

    It can take the provider ten minutes. After Ctrl-C the same command goes on. The run can be resumed afterwards: answered requests
    are not sent again.
    """
    with Store.open(asked.store, create=False) as store:
        run = get_run(store, asked.run)
        batches = load_open_batches(store, run.id)
        settled: list[Settled] = []
        if batches:
            committer = GroupCommitter(store, run.id)
            committer.start()
            with closing(committer):
                forget = asked.forget
                settled = forget_batches(committer, batches) if forget else asyncio.run(_cancelled(run, committer, batches, asked.as_json))
    if asked.as_json:
        say_json({"store": str(asked.store), "run": run.id, "batches": [one.to_json() for one in settled]})
        return
    if not batches:
        say(f"run {run.id} has no open batch")
    for one in settled:
        say(_line(one))


async def _cancelled(run: RunRow, committer: GroupCommitter, batches: Sequence[OpenBatch], as_json: bool) -> list[Settled]:
    provider = open_provider(make_config(run.config))
    try:
        if not as_json:
            say_aside(f"asking {provider.name} to cancel {counted(len(batches), 'batch')} (this may take ten minutes)")
        return await cancel_batches(provider, make_batch_api(provider), committer, batches)
    finally:
        await provider.aclose()


def _cells(row: BatchRow) -> tuple[str, ...]:
    made = row.created_at.replace("T", " ")[:16]
    return (row.id, row.run_id, row.provider, row.model, row.state, f"{row.requests:,}", made, row.remote_id or "-", row.detail or "-")


def _line(settled: Settled) -> str:
    cost = "price unknown" if settled.cost_usd is None else dollars(settled.cost_usd)
    kept = f"{settled.answered:,} of {counted(settled.owed, 'request')} answered and kept ({cost})"
    aside = f", {dollars(settled.charged_usd)} set aside for what may have been billed" if settled.charged_usd else ""
    return f"{settled.row.id}: {settled.row.state}, {kept}{aside}"
