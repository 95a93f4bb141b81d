"""The rate limiter that all paid calls of a process pass: one for each account and model.

It combines requests and tokens per minute (``rate_buckets``), the number of calls in flight, which adapts to the server
(``adaptive``), and a pause for all calls when the server sends ``Retry-After`` (``retry_after_pause``). Calls start in the order in which
they asked, so that small ones do not pass a large one forever.

Everything runs in the thread of one event loop. Nothing polls: a waiting call is woken when another one ends, or by one timer
set to the time at which the first in the queue may start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import isfinite
from types import TracebackType
from typing import Self

from piiloom.execution.limits.admission_policy import Admission, AdmissionPolicy
from piiloom.execution.limits.admission_queue import AdmissionQueue
from piiloom.providers.rate_headers import RateReport


@dataclass(frozen=True, slots=True, kw_only=True)
class LimiterState:
    """State of a limiter at one moment. ``limit`` is how many calls may be in flight; ``refused`` counts refusals so far."""

    limit: int
    in_flight: int
    waiting: int
    rpm: float | None
    tpm: float | None
    braking_for_s: float
    refused: int


class Slot:
    """A permit for one call: entering waits until the call may start, and reporting its outcome frees the place.

    Only the first reported outcome counts. Leaving the block without one counts as ``failed``.
    """

    __slots__ = ("_admission", "_clock", "_open", "_policy", "_queue")

    def __init__(self, policy: AdmissionPolicy, queue: AdmissionQueue, clock: Callable[[], float], admission: Admission) -> None:
        self._policy, self._queue, self._clock, self._admission = policy, queue, clock, admission
        self._open = False

    async def __aenter__(self) -> Self:
        await self._queue.pass_through(self._admission)
        self._open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.failed()

    def answered(self, *, tokens: int | None, latency_s: float, stage: str) -> None:
        """Report an answer after *latency_s* seconds that took *tokens* in all (None: not known)."""
        if self._open:
            self._policy.answered(self._admission, self._clock(), tokens, latency_s, stage)
            self._close()

    def refused(self, *, retry_after: float | None) -> None:
        """Report a refusal (429, or 503 and 529: overloaded); *retry_after* is the requested wait in seconds, if any."""
        if self._open:
            self._policy.refused(self._admission, self._clock(), retry_after)
            self._close()

    def failed(self, *, timed_out: bool = False) -> None:
        """Report any other end. It says nothing about limits, unless the answer did not come in time (*timed_out*)."""
        if self._open:
            self._policy.failed(self._admission, self._clock(), timed_out=timed_out)
            self._close()

    def release(self) -> None:
        """Give the place and its share of the rates back, for a call of which nothing was sent."""
        if self._open:
            self._policy.withdraw(self._admission)
            self._close()

    def _close(self) -> None:
        self._open = False
        self._queue.admit_ready()


class Limiter:
    """Decides when calls may start.

    At most *concurrency* calls are in flight (fewer if the server takes fewer), within *rpm* requests and *tpm* tokens per minute, as
    declared or as told by response headers, whichever is lower. *clock* and *sleep* can be replaced together, for tests. Raises
    ``ValueError`` for a *concurrency* below 1 or a rate that is not a finite number above 0.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency is {concurrency}; at least one call must be able to start")
        for name, rate in (("rpm", rpm), ("tpm", tpm)):
            if rate is not None and not (isfinite(rate) and rate > 0):
                raise ValueError(f"{name} is {rate}; a rate per minute is a number above 0")
        self._clock = clock
        self._policy = AdmissionPolicy(concurrency=concurrency, rpm=rpm, tpm=tpm)
        self._queue = AdmissionQueue(self._policy, clock, sleep)

    def slot(self, tokens: int, stage: str = "") -> Slot:
        """Return a permit for one call of about *tokens* tokens (input and output); ``async with`` waits until it may start.

        With *stage*, the estimate is corrected by the real usage of that stage's calls so far.
        """
        return Slot(self._policy, self._queue, self._clock, Admission(tokens, stage))

    def observe(self, rates: RateReport) -> None:
        """Apply the rate limits that a response's headers declare."""
        now, policy = self._clock(), self._policy
        policy.requests.observe(rates.limit_requests, rates.remaining_requests, rates.reset_requests_s, now)
        policy.tokens.observe(rates.limit_tokens, rates.remaining_tokens, rates.reset_tokens_s, now)
        self._queue.admit_ready()

    def snapshot(self) -> LimiterState:
        """Return the present state."""
        now, policy = self._clock(), self._policy
        return LimiterState(
            limit=policy.adaptive.limit(now),
            in_flight=policy.adaptive.in_flight,
            waiting=self._queue.waiting,
            rpm=policy.requests.limit,
            tpm=policy.tokens.limit,
            braking_for_s=policy.pause.left_s(now),
            refused=policy.refused_count,
        )
