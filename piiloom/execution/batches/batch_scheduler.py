"""Batch mode: calls gather until nothing else can progress, and are sent together as batches.

The stages work as in live mode: each call waits where it is made and gets its answer hours later. When all open items wait, the
gathered calls form a round, which is split by the provider's limits and sent. As soon as one of its batches has ended, its
items go on, and their next calls form the next round, whatever other batches are still out.

Batches survive the process: ``adopt`` takes over those that earlier sessions have left, and a call that is in one of them
waits for it instead of being sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass

from piiloom.corpus.store.call_events import OPEN_STATES, BatchRow, OpenBatch
from piiloom.execution.batches.jobs import BatchJob, Package, Packer, QueueFull, cancelled
from piiloom.execution.batches.ledger import BatchEntry, BatchLedger, BatchPolicy, Outcomes, entry_of, entry_owed, read_for
from piiloom.execution.call_entries import CallTotals, Request
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.money.budget import Budget, worst_case_usd
from piiloom.execution.watching.events import Braked, EventSink
from piiloom.foundation.errors import PiiloomError, ProviderError, RunError
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted
from piiloom.providers.batch_api import BatchApi, BatchRequest
from piiloom.providers.errors import ENDS_RUN
from piiloom.providers.protocol import Completion, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """State of one batch for views: how many of its requests are done, as the provider last reported."""

    row: BatchRow
    total: int
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchModeState:
    """State of batch mode: the batches at the provider, and how many calls have gathered for the next ones."""

    out: Sequence[BatchStatus]
    gathered: int


def how_to_go_on(statuses: Sequence[BatchStatus], run_id: str) -> str:
    """Return a message on the batches that continue at the provider and how to resume or cancel them; "" if there are none."""
    if not statuses:
        return ""
    one = len(statuses) == 1
    what, them = ("1 batch stays", "it") if one else (f"{len(statuses)} batches stay", "them")
    requests = sum(status.row.requests for status in statuses)
    return (
        f"{what} at {statuses[0].row.provider} and will be processed there ({counted(requests, 'request')}). "
        f"Collect {them} with: piiloom generate --resume {run_id}; cancel {them} with: piiloom batch cancel --run {run_id}"
    )


# Event-loop turns after which every runnable task has run: a reply passes through a handful of tasks.
_TURNS = 25


class IdleDetector:
    """Idle detector for batch mode. ``open_items()`` returns how many items are in progress; those waiting enter ``waiting``.

    An item may wait for another item (for the topics of its pair, say) and not for a call. So if not all items are known to
    wait, idleness is assumed only after the longer ``patience_s``.
    """

    def __init__(self, policy: BatchPolicy, open_items: Callable[[], int]) -> None:
        self._policy, self._open_items = policy, open_items
        self._waiting = 0
        self._progress_count = 0
        self._progressed = asyncio.Event()

    def note_progress(self) -> None:
        """Record that something has progressed."""
        self._progress_count += 1
        self._progressed.set()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the caller as waiting while it is in this block."""
        self._waiting += 1
        self.note_progress()
        try:
            yield
        finally:
            self._waiting -= 1
            self._progress_count += 1

    async def wait_until_idle(self, enough: Callable[[], bool]) -> None:
        """Wait until something has progressed since the last call, and then until nothing does any more or *enough* returns True."""
        await self._progressed.wait()
        while not enough():
            seen = self._progress_count
            all_wait = self._waiting >= self._open_items()
            await self._policy.sleep(self._policy.settle_s if all_wait else self._policy.patience_s)
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if seen == self._progress_count:
                break
        self._progressed.clear()


