"""A run over several processes: the driver runs it as one process would, but has workers take the items through their stages.

The driver owns the store and does all run-wide work: topics and subtopics, the plan, screening in plan order. Items are dealt to the
workers by their plan index. Each worker keeps its calls in a store of its own, its partition, which is merged when the worker ends. The
records are those of a single process, byte for byte.
"""

from __future__ import annotations

import asyncio
import importlib
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.derived_stores import Partition, deal_partition, remove_partition
from piiloom.corpus.store.runs import load_rejects, plan_indexes, set_run_status
from piiloom.execution.call_channel import CallPolicy, close_open_sends
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.calls import Calls
from piiloom.execution.ordering import StopSignal
from piiloom.execution.shared_limits import Coordinator, SharedLimits, answer
from piiloom.foundation.errors import RunError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.portable_errors import PortableError
from piiloom.foundation.ray_cluster import cause_of, import_ray, join, leave
from piiloom.foundation.whole_files import OWNER_ONLY, created_without
from piiloom.generation.distributed.worker import Assignment, Worker, WorkerReport, WorkItem
from piiloom.generation.item import item_from_json, item_to_json
from piiloom.generation.plan.planning import PLANNED_AT_MOST, planned_for, text_of
from piiloom.generation.running.item_runner import Outcome, WholeRun, advance, run_items
from piiloom.generation.running.opening import charge_lost, merge_leftover_partitions
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.session import OpenedRun, call_policy
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stage import Stage, StageContext

_REACHABLE_WITHIN_S = 5.0


def check_partitioned(config: RunConfig, *, returned: bool) -> None:
    """Raise ``UsageError`` for settings that cannot be partitioned. *returned*: no folder is shared, so partition stores travel."""
    if config.batch:
        raise UsageError(
            "--ray and --batch exclude each other",
            remedy="Leave --ray out: the provider works on a batch, so more workers do not make it faster",
        )
    if returned and config.budget_usd is not None:
        raise UsageError(
            "a budget on a cluster needs a shared folder, in which all nodes record what they spend",
            where="--budget-usd",
            remedy="Name it with --ray-folder",
        )


def check_ray(workers: int, address: str | None) -> Any:
    """Import Ray and return the module.

    Raises ``UsageError`` if it is not installed or *workers* is below 1, ``RunError`` if no cluster answers at *address*.
    """
    if workers < 1:
        raise UsageError("at least one worker is needed", where="--ray")
    ray = import_ray("--ray")
    _check_reachable(address)
    return ray


def _check_reachable(address: str | None) -> None:
    """Raise an error for a bad address or one where nothing listens: Ray itself would try for minutes and ignore Ctrl-C.

    Raises ``UsageError`` if *address* is not HOST:PORT, ``RunError`` if no connection can be made.
    """
    if address is None or address in {"auto", "local"}:
        return
    host, _, port = address.rpartition(":")
    if "/" in host or not host or not port.isdecimal():
        raise UsageError(
            "this is not the address of a Ray cluster",
            where=f"--ray-address {address}",
            remedy="Give HOST:6379 of its head node; or give auto and start piiloom on a node of the cluster",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHABLE_WITHIN_S).close()
    except (OSError, OverflowError) as error:
        raise RunError(
            f"no Ray cluster answers there ({getattr(error, 'strerror', None) or type(error).__name__})",
            where=address,
            remedy="Start it with ray start --head, and see ray status",
        ) from error


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


# Size of Ray's object store in bytes, if we start Ray ourselves. Items and reports are small.
_OBJECT_STORE = 128 * 2**20
# Most calls that an actor works on at once: requests wait in the coordinator, items in a worker. The others have to get past them.
_CALLS_AT_ONCE = 1000
_CALLS_A_SLOT = 8


@asynccontextmanager
async def ray_executor(workers: int, address: str | None = None) -> AsyncIterator[RayExecutor]:
    """Open an executor of *workers* processes, on the cluster at *address* or on a local Ray started for it.

    If this process is connected to Ray already, that connection is used and left open. Raises ``UsageError`` if Ray is not installed,
    ``RunError`` if the cluster cannot be joined.
    """
    ray = check_ray(workers, address)
    ours = not ray.is_initialized()
    if ours:
        join(ray, address, object_store_bytes=_OBJECT_STORE, cpus=workers)
    try:
        yield RayExecutor(ray, workers)
    finally:
        if ours:
            leave(ray)


