"""Send single calls live: reserve money, record the request, wait for a limiter slot, store the reply before it is used.

``retrying`` decides what is retried and when. A call that waits for its next try holds no slot. A try that was sent is never
abandoned, since it is paid for: stopping a run waits for the replies still to come (``LiveCalls.drain``).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, NoReturn

from tenacity import AsyncRetrying, retry_if_result

from piiloom.execution.call_entries import (
    CallTotals,
    PromptNotes,
    Request,
    failure_code,
    failure_entry,
    reply_entry,
    sent_entry,
    unsaid_cost,
)
from piiloom.execution.committing import Batch, GroupCommitter
from piiloom.execution.limits.limiter import LimiterSlot
from piiloom.execution.money.budget import Reservation, estimated_tokens, worst_case_usd
from piiloom.execution.retrying import RetryPolicy, last_result
from piiloom.execution.watching.events import Braked, CallAnswered, CallFailed, CallJudged, CallStarted, EventSink
from piiloom.foundation.errors import ProviderError
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import derive_rng
from piiloom.providers.errors import ENDS_RUN, ProviderUnavailable, RateLimited, ReplyRejected
from piiloom.providers.protocol import Completion, Provider

if TYPE_CHECKING:
    from piiloom.execution.shared_limits import CallBudget, CallLimiter

# Calls recorded as sent while they still wait for a slot: one for this many slots, and at least _AHEAD_AT_LEAST.
_SLOTS_A_CALL_AHEAD = 4
_AHEAD_AT_LEAST = 2


@dataclass(slots=True)
class _Try:
    """One try that has a slot. ``worst_usd`` None: the price is unknown. ``first_began``: when the call's first try began."""

    number: int
    worst_usd: float | None
    reservation: Reservation | None
    slot: LimiterSlot
    first_began: float


