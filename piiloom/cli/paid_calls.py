"""``piiloom journal`` and ``piiloom batch``: the paid calls of a store and their batches, summed up, exported, purged and cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from piiloom.cli.options import ConfirmedOptions, StoreOptions, run_filter_setting, run_setting, store_for_reading
from piiloom.cli.run_summary import in_stage_order
from piiloom.cli.terminal import command_group, confirm, dollars, examples, in_columns, say_aside, say_result, store_option
from piiloom.corpus.store.call_events import OPEN_STATES, BatchRow, OpenBatch, export_journal, load_batches, load_open_batches
from piiloom.corpus.store.costs import MEMORY_FOR_SUMS, JournalLine, journal_lines
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import Purged, compact, last_heard, purge_texts
from piiloom.corpus.store.runs import RunRow, get_run
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import AnyPath, setting
from piiloom.foundation.words import counted

if TYPE_CHECKING:
    from piiloom.execution.batches.jobs import Settled
    from piiloom.execution.committing import GroupCommitter

_SHOW = ("piiloom journal show", "piiloom journal show --run last --json")
_EXPORT = ("piiloom journal export --out calls.jsonl", "piiloom journal export --run last --out outputs/last.jsonl")
_PURGE = ("piiloom journal purge --run r0001-1a2b3c4d", "piiloom journal purge --older-than 90 --yes")
_VACUUM = ("piiloom journal vacuum", "piiloom journal vacuum --store other.duckdb --json")
# Titles of columns that are left out if they have only zeros.
_SPARED = ("unusable", "refused", "retried", "reused", "purged", "cached")
_JOURNAL_TITLES = (
    "run",
    "stage",
    "calls",
    "sent",
    "replies",
    "unusable",
    "refused",
    "failed",
    "retried",
    "reused",
    "purged",
    "tokens in",
    "cached",
    "out",
    "cost",
    "maybe paid",
)

journal_app = command_group("Sum up the calls of runs; export, purge or compact their journal.", *_SHOW, *_EXPORT, *_PURGE, *_VACUUM)


class OneRunOptions(StoreOptions):
    """The store, and one of its runs."""

    run: str | None = run_filter_setting()


class ShowJournal(OneRunOptions):
    """The options of ``journal show``."""

    stage: str | None = setting(None, "Only the calls of this stage.", metavar="STAGE")


class ExportJournal(OneRunOptions):
    """The options of ``journal export``."""

    out: AnyPath = setting(..., "The JSONL file to write; an existing one is replaced at the end.", flags="--out -o", metavar="FILE")


class PurgeOptions(ConfirmedOptions):
    """The options of ``journal purge``."""

    run: list[str] = setting([], 'A run to purge, by its id or "last"; repeatable.', metavar="RUN")
    older_than: float | None = setting(None, "Purge runs whose last call is at least this many days old.", metavar="DAYS", ge=0)


@journal_app.command("show", epilog=examples(*_SHOW))
@takes(ShowJournal)
def show(asked: ShowJournal) -> None:
    """Sum up the calls by run and stage: replies, failures, retries, tokens, cost.

    The column "maybe paid" counts requests without an answer that may have been billed: lost on the way, or under way when
    their process ended.
    """
    with store_for_reading(asked.store, memory_limit=MEMORY_FOR_SUMS) as store:
        chosen = get_run(store, asked.run).id if asked.run else None
        found = journal_lines(store, chosen, asked.stage)
    of_runs = groupby(found, key=lambda line: line.run_id)  # runs come one after the other
    lines = [line for _, own in of_runs for line in in_stage_order(own, lambda line: line.stage)]
    total = _total(lines)
    sums = {name: value for name, value in asdict(total).items() if name not in {"run_id", "stage"}}
    if lines:
        cells = [_journal_cells(line, line.run_id) for line in lines] + [_journal_cells(total, "all")] * (len(lines) > 1)
        shown = [at for at, title in enumerate(_JOURNAL_TITLES) if title not in _SPARED or any(row[at] != "0" for row in cells)]
        table = in_columns([[row[at] for at in shown] for row in (_JOURNAL_TITLES, *cells)], left=(0, 1))
    else:
        chose = " that match" if chosen or asked.stage else ""
        table = [f"no calls in the journal of {asked.store}{chose} (of the composer's replies only refused ones are kept)"]
    data = {"store": str(asked.store), "lines": [asdict(line) for line in lines], "total": sums}
    say_result(data, *table, *_more(total), as_json=asked.as_json)


@journal_app.command("export", epilog=examples(*_EXPORT))
@takes(ExportJournal)
def export(asked: ExportJournal) -> None:
    """Write every prompt, reply, failure and verdict to a JSON Lines file, and check it against the store.

    The file has prompts and replies in full. It appears under its name only when it is complete and was read back.
    """
    out = asked.out
    if out.resolve() == asked.store.resolve():
        raise UsageError("that is the store itself", where="--out", remedy="Name another file")
    with store_for_reading(asked.store) as store:
        chosen = get_run(store, asked.run).id if asked.run else None
        found = export_journal(store, out, chosen)
    size = out.stat().st_size
    rows = ", ".join(f"{name} {number:,}" for name, number in sorted(found.items())) or "the journal is empty"
    told = f"{out}: {counted(sum(found.values()), 'row')} ({rows}), {counted(size, 'byte')}; read back and equal to the store"
    data = {"store": str(asked.store), "run": chosen, "file": str(out), "bytes": size, "rows": dict(found)}
    say_result(data, told, as_json=asked.as_json)


@journal_app.command("purge", epilog=examples(*_PURGE))
@takes(PurgeOptions)
def purge(asked: PurgeOptions) -> None:
    """Delete the texts of prompts and replies of chosen runs; records, codes, tokens and costs stay.

    A purged reply cannot be used again: a run that asks the same pays for it anew.
    """
    if not asked.run and asked.older_than is None:
        raise UsageError("no run is chosen", remedy="Name runs with --run, or give --older-than DAYS")
    with Store.open(asked.store, create=False) as store:
        chosen = _chosen(store, asked.run, asked.older_than)
        about = [_texts_of(get_run(store, run)) for run in chosen]
        if chosen:
            confirm("purge, purged", "Delete them?", where=", ".join(chosen), yes=asked.yes, about=about)
        purged = purge_texts(store, chosen) if chosen else Purged()
    counts = {"prompts": purged.prompts, "replies": purged.replies, "reject_replies": purged.rejects}
    lines = ["no run is that old; nothing was purged"]
    if chosen:
        texts = [counted(number, noun) for number, noun in zip(counts.values(), ("prompt", "reply", "last reply"), strict=True)]
        vacuum = f"piiloom journal vacuum{store_option(asked.store)}   (until then the file's free space still holds the texts)"
        lines = [f"purged {', '.join(chosen)}: {', '.join(texts)} of rejects; costs are kept", f"  next      {vacuum}"]
    say_result({"store": str(asked.store), "runs": chosen, **counts}, *lines, as_json=asked.as_json)


@journal_app.command("vacuum", epilog=examples(*_VACUUM))
@takes(StoreOptions)
def vacuum(asked: StoreOptions) -> None:
    """Rewrite the store's file without the space of deleted rows; prints its size before and after.

    The copy is compared with the store before it takes its place; until then nothing is changed.
    """
    done = compact(asked.store)
    saved = f"{1 - done.after / done.before:.0%} smaller" if done.after < done.before else "no space to reclaim"
    sizes = f"{counted(done.before, 'byte')} before, {done.after:,} after ({saved})"
    data = {"store": str(asked.store), "before_bytes": done.before, "after_bytes": done.after, "rows": done.rows}
    say_result(data, f"{asked.store}: {sizes}; {counted(done.rows, 'row')} copied and compared", as_json=asked.as_json)


def _chosen(store: Store, runs: Sequence[str], older_than: float | None) -> list[str]:
    """Return the ids of the runs to purge. Runs whose last call has no date must be named."""
    ids = [get_run(store, run).id for run in runs]
    if older_than is not None:
        limit = datetime.now(UTC) - timedelta(days=older_than)
        heard = last_heard(store)
        ids += [run for run, at in heard.items() if at is not None and at <= limit]
        undated = sorted(run for run, at in heard.items() if at is None and run not in ids)
        if undated:
            say_aside(f"the calls of {', '.join(undated)} have no date; name such runs with --run")
    return list(dict.fromkeys(ids))


def _texts_of(run: RunRow) -> str:
    more = "" if run.status == "finished" else "; going on with it would pay again for what it has not finished"
    return f"run {run.id} ({run.status}): the texts of its prompts and replies will be deleted{more}"


def _total(lines: Sequence[JournalLine]) -> JournalLine:
    summed = {field.name: sum(getattr(line, field.name) for line in lines) for field in fields(JournalLine)[2:]}
    return JournalLine(run_id="", stage="", **summed)


def _journal_cells(line: JournalLine, run_id: str) -> tuple[str, ...]:
    counts = (line.calls, line.tries, line.replies, line.unusable, line.refused, line.failed, line.retried, line.reused, line.purged)
    tokens = (line.input_tokens, line.cached_tokens, line.output_tokens)
    cost = dollars(line.cost_usd) + (" + ?" if line.unpriced else "")
    return (run_id, line.stage, *(f"{number:,}" for number in (*counts, *tokens)), cost, f"{line.maybe_paid + line.open:,}")


def _more(total: JournalLine) -> list[str]:
    """Return lines on unknown prices, amounts set aside, open batches and open requests."""
    unanswered = counted(total.maybe_paid, "call")
    most = f", {dollars(total.open_worst_usd)} at most" if total.open_worst_usd else ""
    lines = (
        (total.unpriced, f"+ ?       {counted(total.unpriced, 'reply')} of unknown price"),
        (
            total.charged_usd,
            f"set aside {dollars(total.charged_usd)} for {unanswered} that ended without an answer and may have been billed",
        ),
        (total.in_batches, f"batches   {counted(total.in_batches, 'request')} in batches that are not answered yet"),
        (total.open, f"open      {counted(total.open, 'request')} without an outcome on record, which may have been paid for{most}"),
    )
    return [f"  {line}" for amount, line in lines if amount]


_BATCHES = ("piiloom batch list", "piiloom batch list --run last --json")
_CANCEL = ("piiloom batch cancel", "piiloom batch cancel --run r0001-1a2b3c4d", "piiloom batch cancel --run last --forget")
_BATCH_TITLES = ("batch", "run", "provider", "model", "state", "requests", "made", "provider's id", "detail")

batch_app = command_group("List the batches of runs made with --batch, and cancel the open ones.", *_BATCHES, *_CANCEL)


class ListBatches(StoreOptions):
    """The options of ``batch list``."""

    run: str | None = run_filter_setting()


class CancelOptions(StoreOptions):
    """The options of ``batch cancel``."""

    run: str = run_setting()
    forget: bool = setting(False, "Give the batches up without asking the provider, and count their possible cost as spent.")


@batch_app.command("list", epilog=examples(*_BATCHES))
@takes(ListBatches)
def list_batches(asked: ListBatches) -> None:
    """List batches with their state in this store, oldest first; the provider is not asked.

    States: preparing (being made, or made without a confirmation), submitted, ended (results are being kept), collected,
    cancelled, failed. The first three are open: `piiloom generate --resume` continues them.
    """
    with store_for_reading(asked.store) as store:
        rows = load_batches(store, get_run(store, asked.run).id if asked.run else None)
    lines = [f"no batches in {asked.store}{f' of run {asked.run}' if asked.run else ''}"]
    if rows:
        lines = in_columns([_BATCH_TITLES, *map(_batch_cells, rows)], left=(0, 1, 2, 3, 4, 6, 7, 8))
    data = {"store": str(asked.store), "batches": [asdict(row) | {"open": row.state in OPEN_STATES} for row in rows]}
    say_result(data, *lines, as_json=asked.as_json)


@batch_app.command("cancel", epilog=examples(*_CANCEL))
@takes(CancelOptions)
def cancel(asked: CancelOptions) -> None:
    """Cancel the open batches of a run at the provider, and keep the replies that are ready by then, which are paid for.

    It can take the provider ten minutes. After Ctrl-C the same command goes on. The run can be resumed afterwards: answered requests
    are not sent again.
    """
    from piiloom.execution.batches.jobs import forget_batches
    from piiloom.execution.committing import GroupCommitter

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
    lines = map(_settled_line, settled) if batches else [f"run {run.id} has no open batch"]
    data = {"store": str(asked.store), "run": run.id, "batches": [one.to_json() for one in settled]}
    say_result(data, *lines, as_json=asked.as_json)


async def _cancelled(run: RunRow, committer: GroupCommitter, batches: Sequence[OpenBatch], as_json: bool) -> list[Settled]:
    from piiloom.execution.batches.jobs import cancel_batches
    from piiloom.generation.running.session import open_provider
    from piiloom.generation.settings.setting_checks import make_config
    from piiloom.providers.factory import make_batch_api

    provider = open_provider(make_config(run.config))
    try:
        if not as_json:
            say_aside(f"asking {provider.name} to cancel {counted(len(batches), 'batch')} (this may take ten minutes)")
        return await cancel_batches(provider, make_batch_api(provider), committer, batches)
    finally:
        await provider.aclose()


def _batch_cells(row: BatchRow) -> tuple[str, ...]:
    made = row.created_at.replace("T", " ")[:16]
    return (row.id, row.run_id, row.provider, row.model, row.state, f"{row.requests:,}", made, row.remote_id or "-", row.detail or "-")


def _settled_line(settled: Settled) -> str:
    cost = "price unknown" if settled.cost_usd is None else dollars(settled.cost_usd)
    kept = f"{settled.answered:,} of {counted(settled.owed, 'request')} answered and kept ({cost})"
    aside = f", {dollars(settled.charged_usd)} set aside for what may have been billed" if settled.charged_usd else ""
    return f"{settled.row.id}: {settled.row.state}, {kept}{aside}"