class RayExecutor:
    """Starts actors. Their methods are called as ``handle.method.remote(…)``, which can be awaited.

    ``errors`` are raised by such a call if the actor's process died, or if a method failed.
    """

    def __init__(self, ray: Any, workers: int) -> None:
        self._ray, self.workers = ray, workers
        self.errors: tuple[type[Exception], ...] = (ray.exceptions.RayError,)

    def start_coordinator(self, *, concurrency: int, **limits: float | None) -> Any:
        """Start the coordinator, on this node if possible."""
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        here = strategies.NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=True)
        at_once = _CALLS_AT_ONCE + _CALLS_A_SLOT * concurrency
        actor = self._ray.remote(num_cpus=0, max_concurrency=at_once, scheduling_strategy=here)(Coordinator)
        return actor.remote(concurrency=concurrency, **limits)

    def start_worker(self, assignment: Assignment, coordinator: Any) -> Any:
        """Start a worker on any node. Ray does not restart it: what a dead one has paid for must be merged first."""
        at_once = _CALLS_AT_ONCE + _CALLS_A_SLOT * assignment.config.concurrency
        actor = self._ray.remote(num_cpus=1, max_restarts=0, max_concurrency=at_once, scheduling_strategy="SPREAD")(Worker)
        return actor.remote(assignment, coordinator)

    def end_worker(self, worker: Any) -> None:
        """End the process of *worker*, if it still lives."""
        self._ray.kill(worker)


# With fewer wanted items per worker than this, another worker does not pay off.
LEAST_EACH = 4
# This many passes more, in which a worker died before another item was decided, end the run.
_MOST_IN_VAIN = 2


async def generate_partitioned(
    opened: OpenedRun,
    *,
    workers: int,
    address: str | None = None,
    folder: Path | None = None,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
) -> RunProgress:
    """Like ``run_items`` on a whole run, with *workers* Ray workers, on this machine or on the cluster at *address*.

    Partition stores are created next to the store, or in *folder*, which all nodes of the cluster must share. On a cluster without
    *folder* their bytes are sent to the workers and back. Raises ``UsageError`` for settings that cannot be partitioned and if Ray is
    not installed, ``RunError`` if the cluster cannot be joined.
    """
    returned = address is not None and folder is None
    check_partitioned(opened.config, returned=returned)
    async with ray_executor(workers, address) as executor:
        return await generate_on(executor, opened, folder=folder, returned=returned, stop=stop, watch=watch, policy=policy)


async def generate_on(
    executor: RayExecutor,
    opened: OpenedRun,
    *,
    folder: Path | None = None,
    returned: bool = False,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
) -> RunProgress:
    """Let the workers of *executor* process the run; *folder* and *returned* as for ``Workers``.

    The provider of *opened* is not used: each pass opens its own. Returns the final progress.

    When a worker dies, all partitions are merged and the run goes on with new workers. Raises ``RunError`` if workers die in vain.
    """
    store, run, config = opened.store, opened.run, opened.config
    policy = policy or call_policy(config)
    merge_leftover_partitions(store, run.id)
    close_open_sends(store, run.id)
    coordinator = executor.start_coordinator(
        concurrency=policy.concurrency,
        rpm=policy.rpm,
        tpm=policy.tpm,
        budget_usd=policy.budget_usd,
        spent_usd=CallTotals.after(spending(store, run.id)).spent_usd,
    )
    unstored, decided, in_vain = CallTotals(), -1, 0
    async with aclosing(SharedLimits(coordinator, "driver", concurrency=policy.concurrency, budget_usd=policy.budget_usd)) as limits:
        policy = replace(policy, limiter=limits, budget=limits)
        while True:
            accepted = len(plan_indexes(store, run.id))
            before, decided = decided, accepted + len(load_rejects(store, run.id))
            in_vain = in_vain + 1 if decided == before else 0
            workers = Workers(
                executor=executor,
                coordinator=coordinator,
                limits=limits,
                opened=opened,
                policy=policy,
                count=min(executor.workers, max(0, config.samples - accepted) // LEAST_EACH),
                folder=folder,
                returned=returned,
            )
            try:
                progress = await _pass(workers, stop, watch)
            except WorkerLost as lost:
                if in_vain == _MOST_IN_VAIN:
                    remedy = "Resume the run without --ray; what was paid for is kept"
                    raise RunError(f"workers failed repeatedly ({lost.cause})", where=run.id, remedy=remedy) from lost
                unstored.add(workers.unstored)
            else:
                progress.totals.add(unstored)
                return progress


async def _pass(workers: Workers, stop: StopSignal | None, watch: Watch) -> RunProgress:
    """Run the run of *workers* to its end, or until one of them is lost; their partitions are merged then."""
    opened = workers.opened
    try:
        async with workers:
            session_run = opened.reopened()
            return await run_items(
                session_run, WholeRun(session_run), stop=stop, watch=watch, policy=workers.policy, through=workers.advance
            )
    except BaseException:
        set_run_status(opened.store, opened.run.id, "interrupted")
        raise