class BatchScheduler:
    """The batch-mode sender: answers calls through batches (a ``calls.Sender``). ``open_items()`` returns the items in progress.

    Create and use it within one event loop. After ``drain`` nothing is sent any more, and waiting calls are cancelled.
    """

    def __init__(
        self,
        provider: Provider,
        api: BatchApi,
        committer: GroupCommitter,
        totals: CallTotals,
        *,
        run_id: str,
        budget: Budget,
        open_items: Callable[[], int],
        policy: BatchPolicy | None = None,
        sink: EventSink = noop,
    ) -> None:
        self._api, self._budget = api, budget
        self._spec = getattr(provider, "spec", None)
        self._policy = policy or BatchPolicy()
        self._idle = IdleDetector(self._policy, open_items)
        self._sink = sink
        self._ledger = BatchLedger(provider, committer, totals, run_id, sink)
        self._packer = Packer(api)
        self._entries: dict[str, BatchEntry] = {}
        self._parked: dict[str, BatchEntry] = {}
        self._adopted: list[BatchJob] = []
        self._out: dict[BatchJob, asyncio.Task[None]] = {}
        self._sender: asyncio.Task[None] | None = None
        self._closing = False
        self._failure: Exception | None = None

    @property
    def out(self) -> list[BatchStatus]:
        """The batches at the provider, or on their way there."""
        jobs = [job for job in (*self._adopted, *self._out) if job.row.state in OPEN_STATES]
        return [BatchStatus(row=job.row, total=job.row.requests, done=job.remote.done if job.remote is not None else 0) for job in jobs]

    @property
    def parked(self) -> int:
        """How many calls have gathered for the next round."""
        return len(self._parked)

    def adopt(self, batches: Sequence[OpenBatch]) -> None:
        """Take over the batches that earlier sessions have left at the provider; call it before the first ``complete``.

        Their worst-case costs are reserved. Raises ``RunError`` for a batch at another provider or endpoint, which cannot be polled here.
        """
        for batch in batches:
            if (batch.row.provider, batch.row.endpoint) != (self._api.name, self._api.endpoint):
                raise RunError(
                    f"batch {batch.row.id} of this run was sent to {batch.row.endpoint}",
                    where=self._api.endpoint,
                    remedy="Resume with the base URL that the run began with, or give the batch up: piiloom batch cancel",
                )
            entries = {owed.row.custom_id: entry_owed(owed, self._budget.reserve_sent(owed.row.worst_usd)) for owed in batch.owed}
            self._entries |= {entry.key: entry for entry in entries.values()}
            self._adopted.append(self._job(batch.row, entries))
        if batches:
            self._idle.note_progress()
            self._begin()

    async def complete(self, request: Request) -> Completion:
        """Return the answer to *request*.

        Raises ``ProviderError``, ``BudgetReached``, or ``RunError`` if batches cannot be sent or collected.
        """
        entry = self._entries.get(request.key)
        if entry is None:
            entry = await self._admitted(request)
        elif entry.request is None:
            entry.request = request
        entry.waiters += 1
        self._begin()
        try:
            with self._idle.waiting():
                completion = await asyncio.shield(entry.future)
            return read_for(request, completion, provider=self._api.name)
        finally:
            entry.waiters -= 1
            if entry.future.done():
                self._entries.pop(entry.key, None)
            elif not entry.waiters and self._parked.pop(entry.key, None) is not None:
                # No task waits for it any more and it has not been sent: drop it, so that it is not paid for.
                self._forget(entry)

    async def drain(self) -> None:
        """Stop waiting and cancel all callers. Batches stay at the provider; one being created is recorded first."""
        self._closing = True
        if self._sender is not None:
            await cancelled([self._sender])
        jobs, following = list(self._out), list(self._out.values())
        await asyncio.gather(*(job.close() for job in jobs))
        await cancelled(following)
        for entry in list(self._entries.values()):
            entry.future.cancel()

    def _job(self, row: BatchRow, entries: dict[str, BatchEntry]) -> BatchJob:
        return BatchJob(self._api, self._ledger, self._policy, row, entries, known=self._ledger.known_ids)

    async def _admitted(self, request: Request) -> BatchEntry:
        """Reserve money for a call that is in no batch yet, and add it to the next round."""
        worst = worst_case_usd(request.call, request.messages, self._spec, batch=True) if self._spec else None
        self._begin()
        with self._idle.waiting():  # waiting for money that calls in progress may leave
            reservation = await self._budget.reserve(worst)
        entry = self._entries.get(request.key)
        if entry is not None:
            reservation.release()
            return entry
        entry = entry_of(request, worst, reservation)
        self._entries[entry.key] = entry
        if self._failure is not None:
            entry.resolve(self._failure)
        elif self._closing:
            entry.future.cancel()
        else:
            self._parked[entry.key] = entry
        return entry

    def _forget(self, entry: BatchEntry) -> None:
        self._entries.pop(entry.key, None)
        if entry.reservation is not None:
            entry.reservation.release()
            entry.reservation = None

    def _begin(self) -> None:
        if self._sender is None and not self._closing:
            self._sender = asyncio.ensure_future(self._send_rounds())

    async def _send_rounds(self) -> None:
        try:
            while True:
                await self._idle.wait_until_idle(lambda: len(self._parked) >= self._packer.most)
                for job in self._adopted:
                    self._out[job] = asyncio.ensure_future(self._follow(job, None))
                self._adopted.clear()
                async with aclosing(self._packer.packed(self._parked)) as packages:
                    async for package in packages:
                        await self._send(package)
        except Exception as error:  # noqa: BLE001 - passed on to all waiting callers
            self._fail(error)

    async def _send(self, package: Package) -> None:
        """Send a package. Returns when the provider has it, has refused it, or a long search for it has begun."""
        refused = Outcomes()
        for entry, error in package.refused:
            refused.failed(entry, error, final=True)
        if refused.found:
            await self._ledger.note_outcomes(refused)
        if not package.entries:
            return
        job = self._job(package.row(self._api, self._ledger.run_id), package.entries)
        self._out[job] = asyncio.ensure_future(self._follow(job, package.requests))
        await job.handed_over.wait()

    async def _follow(self, job: BatchJob, requests: Sequence[BatchRequest] | None) -> None:
        """Handle a batch to its end: send it (if *requests* are given), collect it, and queue again what has to be sent again."""
        try:
            for entry in await self._seen_through(job, requests):
                await self._resend(entry)
        except Exception as error:  # noqa: BLE001 - passed on to all waiting callers
            self._fail(error)

    async def _seen_through(self, job: BatchJob, requests: Sequence[BatchRequest] | None) -> list[BatchEntry]:
        try:
            if requests is not None:
                await job.send(requests)
            left = await job.answers()
            self._packer.grow()
        except QueueFull:
            left = list(job.entries.values())
            await self._wait_for_room(job)
        except ProviderError as error:
            raise await self._given_up(job, error) from None
        del self._out[job]
        return left

    async def _wait_for_room(self, job: BatchJob) -> None:
        """The provider's queue is full for this account: wait, with smaller batches to follow unless other batches of ours fill it."""
        if all(other is job or other.came_to_nothing for other in self._out):
            self._packer.shrink(len(job.entries))
        self._sink(Braked(self._policy.longest_poll_s))
        await self._policy.sleep(self._policy.longest_poll_s)

    async def _resend(self, entry: BatchEntry) -> None:
        if entry.request is None or not entry.waiters:
            self._forget(entry)
            return
        if entry.reservation is None:  # it was charged in full, since it may have been answered
            try:
                entry.reservation = await self._budget.reserve(entry.worst_usd)
            except PiiloomError as error:
                entry.resolve(error)
                return
        self._parked[entry.key] = entry
        self._idle.note_progress()

    async def _given_up(self, job: BatchJob, error: ProviderError) -> Exception:
        """Return the error that ends the run because of *error*; the run can be resumed when the cause is gone.

        If *job* has failed for good, the failure is recorded for its entries first.
        """
        if job.came_to_nothing:
            outcomes = Outcomes()
            for entry in job.entries.values():
                outcomes.failed(entry, error, final=False)
            await self._ledger.note_outcomes(outcomes)
            del self._out[job]
        if isinstance(error, ENDS_RUN):
            return error
        return RunError(
            error.message, where=error.where, remedy=error.remedy or "Resume the run later; requests that were sent are not sent again"
        )

    def _fail(self, error: Exception) -> None:
        """Fail all waiting and later calls with *error*."""
        self._failure = self._failure or error
        self._parked.clear()
        for entry in list(self._entries.values()):
            entry.resolve(error)
