"""The driver's side of the workers of a run: starts them, sends them items, watches them, and merges what they leave."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from piiloom.corpus.store.partitions import Partition, deal_partition, remove_partition
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.calls import Calls
from piiloom.execution.shared_limits import SharedLimits, answer
from piiloom.foundation.errors import RunError
from piiloom.foundation.noop import noop
from piiloom.foundation.portable_errors import PortableError
from piiloom.foundation.ray_cluster import cause_of
from piiloom.foundation.whole_files import OWNER_ONLY, created_without
from piiloom.generation.distributed.ray_executor import RayExecutor
from piiloom.generation.distributed.worker import Assignment, WorkerReport, WorkItem
from piiloom.generation.item import item_from_json, item_to_json
from piiloom.generation.plan.horizons import PLANNED_AT_MOST, planned_for
from piiloom.generation.plan.planning import text_of
from piiloom.generation.running.crash_recovery import charge_lost, merge_leftover_partitions
from piiloom.generation.running.item_runner import Outcome, advance
from piiloom.generation.running.session import OpenedRun
from piiloom.generation.stage import Stage, StageContext

_LOOK_PACE_S = 0.3


class WorkerLost(Exception):
    """The process of a worker died; ``cause`` is the name of the error, without any text of the run."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


@dataclass(slots=True)
class _Member:
    partition: Partition
    worker: Any
    totals: CallTotals = field(default_factory=CallTotals)


@dataclass(slots=True, kw_only=True)
class Workers:
    """*count* workers for one pass over a run (0: items are worked on here); an async context manager.

    Leaving it closes the workers and merges their partitions; the store must be free by then. *limits* are those of this process.
    *folder*: where partition stores are created (None: next to the store). *returned*: no folder is shared, so their bytes are sent to
    the workers and back.
    """

    executor: RayExecutor
    coordinator: Any
    limits: SharedLimits
    opened: OpenedRun
    policy: CallPolicy
    count: int
    folder: Path | None
    returned: bool
    # The calls of this process, to whose totals those of the workers are added.
    _calls: Calls | None = None
    _members: list[_Member] = field(default_factory=list)
    _looking: asyncio.Task[None] | None = None
    _ending: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        """Start the workers. Raises the error with which one cannot open, or ``WorkerLost``."""
        self._looking = asyncio.ensure_future(self._look_regularly())
        try:
            for number in range(self.count):
                self._members.append(self._started(number))
            await asyncio.gather(*(self._ask(member, "open") for member in self._members))
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        failure = await self._end()
        if failure is not None and error is None:
            raise failure.rebuilt()

    async def advance(self, outcome: Outcome, ctx: StageContext, stages: Sequence[Stage]) -> Outcome:
        """Like ``item_runner.advance``, by the worker whose item it is. Raises ``WorkerLost`` if that has died."""
        if not stages or not self._members:
            return await advance(outcome, ctx, stages)
        self._calls = ctx.calls
        index = outcome.item.plan.index
        work = WorkItem(index=index, done=outcome.done, payload=item_to_json(outcome.item), draws=ctx.drawn(str(index)))
        came: WorkItem = await self._ask(self._members[self._number_of(index)], "advance", work)
        rejection: Any = came.rejection.rebuilt() if came.rejection else None
        return Outcome(item=item_from_json(came.payload), done=came.done, rejection=rejection)

    @property
    def unstored(self) -> CallTotals:
        """The part of the totals of all calls that the store does not know: it has all about paid ones."""
        if self._calls is None:
            return CallTotals()
        totals, paid = self._calls.totals, self._calls.provider.paid
        return CallTotals(answered=0 if paid else totals.answered, answered_now=totals.answered_now, replayed=totals.replayed)

    def _number_of(self, index: int) -> int:
        # The items of one text go to the same worker, so that the text is asked for once.
        return text_of(index, self.opened.config) % self.count

    def _started(self, number: int) -> _Member:
        run, config = self.opened.run, self.opened.config
        most = PLANNED_AT_MOST * planned_for(config.samples, config.margin)
        indexes = [index for index in range(most) if self._number_of(index) == number]
        partition = deal_partition(self.opened.store, run.id, number, indexes, folder=None if self.returned else self.folder)
        # Twice an equal share of the calls in flight, so that a worker can use slots that others leave free.
        share = min(self.policy.concurrency, 2 * ceil(self.policy.concurrency / self.count))
        assignment = Assignment(
            partition=partition,
            run=run,
            config=config.model_copy(update={"concurrency": share, "budget_usd": self.policy.budget_usd}),
            retry=self.policy.retry,
            heard=self.policy.sink is not noop,
            content=partition.path.read_bytes() if self.returned else None,
        )
        return _Member(partition, self.executor.start_worker(assignment, self.coordinator))

    async def _ask(self, member: _Member, method: str, *arguments: Any) -> Any:
        """Call *method* of a worker. Raises the error that it returns, or ``WorkerLost``."""
        try:
            reply = await getattr(member.worker, method).remote(*arguments)
        except self.executor.errors as error:
            raise WorkerLost(cause_of(error)) from error
        if isinstance(reply, PortableError):
            raise reply.rebuilt()
        return reply

    async def _look_regularly(self) -> None:
        """Pass on what the workers report. An error of a dead one, or of the coordinator, is left to whoever sends an item or a call."""
        while not self._ending.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), _LOOK_PACE_S)
            with suppress(WorkerLost, RunError):
                await self.limits.refresh()
                for member in self._members:
                    self._heard(member, await self._ask(member, "report"))

    def _heard(self, member: _Member, report: WorkerReport) -> None:
        for event in report.events:
            self.policy.sink(event)
        if self._calls is not None:
            self._calls.totals.add(report.totals - member.totals)
            member.totals = report.totals

    async def _end(self) -> PortableError | None:
        """Close the workers and merge their partitions; returns the error of one that could not be closed, if any."""
        self._ending.set()
        if self._looking is not None:
            await self._looking
        members, self._members = self._members, []
        failures = await asyncio.gather(*map(self._closed, members))
        merge_leftover_partitions(self.opened.store, self.opened.run.id)
        return next(filter(None, failures), None)

    async def _closed(self, member: _Member) -> PortableError | None:
        partition = member.partition
        try:
            report: WorkerReport = await self._ask(member, "close")
        except WorkerLost:
            await self._release(member)
            return None
        finally:
            self.executor.end_worker(member.worker)
        self._heard(member, report)
        if report.content is not None:
            arriving = partition.path.with_name(f"{partition.path.name}.arriving")
            with created_without(OWNER_ONLY):
                arriving.write_bytes(report.content)
            arriving.replace(partition.path)
        return report.error

    async def _release(self, member: _Member) -> None:
        """Take back what a dead worker holds; if its store was on its node only, charge what it has spent to the run."""
        spent = 0.0
        with suppress(RunError):  # the coordinator has ended as well; all calls fail for that
            spent = await answer(self.coordinator.release.remote(member.partition.id))
        if self.returned:
            remove_partition(member.partition.path)
            charge_lost(self.opened.store, member.partition, spent)
