"""A worker of a run in several processes: takes single items through their stages. All else (plan, screening, records) is the driver's.

A worker has a store, committer and journal of its own, so that every paid reply is on disk before it is used. Rate limits and budget
come from the coordinator that all workers share.
"""

from __future__ import annotations

import asyncio
import platform
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.derived_stores import Partition
from piiloom.corpus.store.runs import RunRow
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.committing import Batch
from piiloom.execution.retrying import RetryPolicy
from piiloom.execution.shared_limits import SharedLimits
from piiloom.execution.watching.events import Event
from piiloom.foundation.errors import PiiloomError, RunError
from piiloom.foundation.noop import noop
from piiloom.foundation.portable_errors import PortableError
from piiloom.generation.item import item_from_json, item_to_json
from piiloom.generation.running.item_runner import Outcome, advance, stages_after
from piiloom.generation.running.session import OpenedRun, Session, open_provider
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import run_digest
from piiloom.generation.stages.pipeline import item_stages


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a worker needs to know. ``heard``: whether to keep events for the driver.

    ``content``: the bytes of the partition's store if no folder is shared, else None.
    """

    partition: Partition
    run: RunRow
    config: RunConfig
    retry: RetryPolicy
    heard: bool
    content: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """An item on its way to a worker or back: the last stage it has passed (None: it is only planned), and the item as JSON.

    ``draws``: how often it was tried before. ``rejection``: why it was rejected, if it was.
    """

    index: int
    done: str | None
    payload: str
    draws: int = 0
    rejection: PortableError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReport:
    """The totals of a worker's own calls, and its events since the last report.

    At its end also the bytes of its store, if no folder is shared, and the error with which it ended, if any.
    """

    totals: CallTotals
    events: list[Event]
    content: bytes | None = None
    error: PortableError | None = None


class Worker:
    """Works on the items it is sent, as many at once as there are calls of ``advance``. ``open`` it first, and ``close`` it.

    A plain class for one event loop, which Ray runs as an actor. A ``PiiloomError`` is returned, not raised, since it has to be pickled.
    """

    def __init__(self, assignment: Assignment, coordinator: Any) -> None:
        self._assignment, self._config, self._coordinator = assignment, assignment.config, coordinator
        self._path = assignment.partition.path
        self._stack = AsyncExitStack()
        self._items: set[asyncio.Task[WorkItem]] = set()
        self._events: list[Event] = []
        self._session: Session | None = None
        self._content: bytes | None = None
        self._totals, self._before = CallTotals(), CallTotals()

    async def open(self) -> PortableError | None:
        """Open the store and the provider; returns the error if that fails."""
        try:
            _check_same_piiloom(self._assignment)
            await self._open_session()
        except PiiloomError as error:
            return PortableError.of(error)
        return None

    async def _open_session(self) -> None:
        given, config = self._assignment, self._config
        if given.content is not None:
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="piiloom-"))
            self._path = Path(folder) / self._path.name
            self._path.write_bytes(given.content)
            self._stack.callback(self._read_content)
        store = self._stack.enter_context(Store.open(self._path, create=False))
        limits = SharedLimits(self._coordinator, given.partition.id, concurrency=config.concurrency, budget_usd=config.budget_usd)
        self._stack.push_async_callback(limits.aclose)
        policy = CallPolicy(
            concurrency=config.concurrency,
            retry=given.retry,
            sink=self._events.append if given.heard else noop,
            limiter=limits,
            budget=limits,
        )
        opened = OpenedRun(store=store, run=given.run, config=config, provider=open_provider(config))
        session = self._session = await self._stack.enter_async_context(opened.session(policy))
        # The session counts what the store knows already: the replies that were copied into it.
        self._totals, self._before = session.ctx.calls.totals, replace(session.ctx.calls.totals)
        session.start_committing()

    async def advance(self, work: WorkItem) -> WorkItem | PortableError:
        """Take an item through its remaining stages and return it, or an error that is not the item's own."""
        task = asyncio.ensure_future(self._advanced(work))
        self._items.add(task)
        await asyncio.wait([task])
        self._items.discard(task)
        if task.cancelled():
            return PortableError.of(RunError("the worker was closed", remedy="Resume the run"))
        try:
            return task.result()
        except PiiloomError as error:
            return PortableError.of(error)

    async def _advanced(self, work: WorkItem) -> WorkItem:
        assert self._session is not None  # noqa: S101 - items are sent to an open worker
        ctx, config = self._session.ctx, self._config
        if work.draws:
            ctx.draws = {**ctx.draws, str(work.index): work.draws}
        start = Outcome(item=item_from_json(work.payload), done=work.done)
        outcome = await advance(start, ctx, stages_after(work.done, item_stages(config.recipe, config.judges)))
        if ctx.calls.provider.paid:
            await self._session.committer.commit(Batch())  # the driver may store the record once all verdicts on its replies are
        rejection = PortableError.of(outcome.rejection) if outcome.rejection else None
        return replace(work, done=outcome.done, payload=item_to_json(outcome.item), rejection=rejection)

    async def report(self) -> WorkerReport:
        """Return the totals, and the events since the last report."""
        events = list(self._events)
        del self._events[: len(events)]
        return WorkerReport(totals=self._totals - self._before, events=events)

    async def close(self) -> WorkerReport:
        """Drop open items, wait for the calls that are out, close everything, and return the last report."""
        error = None
        for task in self._items:
            task.cancel()
        await asyncio.gather(*self._items, return_exceptions=True)
        try:
            await self._stack.aclose()
        except PiiloomError as failure:
            error = PortableError.of(failure)
        return replace(await self.report(), content=self._content, error=error)

    def _read_content(self) -> None:
        self._content = self._path.read_bytes()


def _check_same_piiloom(assignment: Assignment) -> None:
    """Raise ``RunError`` if templates, taxonomy, bank or code on this node differ from those of the run."""
    if run_digest(assignment.config) != assignment.run.config_digest:
        raise RunError(
            f"{platform.node()} has another piiloom, bank or prompts than the process that started run {assignment.run.id}",
            remedy="Install the same version on every node, with the same --bank and --prompts at the same path",
        )
