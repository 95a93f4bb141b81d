"""One batch, from its rows on disk to its last answer; a round of calls split into batches; waits and retries.

Everything is on disk first: the batch and its requests before the provider is called ("preparing"), the provider's id as
soon as it is known ("submitted"), each answer before it is used, and "collected" at the end. If the process dies anywhere in
between, another one continues from the row. If creating the batch got no answer, the provider is searched for it before
anything is sent again. A provider may take a day; pauses end when the run is stopped.

Outside a run, batches are cancelled (answers that one had by then were paid for, so they are collected into the journal) or given up.
"""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, wait_exponential

from piiloom.corpus.store.call_events import BatchRow, BatchState, CallEvent, OpenBatch
from piiloom.execution.batches.ledger import BatchEntry, BatchLedger, BatchPolicy, Outcomes, entry_owed
from piiloom.execution.call_entries import CallTotals, failure_entry
from piiloom.execution.committing import Batch, GroupCommitter
from piiloom.execution.retrying import awaited, error_of
from piiloom.foundation.errors import ProviderError, RunError
from piiloom.foundation.noop import noop
from piiloom.providers.batch_api import BatchApi, BatchFault, BatchRequest, BatchUnknown, RemoteBatch, Sighting, custom_id
from piiloom.providers.errors import ENDS_RUN, InvalidRequest, ProviderUnavailable, RateLimited, ReplyRejected
from piiloom.providers.protocol import Provider

T = TypeVar("T")

TRANSIENT = (RateLimited, ProviderUnavailable)


