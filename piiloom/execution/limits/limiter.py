"""The rate limiter that all paid calls of a process pass: one for each account and model.

It combines requests and tokens per minute (``rate_buckets``), the number of calls in flight, which adapts to the server
(``adaptive``), and a pause for all calls when the server sends ``Retry-After``. ``AdmissionPolicy`` asks each condition when a call may
start and reports to each how it ended. Calls start in the order in which they asked, so that small ones do not pass a large one forever.

Everything runs in the thread of one event loop. Nothing polls: a waiting call is woken when another one ends, or by one timer
set to the time at which the first in the queue may start.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf, isfinite
from types import TracebackType
from typing import Any, Self

from piiloom.execution.limits.adaptive import AdaptiveLimit, Start
from piiloom.execution.limits.rate_buckets import BucketCell, RateBucket, RetryAfterPause, TokenRatios
from piiloom.providers.rate_headers import RateReport

# Own back-off, for refusals without Retry-After when a rate is exhausted or no call is in flight.
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.1, 30.0


@dataclass(slots=True)
class Admission:
    """A call that wants to start: its estimated tokens, and what it occupies once it has started."""

    estimated: int
    stage: str
    reserved: float = 0.0
    start: Start | None = None
    requests: BucketCell | None = None
    tokens: BucketCell | None = None


class AdmissionPolicy:
    """Decides when calls start (``Limiter`` asks it) and adapts to how they end."""

    def __init__(self, *, concurrency: int, rpm: float | None, tpm: float | None) -> None:
        self.adaptive = AdaptiveLimit(concurrency)
        self.requests, self.tokens = RateBucket(rpm), RateBucket(tpm)
        self.pause = RetryAfterPause()
        self.refused_count = 0
        self._ratios = TokenRatios()
        self._refused_in_a_row = 0

    def ready_at(self, who: Admission, now: float) -> float:
        """Return when *who* may start: *now*, later, or ``inf``: not before a change. Also sets the tokens that it would reserve."""
        at = max(self.pause.ready_at(now), self.adaptive.opens_at(now))
        if at > now:
            return at
        who.reserved = self._ratios.corrected(who.estimated, who.stage)
        return max(self.requests.ready_at(1.0, now), self.tokens.ready_at(who.reserved, now))

    def admit(self, who: Admission, now: float) -> None:
        """Start *who*: occupy a place and charge the request and its tokens."""
        self.pause.started(now)
        who.start = self.adaptive.start(now)
        who.requests = self.requests.take(1.0, now)
        who.tokens = self.tokens.take(who.reserved, now)

    def withdraw(self, who: Admission) -> None:
        """Undo ``admit`` for a call that was cancelled before anything was sent."""
        start, requests, tokens = _taken(who)
        self.requests.settle(requests, -1.0)
        self.tokens.settle(tokens, -who.reserved)
        self.adaptive.failed(start)

    def answered(self, who: Admission, now: float, tokens: int | None, latency_s: float, stage: str) -> None:
        """End *who*, which was answered after *latency_s*, and correct its charge to *tokens* (None: not known)."""
        start, request_cell, token_cell = _taken(who)
        self._refused_in_a_row = 0
        self.requests.settle(request_cell, 0.0)
        if tokens is None:
            self.tokens.settle(token_cell, 0.0)
        else:
            self._ratios.learn(who.estimated, tokens, stage)
            self.tokens.settle(token_cell, tokens - who.reserved, learn=True)
        self.adaptive.answered(start, now, latency_s)

    def failed(self, who: Admission, now: float, *, timed_out: bool) -> None:
        """End *who*, which got no answer. The server may have worked on it, so its tokens stay charged.

        *timed_out*: the answer did not come in time, as from a server that queues more calls than it works on. Fewer are sent then.
        """
        start, request_cell, token_cell = _taken(who)
        self.requests.settle(request_cell, 0.0)
        self.tokens.settle(token_cell, 0.0)
        if timed_out:
            self.adaptive.refused(start, now, 0.0)
        else:
            self.adaptive.failed(start)

    def refused(self, who: Admission, now: float, retry_after: float | None) -> None:
        """End *who*, which the server refused; *retry_after* is the requested wait in seconds, if any.

        Lowers the concurrency, unless a rate per minute is nearly used up and so the likely cause, and pauses all calls.
        """
        start, request_cell, token_cell = _taken(who)
        self.refused_count += 1
        # Servers count refused requests, but no tokens for them.
        self.requests.settle(request_cell, 0.0)
        self.tokens.settle(token_cell, -who.reserved)
        wait = max(0.0, retry_after or 0.0)
        tight = self.requests.is_tight(now) or self.tokens.is_tight(now)
        if tight:
            self.adaptive.refused_for_rate(start)
        else:
            self.adaptive.refused(start, now, wait)
        self._refused_in_a_row += 1
        if not wait and (tight or not self.adaptive.in_flight):
            wait = min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2.0 ** min(self._refused_in_a_row, 20))
        self.pause.begin(wait, now, calls=self.adaptive.limit(now), round_trip_s=self.adaptive.round_trip_s)


def _taken(who: Admission) -> tuple[Start, BucketCell, BucketCell]:
    if who.start is None or who.requests is None or who.tokens is None:
        raise RuntimeError("a slot was used before it was entered")
    return who.start, who.requests, who.tokens


# If the new time is at most this much earlier, the running sleep is kept: the callback checks the clock itself.
_SLACK_S = 0.001
# Minimum sleep; below it, clock rounding would turn waiting into a busy loop.
_SHORTEST_S = 0.0005


class Timer:
    """One-shot timer: calls *expired* at the time last set, or up to 1 ms later. *clock* and *sleep* are injected for tests."""

    def __init__(self, expired: Callable[[], None], clock: Callable[[], float], sleep: Callable[[float], Awaitable[object]]) -> None:
        self._expired, self._clock, self._sleep = expired, clock, sleep
        self._at: float | None = None
        self._waking_at = 0.0
        self._sleeper: asyncio.Task[None] | None = None

    def set(self, at: float) -> None:
        """Expire at *at*, instead of any time set before."""
        self._at = at
        if self._sleeper is not None and not self._sleeper.done():
            if at >= self._waking_at - _SLACK_S:
                return
            self._sleeper.cancel()
        self._waking_at = at
        self._sleeper = asyncio.ensure_future(self._run())

    def clear(self) -> None:
        """Cancel the timer and its task."""
        self._at = None
        if self._sleeper is not None and self._sleeper is not _current_task():
            self._sleeper.cancel()
            self._sleeper = None

    async def _run(self) -> None:
        while self._at is not None:
            delay = self._at - self._clock()
            if delay > 0:
                self._waking_at = self._at
                await self._sleep(max(delay, _SHORTEST_S))
                continue
            self._at = None
            # A time set during the callback is picked up by this loop, so ``set`` need not start a task.
            self._waking_at = float("-inf")
            self._expired()


def _current_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # called from outside a loop
        return None


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


class LimiterSlot:
    """A permit for one call: entering waits until the call may start, and reporting its outcome frees the place.

    Only the first reported outcome counts. Leaving the block without one counts as ``failed``. *enter* waits and returns what is held;
    *ended* is called with that, the name of the outcome and its details.
    """

    __slots__ = ("_ended", "_enter", "_held")

    def __init__(self, enter: Callable[[], Awaitable[object]], ended: Callable[[Any, str, dict[str, Any]], None]) -> None:
        self._enter, self._ended = enter, ended
        self._held: object = None

    async def __aenter__(self) -> Self:
        self._held = await self._enter()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.failed()

    def answered(self, *, tokens: int | None, latency_s: float, stage: str) -> None:
        """Report an answer after *latency_s* seconds that took *tokens* in all (None: not known)."""
        self._end("answered", tokens=tokens, latency_s=latency_s, stage=stage)

    def refused(self, *, retry_after: float | None) -> None:
        """Report a refusal (429, or 503 and 529: overloaded); *retry_after* is the requested wait in seconds, if any."""
        self._end("refused", retry_after=retry_after)

    def failed(self, *, timed_out: bool = False) -> None:
        """Report any other end. It says nothing about limits, unless the answer did not come in time (*timed_out*)."""
        self._end("failed", timed_out=timed_out)

    def release(self) -> None:
        """Give the place and its share of the rates back, for a call of which nothing was sent."""
        self._end("release")

    def _end(self, how: str, **details: Any) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._ended(held, how, details)


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
        self._queue: deque[tuple[Admission, asyncio.Future[None]]] = deque()
        self._waiting = 0
        self._timer = Timer(self._admit_ready, clock, sleep)

    def slot(self, tokens: int, stage: str = "") -> LimiterSlot:
        """Return a permit for one call of about *tokens* tokens (input and output); ``async with`` waits until it may start.

        With *stage*, the estimate is corrected by the real usage of that stage's calls so far.
        """
        who = Admission(tokens, stage)
        return LimiterSlot(lambda: self._admitted(who), self._end)

    def observe(self, rates: RateReport) -> None:
        """Apply the rate limits that a response's headers declare."""
        now, policy = self._clock(), self._policy
        policy.requests.observe(rates.limit_requests, rates.remaining_requests, rates.reset_requests_s, now)
        policy.tokens.observe(rates.limit_tokens, rates.remaining_tokens, rates.reset_tokens_s, now)
        self._admit_ready()

    def snapshot(self) -> LimiterState:
        """Return the present state."""
        now, policy = self._clock(), self._policy
        return LimiterState(
            limit=policy.adaptive.limit(now),
            in_flight=policy.adaptive.in_flight,
            waiting=self._waiting,
            rpm=policy.requests.limit,
            tpm=policy.tokens.limit,
            braking_for_s=policy.pause.left_s(now),
            refused=policy.refused_count,
        )

    async def _admitted(self, who: Admission) -> Admission:
        """Wait until *who* is admitted, in the order of arrival; one that is cancelled leaves the queue and undoes its admission."""
        if not self._queue:
            now = self._clock()
            if self._policy.ready_at(who, now) <= now:
                self._policy.admit(who, now)
                return who
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((who, turn))
        self._waiting += 1
        if len(self._queue) == 1:
            self._admit_ready()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting -= 1
            else:
                self._policy.withdraw(who)
            self._admit_ready()
            raise
        return who

    def _admit_ready(self) -> None:
        """Admit the calls that may start now, and set the timer for the next one."""
        queue = self._queue
        while queue:
            who, turn = queue[0]
            if turn.cancelled():
                queue.popleft()
                continue
            now = self._clock()
            at = self._policy.ready_at(who, now)
            if at > now:
                if at < inf:
                    self._timer.set(at)
                else:
                    self._timer.clear()
                return
            queue.popleft()
            self._waiting -= 1
            self._policy.admit(who, now)
            turn.set_result(None)
        self._timer.clear()

    def _end(self, who: Admission, how: str, details: dict[str, Any]) -> None:
        if how == "release":
            self._policy.withdraw(who)
        else:
            getattr(self._policy, how)(who, self._clock(), **details)
        self._admit_ready()
