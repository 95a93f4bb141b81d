"""One batch, from its rows on disk to its last answer.

What is on disk comes first: the batch and its requests before the provider hears of them ("preparing"), the provider's id
as soon as there is one ("submitted"), each answer before it is used, and "collected" at the end. A process that dies
anywhere in between leaves a row from which another one goes on; a batch whose making had no answer is looked for at the
provider before anything is sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from piiloom.corpus.store.batches import BatchRow, BatchState
from piiloom.execution.batches.asks import Ask, WavePolicy
from piiloom.execution.batches.ledger import BatchLedger, Outcomes
from piiloom.execution.batches.patience import TRANSIENT, Patience
from piiloom.foundation.errors import ProviderError, RunError
from piiloom.providers.batch_api import BatchApi, BatchFault, BatchRequest, BatchUnknown, RemoteBatch, Sighting
from piiloom.providers.errors import ENDS_RUN, InvalidRequest, ProviderUnavailable, RateLimited, ReplyRejected

# Clocks differ: what was made this long before our row was written may still be ours.
_CLOCK_MARGIN = timedelta(hours=1)
# Answers that go to disk together: a commit costs a few milliseconds, however many there are in it.
_TOGETHER = 500


class QueueFull(Exception):
    """The account has too much waiting at the provider to take the batch; nothing of it was sent."""


class BatchJob:
    """One batch and the asks that wait for it, by the ids of their requests.

    ``known`` gives the provider's ids of all batches that the store knows of. ``remote`` is the batch as last seen.
    """

    def __init__(
        self,
        api: BatchApi,
        ledger: BatchLedger,
        policy: WavePolicy,
        row: BatchRow,
        asks: Mapping[str, Ask],
        *,
        known: Callable[[], Awaitable[Collection[str]]],
    ) -> None:
        self.row, self.asks = row, dict(asks)
        self.remote: RemoteBatch | None = None
        self.handed_over = asyncio.Event()
        self._api, self._ledger, self._policy, self._known = api, ledger, policy, known
        self._patience = Patience(policy)
        self._handing: asyncio.Future[None] | None = None

    async def send(self, requests: Sequence[BatchRequest]) -> None:
        """Hand the batch over. Raises ``QueueFull``, or why it was refused; once begun, it is not left half-way."""
        try:
            await self._ledger.note_sending(self.row, self.asks)
            self._handing = asyncio.ensure_future(self._hand_over(requests))
            await asyncio.shield(self._handing)
        finally:
            self.handed_over.set()

    async def answers(self) -> list[Ask]:
        """Wait for the batch to end and hand out what it gave; what is left over is given back, to be sent again."""
        if self.row.remote_id is None and not await self._found_again():
            return list(self.asks.values())
        remote = await self._ended()
        if remote.fault is not None:
            return await self._refused(remote.fault)
        return await self._collected(remote)

    async def close(self) -> None:
        """Let a hand-over that has begun come to its end, without further tries; the rest can be dropped at any point."""
        self._patience.end()
        if self._handing is not None:
            await asyncio.wait([self._handing])

    async def cancel(self) -> bool:
        """Have the provider end the batch early, if it is there; ``answers`` then gives what was done by then."""
        if self.row.remote_id is None and not await self._found_again():
            return False
        assert self.row.remote_id is not None  # noqa: S101 - just found
        remote_id = self.row.remote_id
        try:
            self.remote = await self._patience.persist(lambda: self._api.cancel(remote_id))
        except BatchUnknown as error:
            unknown = self._unknown(error)
        else:
            return True
        raise unknown

    @property
    def came_to_nothing(self) -> bool:
        """Whether nothing of the batch was answered, nor will be."""
        return self.row.state == "failed"

    async def _hand_over(self, requests: Sequence[BatchRequest]) -> None:
        try:
            made = await self._made(requests)
        except TRANSIENT:
            raise  # the row stays "preparing": it is looked for when the run goes on
        except ProviderError as error:
            await self._note("failed", detail=str(error))
            raise
        await self._note("submitted", remote_id=made.id)
        self.remote = made

    async def _made(self, requests: Sequence[BatchRequest]) -> RemoteBatch:
        """Make the batch. After a failure it is looked for first: the request may have arrived all the same."""
        tries, uncertain = 0, False
        while True:
            tries += 1
            try:
                if uncertain and (found := await self._search(self._look_for)) is not None:
                    return found
                return await self._api.create(self.row.id, requests)
            except RateLimited as error:
                failure: RateLimited | ProviderUnavailable = error
            except ProviderUnavailable as error:
                if tries >= self._policy.creates:
                    raise
                failure, uncertain = error, True
            await self._patience.after(failure, tries)

    async def _found_again(self) -> bool:
        """Look for a batch that was about to be made when its process ended; whether it is there."""
        found = await self._search(lambda: self._patience.persist(self._look_for))
        if found is None:
            await self._note("failed", detail="it never reached the provider")
            return False
        await self._note("submitted", remote_id=found.id)
        return True

    async def _search(self, look: Callable[[], Awaitable[Sighting]]) -> RemoteBatch | None:
        """Find the batch by our own id, waiting while there are batches that may turn out to be it."""
        self.handed_over.set()  # this may take hours, and nobody else has to wait for it
        delay = self._policy.first_poll_s
        while True:
            seen = await look()
            if seen.batch is not None or not seen.unsure:
                return seen.batch
            await self._patience.pause(delay)
            delay = self._patience.longer(delay)

    async def _look_for(self) -> Sighting:
        since = datetime.fromisoformat(self.row.created_at) - _CLOCK_MARGIN
        return await self._api.find(self.row.id, requests=self.row.requests, since=since, known=await self._known())

    async def _ended(self) -> RemoteBatch:
        """Look the batch up, less and less often, until it is over."""
        assert self.row.remote_id is not None  # noqa: S101 - the caller has seen to it
        remote_id, delay = self.row.remote_id, self._policy.first_poll_s
        while self.remote is None or self.remote.state == "working":
            if self.remote is not None:  # one of an earlier sitting may have ended long ago
                await self._patience.pause(delay)
                delay = self._patience.longer(delay)
            try:
                self.remote = await self._patience.persist(lambda: self._api.look_up(remote_id))
            except BatchUnknown as error:
                raise self._unknown(error) from None
        return self.remote

    def _unknown(self, error: BatchUnknown) -> RunError:
        remedy = "Use the key and the base URL that it was made with, or give it up by piiloom batch cancel --forget"
        return RunError(f"{error.message}, but batch {self.row.id} was made there", where=self._api.endpoint, remedy=remedy)

    async def _refused(self, fault: BatchFault) -> list[Ask]:
        """The provider took the batch and then refused it as a whole: nothing of it was answered or is billed."""
        await self._note("failed", detail=str(fault.error))
        asks = list(self.asks.values())
        for ask in asks:
            ask.tries -= 1  # it was not really sent
        if fault.queue_full:
            raise QueueFull
        if isinstance(fault.error, ENDS_RUN) or not fault.lines:
            raise fault.error
        # A bad request must not cost its neighbours anything: they go into the next batch.
        outcomes, left = Outcomes(), []
        for line, ask in enumerate(asks, 1):
            if line in fault.lines:
                outcomes.failed(ask, InvalidRequest(fault.error.message, where=fault.error.where), final=True)
            else:
                left.append(ask)
        await self._ledger.note_outcomes(outcomes)
        return left

    async def _collected(self, remote: RemoteBatch) -> list[Ask]:
        await self._note("ended")
        waiting, outcomes, left = dict(self.asks), Outcomes(), list[Ask]()
        latency = (datetime.now(UTC) - datetime.fromisoformat(self.row.created_at)).total_seconds()
        state: BatchState = "cancelled" if remote.cancelled else "collected"
        detail, lost = "", not remote.cut_short
        try:
            await self._patience.persist(lambda: self._read_all(remote, waiting, outcomes, left, latency))
        except BatchUnknown as error:
            # Results are deleted after a month. What was in them was paid for, and nobody can say any more how much it was.
            state, detail, lost = "failed", str(error), True
        for ask in waiting.values():
            self._note_failure(
                ask, ProviderUnavailable(f"{self._api.name}: the batch has no result for it", maybe_billed=lost), outcomes, left
            )
        await self._ledger.note_outcomes(outcomes)
        await self._note(state, detail=detail)
        return left

    async def _read_all(self, remote: RemoteBatch, waiting: dict[str, Ask], outcomes: Outcomes, left: list[Ask], latency_s: float) -> None:
        """Take each result off *waiting*; a second reading, after the first broke off, finds only what is left of it."""
        async with aclosing(self._api.results(remote)) as results:
            async for result in results:
                ask = waiting.pop(result.custom_id, None)
                if ask is None:
                    continue
                try:
                    call = ask.request.call if ask.request is not None else None
                    completion = self._api.read(result, call, latency_s=latency_s)
                    outcomes.answered(ask, replace(completion, retries=max(0, ask.tries - 1)))
                except ReplyRejected as error:
                    error.completion = replace(error.completion, retries=max(0, ask.tries - 1))
                    outcomes.answered(ask, error.completion, error)
                except ProviderError as error:
                    self._note_failure(ask, error, outcomes, left)
                if len(outcomes) >= _TOGETHER:
                    await self._ledger.note_outcomes(outcomes)

    def _note_failure(self, ask: Ask, error: ProviderError, outcomes: Outcomes, left: list[Ask]) -> None:
        again = isinstance(error, TRANSIENT) and ask.tries < self._policy.sends
        if isinstance(error, TRANSIENT) and not again:
            error.message = f"{error.message} (sent {ask.tries} times)"
        outcomes.failed(ask, error, final=not again)
        if again:
            left.append(ask)

    async def _note(self, state: BatchState, *, detail: str = "", remote_id: str | None = None) -> None:
        self.row = replace(self.row, state=state, detail=detail, remote_id=remote_id or self.row.remote_id)
        await self._ledger.note(self.row)