class BatchBackoff:
    """The pauses and retries of one batch, timed by *policy*."""

    def __init__(self, policy: BatchPolicy) -> None:
        self._policy = policy
        self._over = asyncio.Event()

    def end(self) -> None:
        """End the present pause and every later one with ``CancelledError``."""
        self._over.set()

    async def pause(self, seconds: float) -> None:
        """Sleep for *seconds*. Raises ``CancelledError`` once ``end`` has been called."""
        sleeping, over = asyncio.ensure_future(self._policy.sleep(seconds)), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait([sleeping, over], return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            over.cancel()
        if self._over.is_set():
            raise asyncio.CancelledError

    def polls(self, unsettled: Callable[[Any], bool]) -> AsyncRetrying:
        """Return tries at growing intervals, as long as *unsettled* is true of their result."""
        interval = wait_exponential(self._policy.first_poll_s, max=self._policy.longest_poll_s, exp_base=self._policy.growth)
        return AsyncRetrying(retry=retry_if_result(unsettled), wait=interval, sleep=self.pause)

    async def persist(self, work: Callable[[], Awaitable[T]], *, while_unavailable: float = math.inf) -> T:
        """Run *work* and retry it on transient errors: the batch goes on at the provider meanwhile.

        The waits grow, and are at least the server's Retry-After. A ``ProviderUnavailable`` is raised at try number *while_unavailable*.
        """

        def again(state: RetryCallState) -> bool:
            error = error_of(state)
            return isinstance(error, RateLimited) or (isinstance(error, ProviderUnavailable) and state.attempt_number < while_unavailable)

        def wait(state: RetryCallState) -> float:
            backoff: float = min(self._policy.longest_poll_s, self._policy.first_poll_s * 2 ** min(state.attempt_number - 1, 20))
            return max(getattr(error_of(state), "retry_after", None) or 0.0, backoff)

        return await AsyncRetrying(retry=again, wait=wait, sleep=self.pause, reraise=True)(awaited, work)


async def cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel *tasks* and wait until they have ended; their errors are ignored."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


# Allowance for what surrounds the requests of a batch (brackets, form headers), which takes far less.
_WRAPPING_BYTES = 4096
# Requests built before yielding to the event loop: each takes a fraction of a millisecond, but there may be fifty thousand.
_BETWEEN_TURNS = 50


def new_batch_id() -> str:
    """Return a unique batch id, for the store and the provider. The custom ids of its requests start with it."""
    return f"piiloom-{uuid.uuid4().hex[:20]}"


@dataclass(slots=True, kw_only=True)
class Package:
    """The requests of one batch and their entries, by custom id. ``refused`` are entries that no batch can hold; ``size`` is in bytes."""

    batch_id: str = field(default_factory=new_batch_id)
    entries: dict[str, BatchEntry] = field(default_factory=dict)
    requests: list[BatchRequest] = field(default_factory=list)
    refused: list[tuple[BatchEntry, ProviderError]] = field(default_factory=list)
    size: int = _WRAPPING_BYTES

    def row(self, api: BatchApi, run_id: str) -> BatchRow:
        """Build the row of the batch before it is sent to the provider."""
        return BatchRow(
            id=self.batch_id,
            run_id=run_id,
            provider=api.name,
            endpoint=api.endpoint,
            model=api.model,
            remote_id=None,
            state="preparing",
            requests=len(self.entries),
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )


class Packer:
    """Packs entries into batches for *api*. ``most`` is the maximum number of requests per batch, at first what the API allows."""

    def __init__(self, api: BatchApi) -> None:
        self.most = api.limits.requests
        self._api = api

    def shrink(self, refused: int) -> None:
        """Make batches half as large as one of *refused* requests, which was too large for the account's queue."""
        self.most = max(1, refused // 2)

    def grow(self) -> None:
        """Make batches twice as large again, up to what the API allows."""
        self.most = min(self._api.limits.requests, 2 * self.most)

    async def packed(self, parked: dict[str, BatchEntry]) -> AsyncGenerator[Package, None]:
        """Yield packages until *parked* is empty, removing its entries. Each is built only when the one before it has been handled."""
        package = Package()
        for number, key in enumerate(list(parked)):
            if number % _BETWEEN_TURNS == 0:
                await asyncio.sleep(0)
            entry = parked.get(key)
            if entry is None:  # withdrawn in the meantime
                continue
            try:
                request, size = self._request(package, entry)
            except ProviderError as error:
                del parked[key]
                package.refused.append((entry, error))
                continue
            if package.entries and (len(package.entries) >= self.most or package.size + size > self._api.limits.bytes):
                yield package
                package = Package()
                if parked.get(key) is not entry:
                    continue
                request, size = self._request(package, entry)
            del parked[key]
            package.entries[request.custom_id] = entry
            package.requests.append(request)
            package.size += size
        if package.entries or package.refused:
            yield package

    def _request(self, package: Package, entry: BatchEntry) -> tuple[BatchRequest, int]:
        """Return the request of *entry* in *package* and its size in bytes. Raises ``InvalidRequest`` if no batch can hold it."""
        assert entry.request is not None  # noqa: S101 - only calls of this session are parked
        try:
            body = self._api.body(entry.request.call, entry.request.messages)
            request = BatchRequest(custom_id=custom_id(package.batch_id, len(package.entries)), body=body)
            size = self._api.size(request)
        except ValueError:  # such as a lone surrogate; not chained, since this error would quote the prompt
            raise InvalidRequest(f"{self._api.name}: the prompt cannot be written as JSON", where=self._api.endpoint) from None
        if size + _WRAPPING_BYTES > self._api.limits.bytes:
            raise InvalidRequest(f"{self._api.name}: the request is larger than a whole batch may be", where=self._api.endpoint)
        return request, size


# Clocks differ, so the search for our batch goes back this far before its row was written.
_CLOCK_MARGIN = timedelta(hours=1)
# Answers written in one commit: a commit costs a few milliseconds, however many answers it has.
_TOGETHER = 500


class QueueFull(Exception):
    """The account has too many requests queued at the provider for this batch; none of it was processed."""


class BatchJob:
    """One batch and its entries, by the custom ids of their requests.

    ``known`` returns the provider's ids of all batches in the store. ``remote`` is the batch as last seen. ``handed_over`` is set
    when the next batch need not wait for this one any more.
    """

    def __init__(
        self,
        api: BatchApi,
        ledger: BatchLedger,
        policy: BatchPolicy,
        row: BatchRow,
        entries: Mapping[str, BatchEntry],
        *,
        known: Callable[[], Awaitable[Collection[str]]],
    ) -> None:
        self.row, self.entries = row, dict(entries)
        self.remote: RemoteBatch | None = None
        self.handed_over = asyncio.Event()
        self._api, self._ledger, self._policy, self._known = api, ledger, policy, known
        self._backoff = BatchBackoff(policy)
        self._handing: asyncio.Future[None] | None = None

    async def send(self, requests: Sequence[BatchRequest]) -> None:
        """Record the batch and create it at the provider. Raises the ``ProviderError`` of a failed creation.

        Cancelling the task does not interrupt the creation; ``close`` waits for it.
        """
        try:
            await self._ledger.note_sending(self.row, self.entries)
            self._handing = asyncio.ensure_future(self._hand_over(requests))
            await asyncio.shield(self._handing)
        finally:
            self.handed_over.set()

    async def answers(self) -> list[BatchEntry]:
        """Wait for the batch to end, record its answers and resolve their entries. Return the entries to be sent again.

        Raises ``QueueFull`` or the ``ProviderError`` with which the provider refused the whole batch, another non-transient
        ``ProviderError`` of polling, and ``RunError`` if the provider does not know the batch.
        """
        if self.row.remote_id is None and not await self._found_again():
            return list(self.entries.values())
        remote = await self._ended()
        if remote.fault is not None:
            return await self._refused(remote.fault)
        return await self._collected(remote)

    async def close(self) -> None:
        """Wait for a creation that is in progress, without further tries. Everything else can be cancelled at any point."""
        self._backoff.end()
        if self._handing is not None:
            await asyncio.wait([self._handing])

    async def cancel(self) -> bool:
        """Ask the provider to end the batch early; return False if it never got there.

        ``answers`` then collects what was done by then. Raises ``RunError`` if the provider does not know the batch.
        """
        if self.row.remote_id is None and not await self._found_again():
            return False
        assert self.row.remote_id is not None  # noqa: S101 - set by _found_again
        remote_id = self.row.remote_id
        try:
            self.remote = await self._backoff.persist(lambda: self._api.cancel(remote_id))
        except BatchUnknown as error:
            unknown = self._unknown(error)
        else:
            return True
        raise unknown

    @property
    def came_to_nothing(self) -> bool:
        """Whether the batch has failed: it has no answers and will have none."""
        return self.row.state == "failed"

    async def _hand_over(self, requests: Sequence[BatchRequest]) -> None:
        try:
            made = await self._made(requests)
        except TRANSIENT:
            raise  # the row stays "preparing": the run searches for the batch when it is resumed
        except ProviderError as error:
            await self._note("failed", detail=str(error))
            raise
        await self._note("submitted", remote_id=made.id)
        self.remote = made

    async def _made(self, requests: Sequence[BatchRequest]) -> RemoteBatch:
        """Create the batch. After an unclear failure, search for it before the next try, since the request may have arrived."""
        uncertain = False

        async def create() -> RemoteBatch:
            nonlocal uncertain
            if uncertain and (found := await self._search(self._look_for)) is not None:
                return found
            try:
                return await self._api.create(self.row.id, requests)
            except ProviderUnavailable:
                uncertain = True
                raise

        return await self._backoff.persist(create, while_unavailable=self._policy.creates)

    async def _found_again(self) -> bool:
        """Search for a batch that was being created when its process ended; return whether the provider has it."""
        found = await self._search(lambda: self._backoff.persist(self._look_for))
        if found is None:
            await self._note("failed", detail="it never reached the provider")
            return False
        await self._note("submitted", remote_id=found.id)
        return True

    async def _search(self, look: Callable[[], Awaitable[Sighting]]) -> RemoteBatch | None:
        """Search for the batch by our own id; wait as long as some batches at the provider cannot be told apart from it yet."""
        self.handed_over.set()  # this may take hours; the next batch does not wait for it
        seen: Sighting = await self._backoff.polls(lambda seen: seen.batch is None and seen.unsure > 0)(awaited, look)
        return seen.batch

    async def _look_for(self) -> Sighting:
        since = datetime.fromisoformat(self.row.created_at) - _CLOCK_MARGIN
        return await self._api.find(self.row.id, requests=self.row.requests, since=since, known=await self._known())

    async def _ended(self) -> RemoteBatch:
        """Poll the batch, at growing intervals, until it has ended."""
        assert self.row.remote_id is not None  # noqa: S101 - ensured by the caller
        remote_id = self.row.remote_id
        known = [] if self.remote is None else [self.remote]  # in a new session it is looked up at once: it may have ended long ago

        async def look() -> RemoteBatch:
            self.remote = known.pop() if known else await self._backoff.persist(lambda: self._api.look_up(remote_id))
            return self.remote

        try:
            return await self._backoff.polls(lambda seen: seen.state == "working")(look)
        except BatchUnknown as error:
            raise self._unknown(error) from None

    def _unknown(self, error: BatchUnknown) -> RunError:
        remedy = "Use the key and the base URL that it was made with, or give the batch up: piiloom batch cancel --forget"
        return RunError(f"{error.message}, but batch {self.row.id} was made there", where=self._api.endpoint, remedy=remedy)

    async def _refused(self, fault: BatchFault) -> list[BatchEntry]:
        """Handle a batch that the provider accepted and then refused as a whole: nothing was answered or billed.

        If the fault names lines, fail their entries and return the others. Otherwise raise ``QueueFull`` or the fault's error.
        """
        await self._note("failed", detail=str(fault.error))
        entries = list(self.entries.values())
        for entry in entries:
            entry.tries -= 1  # it was not processed, so it does not count as sent
        if fault.queue_full:
            raise QueueFull
        if isinstance(fault.error, ENDS_RUN) or not fault.lines:
            raise fault.error
        # Invalid requests must not affect the others, which go into the next batch.
        outcomes, left = Outcomes(), []
        for line, entry in enumerate(entries, 1):
            if line in fault.lines:
                outcomes.failed(entry, InvalidRequest(fault.error.message, where=fault.error.where), final=True)
            else:
                left.append(entry)
        await self._ledger.note_outcomes(outcomes)
        return left

    async def _collected(self, remote: RemoteBatch) -> list[BatchEntry]:
        await self._note("ended")
        waiting, outcomes, left = dict(self.entries), Outcomes(), list[BatchEntry]()
        latency = (datetime.now(UTC) - datetime.fromisoformat(self.row.created_at)).total_seconds()
        state: BatchState = "cancelled" if remote.cancelled else "collected"
        detail, lost = "", not remote.cut_short
        try:
            await self._backoff.persist(lambda: self._read_all(remote, waiting, outcomes, left, latency))
        except BatchUnknown as error:
            # The provider deletes results after a month. They were paid for, and their cost can no longer be known.
            state, detail, lost = "failed", str(error), True
        for entry in waiting.values():
            self._note_failure(
                entry, ProviderUnavailable(f"{self._api.name}: the batch has no result for it", maybe_billed=lost), outcomes, left
            )
        await self._ledger.note_outcomes(outcomes)
        await self._note(state, detail=detail)
        return left

    async def _read_all(
        self, remote: RemoteBatch, waiting: dict[str, BatchEntry], outcomes: Outcomes, left: list[BatchEntry], latency_s: float
    ) -> None:
        """Record each result and remove its entry from *waiting*. If reading breaks off, calling this again handles the remaining ones."""
        async with aclosing(self._api.results(remote)) as results:
            async for result in results:
                entry = waiting.pop(result.custom_id, None)
                if entry is None:
                    continue
                try:
                    call = entry.request.call if entry.request is not None else None
                    completion = self._api.read(result, call, latency_s=latency_s)
                    outcomes.answered(entry, replace(completion, retries=max(0, entry.tries - 1)))
                except ReplyRejected as error:
                    error.completion = replace(error.completion, retries=max(0, entry.tries - 1))
                    outcomes.answered(entry, error.completion, error)
                except ProviderError as error:
                    self._note_failure(entry, error, outcomes, left)
                if len(outcomes) >= _TOGETHER and waiting:  # the last answers may end the run: the batch's own row is due at once
                    await self._ledger.note_outcomes(outcomes)

    def _note_failure(self, entry: BatchEntry, error: ProviderError, outcomes: Outcomes, left: list[BatchEntry]) -> None:
        again = isinstance(error, TRANSIENT) and entry.tries < self._policy.sends
        if isinstance(error, TRANSIENT) and not again:
            error.message = f"{error.message} (sent {entry.tries} times)"
        outcomes.failed(entry, error, final=not again)
        if again:
            left.append(entry)

    async def _note(self, state: BatchState, *, detail: str = "", remote_id: str | None = None) -> None:
        self.row = replace(self.row, state=state, detail=detail, remote_id=remote_id or self.row.remote_id)
        await self._ledger.note(self.row)


# Shorter polling intervals, since a cancelled batch ends soon.
_SOON = BatchPolicy(first_poll_s=1.0, longest_poll_s=20.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How a batch ended: its row now, the number of its open requests (``owed``), and how many of them were answered.

    ``cost_usd`` is what the answers cost (None: no price known). ``charged_usd`` is charged for requests that may have been billed
    although no answer was received.
    """

    row: BatchRow
    owed: int
    answered: int = 0
    cost_usd: float | None = 0.0
    charged_usd: float = 0.0

    def to_json(self) -> dict[str, object]:
        """Return the row and the counts as JSON values."""
        counts = {"owed": self.owed, "answered": self.answered}
        return asdict(self.row) | counts | {"cost_usd": self.cost_usd, "charged_usd": self.charged_usd}


async def cancel_batches(
    provider: Provider,
    api: BatchApi,
    committer: GroupCommitter,
    batches: Sequence[OpenBatch],
    *,
    policy: BatchPolicy | None = None,
    watch: Callable[[Settled], object] = noop,
) -> list[Settled]:
    """Cancel *batches*, all of one run, wait until they have ended, and store the answers they had. Calls *watch* after each.

    Raises the first error after all batches have been handled; a batch that could not be cancelled keeps its state.
    """

    async def end(batch: OpenBatch) -> Settled:
        totals = CallTotals()
        ledger = BatchLedger(provider, committer, totals, batch.row.run_id)
        entries = {owed.row.custom_id: entry_owed(owed, None) for owed in batch.owed}
        job = BatchJob(api, ledger, policy or _SOON, batch.row, entries, known=ledger.known_ids)
        await _ended(job)
        cost = None if totals.unpriced else totals.cost_usd
        settled = Settled(row=job.row, owed=len(entries), answered=totals.answered, cost_usd=cost, charged_usd=totals.charged_usd)
        watch(settled)
        return settled

    found = await asyncio.gather(*(end(batch) for batch in batches), return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if isinstance(one, Settled)]


async def _ended(job: BatchJob) -> None:
    """Cancel a batch and collect its answers."""
    if await job.cancel():
        try:
            await job.answers()
        except (ProviderError, QueueFull):
            if not job.came_to_nothing:
                raise


def forget_batches(committer: GroupCommitter, batches: Sequence[OpenBatch]) -> list[Settled]:
    """Give *batches* up without contacting their provider; the worst case of each open request is charged, once."""
    rows = Batch()
    settled = []
    message = "its batch was given up; it may have been paid for"
    for batch in batches:
        row = replace(batch.row, state="failed", detail="it was given up; what it may have cost is charged in full")
        rows.batches.append(row)
        for owed in batch.owed:
            entry = failure_entry(owed.tries, "interrupted", message, charge_usd=owed.row.worst_usd or 0.0, maybe_billed=True, final=False)
            what = owed.row
            rows.calls.append(
                CallEvent(key=what.key, kind="failed", stage=what.stage, item_id=what.item_id, attempt=what.attempt, entry=entry)
            )
        charged = sum(owed.row.worst_usd or 0.0 for owed in batch.owed)
        settled.append(Settled(row=row, owed=len(batch.owed), charged_usd=charged))
    committer.put(rows)
    return settled
