"""One round of partitions: items are split up, workers process them, and each partition is merged when it comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from math import ceil
from pathlib import Path

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.partitions import Partition, deal, merge, remove
from piiloom.corpus.store.runs import RunRow
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.desk.words import DeskLink, Tally
from piiloom.execution.ordering import StopSignal
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.noop import noop
from piiloom.generation.distributed.crew import Crew, PartitionLost
from piiloom.generation.distributed.partition_work import Assignment, PartitionReport, Start
from piiloom.generation.running.crash_recovery import charge_lost
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.settings.configuration import RunConfig

# Most items in a partition, so that merging one is quick and a lost node loses little.
ITEMS_AT_MOST = 500
_LOOK_PACE_S = 0.3


def dealt(starts: Sequence[Start], partitions: int, *, together: int = 1) -> list[list[Start]]:
    """Distribute *starts* round-robin over *partitions* lists, or over more so that none gets many more than ``ITEMS_AT_MOST`` items.

    The items of one text (*together* consecutive plan indexes) go to the same partition, so that the text is asked for once.
    """
    texts: dict[int, list[Start]] = {}
    for start in starts:
        texts.setdefault(start.index // together, []).append(start)
    hands = max(min(partitions, len(texts)), ceil(len(starts) / ITEMS_AT_MOST))
    cards = list(texts.values())
    return [[start for text in cards[number::hands] for start in text] for number in range(hands)]


class PartitionRound:
    """Runs rounds of partitions on the workers of a crew.

    ``totals`` sums up the calls of all partitions, ``progress`` is what the watcher sees, ``lost`` the last cause of a lost partition.
    *folder*: where partition stores are created (None: next to the store). *returned*: no folder is shared, so the bytes of
    partition stores travel with assignments and reports.
    """

    def __init__(
        self,
        *,
        store: Store,
        run: RunRow,
        config: RunConfig,
        crew: Crew,
        link: DeskLink,
        policy: CallPolicy,
        progress: RunProgress,
        watch: Watch,
        stop: StopSignal,
        folder: Path | None,
        returned: bool,
    ) -> None:
        self._store, self._run, self._crew, self._link, self._policy = store, run, crew, link, policy
        self._watch, self._stop, self._folder, self._returned = watch, stop, folder, returned
        # Twice an equal share of the calls in flight, so that a partition can use slots that others leave free.
        share = min(policy.concurrency, 2 * ceil(policy.concurrency / crew.partitions))
        self._config = config.model_copy(update={"concurrency": share, "budget_usd": policy.budget_usd})
        self.progress, self.totals, self.lost = progress, CallTotals(), ""
        self._next = 0
        self._error: PiiloomError | None = None
        # The progress of this round's partitions, by partition id, and the call totals before this round.
        self._tallies: dict[str, Tally] = {}
        self._before = CallTotals()
        self._stopping: set[asyncio.Task[None]] = set()
        stop.on_request(self._ask_to_stop)

    async def work(self, starts: Sequence[Start], draws: Mapping[str, int]) -> int:
        """Take *starts* through the item stages; returns how many partitions came back.

        If a partition reports an error, the others are asked to stop and merged, and then the first error is raised.
        """
        if not starts:
            return 0
        free = asyncio.Semaphore(self._crew.partitions)
        self._tallies, self._before = {}, replace(self.progress.totals)
        watching = asyncio.ensure_future(self._looking(len(starts)))
        hands = [asyncio.ensure_future(self._hand(hand, draws, free)) for hand in self._dealt(starts)]
        try:
            came_back = sum(await asyncio.gather(*hands))
        finally:
            for task in (*hands, watching):
                task.cancel()
            await asyncio.gather(*hands, watching, return_exceptions=True)
        await self._look()
        self.preparing("")
        if self._error is not None:
            raise self._error
        return came_back

    def _dealt(self, starts: Sequence[Start]) -> list[list[Start]]:
        return dealt(starts, self._crew.partitions, together=self._config.records_per_text)

    def planned_with(self, totals: CallTotals) -> None:
        """Take over the call totals of this process: those of earlier sessions, and its own calls for topics and subtopics."""
        self.progress.totals = totals
        add_totals(self.totals, CallTotals(answered=totals.answered_now, answered_now=totals.answered_now, replayed=totals.replayed))

    def preparing(self, what: str) -> None:
        """Report to the watcher what is being done before records are ready."""
        self.progress.preparing = what
        self._watch(self.progress)

    def screened(self, *, accepted: bool) -> None:
        """Count one screened item and report to the watcher."""
        self.progress.accepted += accepted
        self._watch(self.progress)

    async def _hand(self, starts: Sequence[Start], draws: Mapping[str, int], free: asyncio.Semaphore) -> bool:
        """Create a partition for *starts*, have a worker process it, and merge it. Returns False if it was lost or not started."""
        async with free:
            if self._stop.requested or self._error is not None:
                return False
            indexes = [start.index for start in starts]
            partition = deal(self._store, self._run.id, self._next, indexes, folder=None if self._returned else self._folder)
            self._next += 1
            self._tallies[partition.id] = Tally(0, 0, CallTotals())
            names = {str(index) for index in indexes}
            assignment = Assignment(
                partition=partition,
                run=self._run,
                config=self._config,
                starts=starts,
                draws={name: count for name, count in draws.items() if name in names},
                retry=self._policy.retry,
                heard=self._policy.sink is not noop,
                content=partition.path.read_bytes() if self._returned else None,
            )
            try:
                report = await self._crew.work(assignment, self._link)
            except PartitionLost as lost:
                self.lost = lost.cause
                await self._clear_up(partition)
                return False
            self._merge(partition, report)
            if report.error is not None and self._error is None:
                self._error = report.error.rebuilt()
                await self._link.stop()
            return True

    async def _clear_up(self, partition: Partition) -> None:
        """Merge the store of a partition whose process died; if the store was on the worker only, charge what it had spent."""
        spent = await self._link.leave(partition.id)
        if self._returned:
            remove(partition.path)
            charge_lost(self._store, partition, spent)
        else:
            merge(self._store, self._run.id, partition.path)

    def _merge(self, partition: Partition, report: PartitionReport) -> None:
        if report.content is not None:
            arriving = partition.path.with_name(f"{partition.path.name}.arriving")
            arriving.write_bytes(report.content)
            arriving.replace(partition.path)
        merge(self._store, self._run.id, partition.path)
        add_totals(self.totals, report.tally.totals)

    async def _looking(self, items: int) -> None:
        """Report the progress of the partitions to the watcher, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_PACE_S)
            await self._look()
            self.preparing(f"items {sum(tally.done for tally in self._tallies.values())}/{items}")

    async def _look(self) -> None:
        view = await self._link.look()
        for event in view.events:
            self._policy.sink(event)
        for name in self._tallies.keys() & view.tallies.keys():
            self._tallies[name] = view.tallies[name]
        self.progress.totals = replace(self._before)
        for tally in self._tallies.values():
            add_totals(self.progress.totals, tally.totals)

    def _ask_to_stop(self) -> None:
        async def ask() -> None:
            with suppress(Exception):  # if the desk has ended, there is no client to stop
                await self._link.stop()

        task = asyncio.ensure_future(ask())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)


def add_totals(totals: CallTotals, more: CallTotals) -> None:
    """Add *more* to *totals*, in place."""
    for field in fields(CallTotals):
        setattr(totals, field.name, getattr(totals, field.name) + getattr(more, field.name))