class LiveCalls:
    """Sends calls to *provider* one by one and retries each as *policy* allows. A ``calls.Sender``."""

    def __init__(
        self,
        provider: Provider,
        committer: GroupCommitter,
        totals: CallTotals,
        *,
        limiter: CallLimiter,
        budget: CallBudget,
        policy: RetryPolicy,
        concurrency: int = 16,
        sink: EventSink = noop,
    ) -> None:
        self._provider, self._committer, self._totals = provider, committer, totals
        self._limiter, self._budget, self._policy, self._sink = limiter, budget, policy, sink
        self._spec = getattr(provider, "spec", None)
        # Jitter only spreads requests in time; no result depends on it.
        self._rng = derive_rng("retry jitter", provider.name, provider.endpoint)
        # One for all calls: tenacity keeps the state of a call in the call, and no callback here suspends.
        self._tries = AsyncRetrying(
            retry=retry_if_result(lambda outcome: isinstance(outcome, float)), wait=last_result, sleep=asyncio.sleep
        )
        self._under_way: set[asyncio.Task[Completion | float]] = set()
        # A request recorded as sent that still waits for a slot has not left, but after a kill this cannot be known and it is charged.
        # So only enough are recorded ahead to keep the slots busy during a commit (about 10 ms).
        self._ahead = asyncio.Semaphore(max(_AHEAD_AT_LEAST, concurrency // _SLOTS_A_CALL_AHEAD))
        self._prompts = PromptNotes()
        self._closing = False
        # The first error that would hit every call (wrong key, unknown model, no credit). Once set, all further calls raise it.
        self._fatal: ProviderError | None = None

    async def complete(self, request: Request) -> Completion:
        """Return the answer to *request*. Raises the last try's ``ProviderError``, or ``BudgetReached`` if a try exceeds the budget."""
        return await self._tries(self._tried, request, time.monotonic(), count(1))

    async def _tried(self, request: Request, began: float, numbers: Iterator[int]) -> Completion | float:
        """Make the next try. Return the answer, or the seconds to wait before another try; raise the error if there is none."""
        exchange = asyncio.ensure_future(self._exchange(request, await self._admitted(request, next(numbers), began)))
        self._under_way.add(exchange)
        exchange.add_done_callback(self._ended)
        return await asyncio.shield(exchange)

    async def drain(self) -> None:
        """Wait for the tries that have been sent; none is retried."""
        self._closing = True
        while self._under_way:
            await asyncio.wait(self._under_way)

    def _ended(self, exchange: asyncio.Task[Completion | float]) -> None:
        self._under_way.discard(exchange)
        if not exchange.cancelled():
            exchange.exception()  # retrieved, to avoid a warning when the caller has been cancelled

    async def _admitted(self, request: Request, number: int, began: float) -> _Try:
        """Reserve the worst-case cost, record the request as sent, and wait for a slot.

        On any error before the slot is held, the reservation is released and a recorded request is marked as not sent.
        """
        worst = worst_case_usd(request.call, request.messages, self._spec, batch=False) if self._spec else None
        reservation = await self._budget.reserve(worst) if worst is not None else None
        recorded = False
        try:
            async with self._ahead:
                self._check_escapable()
                entry = sent_entry(number, worst, datetime.now(UTC))
                batch = Batch()
                if number == 1:
                    entry |= self._prompts.entry(request, batch)
                batch.calls.append(request.event("sent", entry))
                recorded = True
                await self._committer.commit(batch)
                slot = await self._slot(request)
        except BaseException:
            # Nothing has been sent yet.
            if reservation is not None:
                reservation.release()
            if recorded:
                self._note_unsent(request, number)
            raise
        return _Try(number, worst, reservation, slot, began)

    async def _slot(self, request: Request) -> LimiterSlot:
        slot = self._limiter.slot(estimated_tokens(request.call, request.messages), request.call.stage)
        # No ``async with``: the slot is freed when the outcome is reported, in another task and before the reply is on disk.
        await slot.__aenter__()
        try:
            self._check_escapable()
        except ProviderError:
            slot.failed()
            raise
        return slot

    def _check_escapable(self) -> None:
        """Raise the error that would hit every call, once one has occurred."""
        if self._fatal is not None:
            raise self._fatal

    def _note_unsent(self, request: Request, number: int) -> None:
        entry = failure_entry(number, "not_sent", "it was not sent: the run was stopped", charge_usd=0.0, maybe_billed=False, final=False)
        try:
            self._committer.put(Batch(calls=[request.event("failed", entry)]))
        except Exception:  # noqa: BLE001 - the store has failed: that error is on its way already
            return

    async def _exchange(self, request: Request, attempt: _Try) -> Completion | float:
        """Send one try. Return the completion once it is on disk, or the seconds to wait before the next try."""
        call = request.call
        self._sink(CallStarted(call.stage, call.item_id, call.attempt, attempt.number))
        try:
            completion = await self._provider.complete(call)
        except ReplyRejected as error:
            error.completion = replace(error.completion, retries=attempt.number - 1)
            error.retries = attempt.number - 1
            await self._keep(request, attempt, error.completion, f"{failure_code(error)}: {error}")
            self._sink(CallJudged(call.stage, call.item_id, call.attempt, False, failure_code(error)))
            raise
        except ProviderError as error:
            self._leave(attempt, error)
            return self._after_failure(request, attempt, self._policy.settled(error))
        except BaseException:
            attempt.slot.failed()
            if attempt.reservation is not None:
                attempt.reservation.charge_in_full()
            self._sink(CallFailed(call.stage, call.item_id, call.attempt, "interrupted", True))
            raise
        if attempt.number > 1:
            completion = replace(completion, retries=attempt.number - 1)
        await self._keep(request, attempt, completion, None)
        return completion

    async def _keep(self, request: Request, attempt: _Try, completion: Completion, error: str | None) -> None:
        """Free the slot, settle the cost, and write the reply to disk."""
        usage, call, charge = completion.usage, request.call, unsaid_cost(completion, attempt.worst_usd)
        attempt.slot.answered(tokens=usage.input + usage.output or None, latency_s=max(completion.latency_s, 1e-6), stage=call.stage)
        if attempt.reservation is not None:
            attempt.reservation.settle((completion.cost_usd or 0.0) + charge)
        self._totals.count(completion, charge)
        self._sink(
            CallAnswered(
                call.stage,
                call.item_id,
                call.attempt,
                completion.latency_s,
                usage.input,
                usage.cached,
                usage.output,
                completion.cost_usd,
                completion.retries,
            )
        )
        entry = reply_entry(self._provider, request.rendered_sha256, call, attempt.number, completion, error, charge_usd=charge)
        await self._committer.commit(Batch(calls=[request.event("reply", entry)]))

    def _leave(self, attempt: _Try, error: ProviderError) -> None:
        """Free the slot after *error*: as refused for a rate limit or overload, otherwise as failed or timed out.

        A ``Retry-After`` above the policy's ``patience_s`` is not passed on, so it does not stop the other calls.
        """
        wait_s = getattr(error, "retry_after", None)
        if isinstance(error, RateLimited) or (isinstance(error, ProviderUnavailable) and (error.overloaded or wait_s is not None)):
            attempt.slot.refused(retry_after=wait_s if wait_s is None or wait_s <= self._policy.patience_s else None)
            if wait_s:
                self._sink(Braked(wait_s))
        else:
            attempt.slot.failed(timed_out=isinstance(error, ProviderUnavailable) and error.timed_out)

    def _after_failure(self, request: Request, attempt: _Try, error: ProviderError) -> float:
        """Record the failed try and end its reservation, in full if it may have been billed.

        Return the seconds to wait before the next try; raise *error* if there is none.
        """
        call = request.call
        maybe_billed = bool(getattr(error, "maybe_billed", False))
        charge = attempt.worst_usd or 0.0 if maybe_billed else 0.0
        if attempt.reservation is not None:
            if maybe_billed:
                attempt.reservation.charge_in_full()
            else:
                attempt.reservation.release()
        again = self._policy.worth_retrying(error, attempt.number, time.monotonic() - attempt.first_began)
        if isinstance(error, ENDS_RUN):
            self._fatal = error
        code = failure_code(error)
        self._totals.count_failure(charge, maybe_billed=maybe_billed, final=not again)
        entry = failure_entry(attempt.number, code, str(error), charge_usd=charge, maybe_billed=maybe_billed, final=not again)
        self._committer.put(Batch(calls=[request.event("failed", entry)]))
        self._sink(CallFailed(call.stage, call.item_id, call.attempt, code, not again))
        if not again:
            _raise_last(error, attempt.number)
        if self._closing:
            raise error
        # The limiter already holds back all calls for the server's Retry-After, so no extra wait is needed here.
        return 0.0 if getattr(error, "retry_after", None) is not None else self._policy.backoff(attempt.number, self._rng)


def _raise_last(error: ProviderError, number: int) -> NoReturn:
    """Raise *error*, with the number of tries added to its message."""
    error.retries = number - 1
    if isinstance(error, RateLimited | ProviderUnavailable) and number > 1:
        error.message = f"{error.message} (asked {number} times)"
    raise error
