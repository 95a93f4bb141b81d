"""What a worker process does with its partition: all item stages except screening, which must see all items of the run.

Each partition has its own store, committer and journal, so that every paid reply is on disk before it is used. Rate limits and
budget come from the desk that all partitions share.
"""

from __future__ import annotations

import asyncio
import platform
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.partitions import Partition
from piiloom.corpus.store.runs import RunRow
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.desk.client import DeskClient
from piiloom.execution.desk.remote_limits import RemoteBudget, RemoteLimiter
from piiloom.execution.desk.words import DeskLink, Tally
from piiloom.execution.ordering import StopSignal
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import PiiloomError, RunError
from piiloom.foundation.noop import noop
from piiloom.foundation.portable_errors import PortableError
from piiloom.generation.running.item_runner import ItemRunner
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.running.session import OpenedRun, Session, open_provider
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import run_digest
from piiloom.generation.stages.pipeline import item_stages

# Shortest time between two progress reports of a partition.
_TALLY_PACE_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A plan item to continue: the last stage it has passed (None: it is only planned), and the item as JSON."""

    index: int
    done: str | None
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """All that a worker process needs for its partition.

    ``draws``: retry counts of items that are tried again. ``heard``: whether to send events to the desk. ``content``: the bytes of the
    partition's store if no folder is shared, else None.
    """

    partition: Partition
    run: RunRow
    config: RunConfig
    starts: Sequence[Start]
    draws: Mapping[str, int] = field(default_factory=dict)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    heard: bool = False
    content: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionReport:
    """The result of a partition: its totals, the error that ended it early (if any), and the bytes of its store if no folder is shared."""

    tally: Tally
    error: PortableError | None = None
    content: bytes | None = None


def run_assignment(assignment: Assignment, link: DeskLink) -> PartitionReport:
    """Work on *assignment* in this process and return its report (the synchronous form of ``work_on``)."""
    return asyncio.run(work_on(assignment, link))


async def work_on(assignment: Assignment, link: DeskLink) -> PartitionReport:
    """Work on *assignment* and return its report. A ``PiiloomError`` is part of the report, so that finished work is kept."""
    if assignment.content is None:
        return await _worked(assignment, assignment.partition.path, link)
    with tempfile.TemporaryDirectory(prefix="piiloom-") as folder:
        path = Path(folder) / assignment.partition.path.name
        path.write_bytes(assignment.content)
        report = await _worked(assignment, path, link)
        return replace(report, content=path.read_bytes())


async def _worked(assignment: Assignment, path: Path, link: DeskLink) -> PartitionReport:
    share = _Share(assignment)
    config, stop = assignment.config, share.stop
    error: PiiloomError | None = None
    try:
        _check_same_piiloom(assignment)
        with Store.open(path, create=False) as store, config.types_in_force():
            opened = OpenedRun(store=store, run=assignment.run, config=config, provider=open_provider(config))
            async with DeskClient(link, assignment.partition.id, concurrency=config.concurrency, on_stop=stop.request) as client:
                policy = CallPolicy(
                    concurrency=config.concurrency,
                    retry=assignment.retry,
                    sink=client.hear if assignment.heard else noop,
                    limiter=RemoteLimiter(client),
                    budget=RemoteBudget(client, config.budget_usd),
                )
                try:
                    async with opened.session(policy) as session:
                        await share.work(session, client)
                finally:
                    client.tell(share.tally())
    except PiiloomError as failure:
        error = failure
    return PartitionReport(tally=share.tally(), error=PortableError.of(error) if error else None)


def _check_same_piiloom(assignment: Assignment) -> None:
    """Raise ``RunError`` if templates, taxonomy, bank or code on this node differ from those of the run."""
    if run_digest(assignment.config) != assignment.run.config_digest:
        raise RunError(
            f"{platform.node()} has another piiloom than the one that started run {assignment.run.id}",
            remedy="Install the same version on every node, with the same --bank and --prompts at the same path",
        )


class _Share:
    """One pass over the items of an assignment, and what it has come to."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self.stop = StopSignal()
        self._progress = RunProgress(run_id=assignment.run.id, wanted=len(assignment.starts))
        self._before = CallTotals()
        self._told = 0.0

    async def work(self, session: Session, client: DeskClient) -> None:
        """Take every item through its remaining stages; raises ``StoppedEarly`` if rejects of one reason reach the limit."""
        ctx, starts = session.ctx, self._assignment.starts
        ctx.draws = self._assignment.draws
        # Calls copied into this store from the run's store are counted there, so subtract them here.
        self._progress.totals, self._before = ctx.calls.totals, replace(ctx.calls.totals)

        def watch(_progress: RunProgress) -> None:
            if time.monotonic() - self._told > _TALLY_PACE_S:
                self._told = time.monotonic()
                client.tell(self.tally())

        runner = ItemRunner(
            session,
            item_stages(ctx.config.recipe, ctx.config.judges),
            {start.index: (start.done, start.payload) for start in starts},
            self._progress,
            stop=self.stop,
            watch=watch,
        )
        session.start_committing()
        await runner.work_on((start.index for start in starts), lambda: len(starts))
        if runner.stopped is not None:
            raise runner.stopped

    def tally(self) -> Tally:
        """Return the items done and rejected so far, and the totals of this partition's own calls."""
        progress = self._progress
        spent = {f.name: getattr(progress.totals, f.name) - getattr(self._before, f.name) for f in fields(CallTotals)}
        return Tally(progress.accepted + progress.rejected, progress.rejected, CallTotals(**spent))
