"""Executors for runs in partitions without Ray: the same workers and the same coordinator, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.ordering import StopSignal
from piiloom.execution.shared_limits import Coordinator
from piiloom.foundation.noop import noop
from piiloom.generation.distributed.partitioned import generate_on, generate_partitioned
from piiloom.generation.distributed.worker import Assignment, Worker, WorkerReport, WorkItem
from piiloom.generation.running.opening import resume_run, start_run
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.session import OpenedRun, call_policy
from piiloom.generation.settings.configuration import RunConfig
from tests.fakes.actors import ActorDied, Handle
from tests.generation.llm_runs import QUICK


class LocalExecutor:
    """All workers are in the loop of whoever asks. *before* and *after* are called with the assignment of each, as it starts and ends."""

    errors = (ActorDied,)

    def __init__(
        self,
        workers: int,
        *,
        before: Callable[[Assignment], None] = lambda _: None,
        after: Callable[[Assignment], None] = lambda _: None,
    ) -> None:
        self.workers = workers
        self.before, self.after = before, after
        self.assignments: list[Assignment] = []
        self.indexes: dict[int, list[int]] = {}
        self.coordinator: Coordinator | None = None

    def start_coordinator(self, **limits: Any) -> Handle:
        self.coordinator = Coordinator(**limits)
        return Handle(self.coordinator)

    def start_worker(self, assignment: Assignment, coordinator: Handle) -> Handle:
        self.assignments.append(assignment)
        return Handle(self.worker(assignment, coordinator))

    def worker(self, assignment: Assignment, coordinator: Handle) -> Worker:
        return LocalWorker(self, assignment, coordinator)

    def end_worker(self, worker: Handle) -> None:
        worker.die()


class LocalWorker(Worker):
    def __init__(self, executor: LocalExecutor, assignment: Assignment, coordinator: Handle) -> None:
        super().__init__(assignment, coordinator)
        self.executor, self.assignment, self.handle = executor, assignment, coordinator

    async def open(self) -> Any:
        self.executor.before(self.assignment)
        return await super().open()

    async def advance(self, work: WorkItem) -> Any:
        self.executor.indexes.setdefault(self.assignment.partition.number, []).append(work.index)
        return await super().advance(work)

    async def close(self) -> WorkerReport:
        report = await super().close()
        self.executor.after(self.assignment)
        return report


class HalfExecutor(LocalExecutor):
    """An executor whose first worker number *victim* dies when it has done *items* and has a call under way."""

    def __init__(self, workers: int, victim: int, items: int) -> None:
        super().__init__(workers)
        self._victim, self._items = victim, items

    def start_worker(self, assignment: Assignment, coordinator: Handle) -> Handle:
        if assignment.partition.number != self._victim or len(self.assignments) >= self.workers:
            return super().start_worker(assignment, coordinator)
        self.assignments.append(assignment)
        worker = DyingWorker(self, assignment, coordinator, items=self._items)
        worker.me = Handle(worker)
        return worker.me


class DyingWorker(LocalWorker):
    me: Handle

    def __init__(self, *given: Any, items: int) -> None:
        super().__init__(*given)
        self._limit, self._done = items, 0

    async def advance(self, work: WorkItem) -> Any:
        done = await super().advance(work) if self._done < self._limit else None
        self._done += 1
        if self._done < self._limit:
            return done
        if self._done == self._limit:
            name = self.assignment.partition.id
            await super().close()  # the file of a process that died is free
            await self.handle.enter.remote(name, 1_000_001, [], 10, "situation")
            await self.handle.reserve.remote(name, 1_000_002, [], 0.5)
            self.me.die()
        return await asyncio.Event().wait()  # it does not answer any more


def run_by(
    executor: Any, store: Store, config: RunConfig, *, changes: Mapping[str, Any] | None = None, resumed: bool = False, **options: Any
) -> RunProgress:
    """A new run of *config* by *executor* to its end, or the last one resumed."""
    opened = _opened(store, config, resumed, changes or {})
    policy = options.pop("policy", None) or replace(call_policy(opened.config), retry=QUICK)
    return asyncio.run(generate_on(executor, opened, policy=policy, **options))


def run_by_ray(
    store: Store,
    config: RunConfig,
    partitions: int,
    *,
    resumed: bool = False,
    policy: CallPolicy | None = None,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    **where: Any,
) -> RunProgress:
    """The same by Ray."""
    opened = _opened(store, config, resumed, {})
    policy = policy or replace(call_policy(opened.config), retry=QUICK)
    return asyncio.run(generate_partitioned(opened, workers=partitions, policy=policy, stop=stop, watch=watch, **where))


def _opened(store: Store, config: RunConfig, resumed: bool, changes: Mapping[str, Any]) -> OpenedRun:
    opened = resume_run(store, get_run(store, "last"), **changes) if resumed else start_run(store, config)
    asyncio.run(opened.provider.aclose())  # each pass has its own
    return opened


def partition_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.part-*"))
