"""Crews for runs in partitions without Ray: the same assignments and the same desk, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.desk.server import Desk
from piiloom.execution.desk.words import DeskLink, DeskSettings, Enter, Reserve
from piiloom.execution.ordering import StopSignal
from piiloom.foundation.noop import noop
from piiloom.generation.distributed.crew import PartitionLost
from piiloom.generation.distributed.partition_work import Assignment, PartitionReport, work_on
from piiloom.generation.distributed.partitioned import generate_by_crew, generate_partitioned
from piiloom.generation.running.opening import resume_run, start_run
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.session import OpenedRun, call_policy
from piiloom.generation.settings.configuration import RunConfig
from tests.generation.llm_runs import QUICK


class HereCrew:
    """Works on all partitions at once, in the loop of whoever asks. *before* and *after* are called with each assignment."""

    def __init__(
        self,
        partitions: int,
        *,
        before: Callable[[Assignment], None] = lambda _: None,
        after: Callable[[Assignment], None] = lambda _: None,
    ) -> None:
        self.partitions = partitions
        self._before, self._after = before, after
        self.assignments: list[Assignment] = []
        self.reports: list[PartitionReport] = []
        self.desk: Desk | None = None

    async def open_desk(self, settings: DeskSettings) -> DeskLink:
        self.desk = Desk(settings)
        return self.desk

    async def work(self, assignment: Assignment, link: DeskLink) -> PartitionReport:
        self._before(assignment)
        self.assignments.append(assignment)
        report = await work_on(assignment, link)
        self.reports.append(report)
        self._after(assignment)
        return report


class HalfCrew(HereCrew):
    """A crew whose process number *victim* dies when it has done half of its items and has a call under way."""

    def __init__(self, partitions: int, victim: int) -> None:
        super().__init__(partitions)
        self._victim = victim

    async def work(self, assignment: Assignment, link: DeskLink) -> PartitionReport:
        if assignment.partition.number != self._victim:
            return await super().work(assignment, link)
        self.assignments.append(assignment)
        half = replace(assignment, starts=assignment.starts[: len(assignment.starts) // 2])
        await work_on(half, _Unleavable(link))
        await link.post(assignment.partition.id, [Enter(1_000_001, 10, "situation"), Reserve(1_000_002, 0.5)])
        raise PartitionLost("WorkerCrashedError")


class _Unleavable:
    """A link that forgets to say good-bye."""

    def __init__(self, link: DeskLink) -> None:
        self.post, self.poll, self.stop, self.look = link.post, link.poll, link.stop, link.look

    async def leave(self, client: str) -> float:
        return 0.0


def run_by(
    crew: Any, store: Store, config: RunConfig, *, changes: Mapping[str, Any] | None = None, resumed: bool = False, **options: Any
) -> RunProgress:
    """A new run of *config* by *crew* to its end, or the last one taken up."""
    opened = _opened(store, config, resumed, changes or {})
    policy = options.pop("policy", None) or replace(call_policy(opened.config), retry=QUICK)
    return asyncio.run(generate_by_crew(opened, crew, policy=policy, **options))


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
    return asyncio.run(generate_partitioned(opened, partitions=partitions, policy=policy, stop=stop, watch=watch, **where))


def _opened(store: Store, config: RunConfig, resumed: bool, changes: Mapping[str, Any]) -> OpenedRun:
    opened = resume_run(store, get_run(store, "last"), **changes) if resumed else start_run(store, config)
    asyncio.run(opened.provider.aclose())  # each session has its own
    return opened


def partition_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.part-*"))
