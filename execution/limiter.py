"""The limiter that all paid calls of a process pass: one for each account and model.

It joins three things. Rates per minute, of requests and tokens (``rate_buckets``); the number of calls in flight, which
adapts to the server (``adaptive``); and one brake for all, which the server pulls with ``Retry-After``. Calls start in the
order in which they asked: a large one is not overtaken for ever by small ones.

Everything here runs in the thread of one event loop. Nothing polls: whoever waits is woken by a call that ends, or by one
timer set to the moment at which the first in line may start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import isfinite
from types import TracebackType
from typing import Self

from execution.adaptive import AdaptiveLimit, Start
from execution.brakes import Brake
from execution.rate_buckets import Cell, RateBucket
from execution.token_ratios import TokenRatios
from execution.turnstile import Turnstile
from providers.rate_headers import RateReport

# A wait this long speaks of an exhausted rate; a server with too many calls at once asks for less.
_RATE_WAIT_S, _RATE_WAIT_ROUND_TRIPS = 2.0, 10.0
# Refused without a word on how long, and nothing in flight to wait for: back off by ourselves.
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.1, 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LimiterState:
    """What a limiter does at a moment. ``limit`` is the number of calls that may be in flight now."""

    limit: int
    in_flight: int
    waiting: int
    rpm: float | None
    tpm: float | None
    braking_for_s: float
    refused: int


@dataclass(slots=True)
class Admission:
    """A call that passes the limiter: what was estimated for it, and what it took when it started."""

    estimated: int
    stage: str
    reserved: float = 0.0
    start: Start | None = None
    requests: Cell | None = None
    tokens: Cell | None = None


class Slot:
    """A call's place: entered when it may start, and free again as soon as its outcome is told.

    The first outcome told counts; leaving the block without one means ``failed``.
    """

    __slots__ = ("_admission", "_limiter", "_open")

    def __init__(self, limiter: Limiter, admission: Admission) -> None:
        self._limiter, self._admission, self._open = limiter, admission, False

    async def __aenter__(self) -> Self:
        await self._limiter.turnstile.pass_through(self._admission)
        self._open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.failed()

    def answered(self, *, tokens: int | None, latency_s: float, stage: str) -> None:
        """The server answered after *latency_s*; the call took *tokens* (None: not known)."""
        if self._close():
            self._limiter.answered(self._admission, tokens, latency_s, stage)

    def refused(self, *, retry_after: float | None) -> None:
        """The server did not take the call (429, or 503 and 529: overloaded) and may have said for how long."""
        if self._close():
            self._limiter.refused(self._admission, retry_after)

    def failed(self) -> None:
        """Anything else: says nothing about limits."""
        if self._close():
            self._limiter.failed(self._admission)

    def _close(self) -> bool:
        was_open, self._open = self._open, False
        return was_open


class Limiter:
    """Says when a call may start.

    At most *concurrency* calls are in flight (fewer where the server takes fewer), and within *rpm* and *tpm*, as declared
    or as response headers tell, whichever is lower. *clock* and *sleep* are there to be replaced together.
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
        self._adaptive = AdaptiveLimit(concurrency)
        self._requests, self._tokens = RateBucket(rpm), RateBucket(tpm)
        self._ratios = TokenRatios()
        self._brake = Brake()
        self._refused_in_a_row = 0
        # Refusals of calls that were under way together are one event: before which refusal, was it about the rate, and
        # how many calls that started since were answered.
        self._event, self._event_is_rate, self._answered_since = -1, False, 0
        self.turnstile: Turnstile[Admission] = Turnstile(self, clock, sleep)

    def slot(self, tokens: int, stage: str = "") -> Slot:
        """A place for one call that is estimated to take *tokens*; ``async with`` waits until it may start.

        With *stage*, the estimate is corrected by what calls of that stage were seen to take.
        """
        return Slot(self, Admission(tokens, stage))

    def brake(self, seconds: float) -> None:
        """Nobody starts for *seconds*, on whichever task."""
        now = self._clock()
        self._brake.pull(seconds, now, calls=self._adaptive.limit(now), round_trip_s=self._adaptive.round_trip_s)

    def observe(self, rates: RateReport) -> None:
        """Take over what the headers of a response declare."""
        now = self._clock()
        self._requests.observe(rates.limit_requests, rates.remaining_requests, rates.reset_requests_s, now)
        self._tokens.observe(rates.limit_tokens, rates.remaining_tokens, rates.reset_tokens_s, now)
        self.turnstile.look()

    def snapshot(self) -> LimiterState:
        """What the limiter does now."""
        now = self._clock()
        return LimiterState(
            limit=self._adaptive.limit(now),
            in_flight=self._adaptive.in_flight,
            waiting=self.turnstile.waiting,
            rpm=self._requests.limit,
            tpm=self._tokens.limit,
            braking_for_s=self._brake.left_s(now),
            refused=self._adaptive.refused_count,
        )

    def ready_at(self, who: Admission, now: float) -> float:
        """When *who* may start, as things stand (asked by the turnstile)."""
        at = max(self._brake.ready_at(now), self._adaptive.opens_at(now))
        if at > now:
            return at
        who.reserved = self._ratios.corrected(who.estimated, who.stage)
        return max(self._requests.ready_at(1.0, now), self._tokens.ready_at(who.reserved, now))

    def admit(self, who: Admission, now: float) -> None:
        """*who* starts."""
        self._brake.started(now)
        who.start = self._adaptive.start(now)
        who.requests = self._requests.take(1.0, now)
        who.tokens = self._tokens.take(who.reserved, now)

    def withdraw(self, who: Admission, now: float) -> None:
        """*who* was admitted and cancelled before anything was sent."""
        start, requests, tokens = _taken(who)
        self._adaptive.failed(start, now)
        self._requests.settle(requests, -1.0)
        self._tokens.settle(tokens, -who.reserved)

    def answered(self, who: Admission, tokens: int | None, latency_s: float, stage: str) -> None:
        """See ``Slot.answered``."""
        start, requests, cell = _taken(who)
        self._refused_in_a_row = 0
        self._answered_since += start.refused_before > self._event
        self._requests.settle(requests, 0.0)
        if tokens is None:
            self._tokens.settle(cell, 0.0)
        else:
            self._ratios.learn(who.estimated, tokens, stage)
            self._tokens.settle(cell, tokens - who.reserved, learn=True)
        self._adaptive.answered(start, self._clock(), stage, latency_s)
        self.turnstile.look()

    def refused(self, who: Admission, retry_after: float | None) -> None:
        """See ``Slot.refused``."""
        start, requests, tokens = _taken(who)
        now = self._clock()
        # Servers count refused requests, but no tokens for them.
        self._requests.settle(requests, 0.0)
        self._tokens.settle(tokens, -who.reserved)
        wait = max(0.0, retry_after or 0.0)
        tight = [bucket for bucket in (self._requests, self._tokens) if bucket.is_tight(now)]
        for bucket in tight:
            bucket.be_stricter(now)
        if tight or self._says_rate(start, wait):
            self._adaptive.refused_for_rate(start, now)
        else:
            self._adaptive.refused(start, now, wait)
        self._refused_in_a_row += 1
        if not wait and (tight or not self._adaptive.in_flight):
            wait = min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2.0 ** min(self._refused_in_a_row, 20))
        self.brake(wait)
        self.turnstile.look()

    def failed(self, who: Admission) -> None:
        """See ``Slot.failed``."""
        start, requests, tokens = _taken(who)
        self._requests.settle(requests, 0.0)
        self._tokens.settle(tokens, 0.0)  # may have been worked on: stays charged
        self._adaptive.failed(start, self._clock())
        self.turnstile.look()

    def _says_rate(self, start: Start, wait_s: float) -> bool:
        """Whether a wait this long means an exhausted rate. Not when hardly anything was answered since the last one."""
        if start.refused_before > self._event:
            long = wait_s >= max(_RATE_WAIT_S, _RATE_WAIT_ROUND_TRIPS * self._adaptive.round_trip_s)
            self._event_is_rate = long and self._answered_since > self._adaptive.in_flight
            self._event, self._answered_since = self._adaptive.refused_count, 0
        return self._event_is_rate


def _taken(who: Admission) -> tuple[Start, Cell, Cell]:
    if who.start is None or who.requests is None or who.tokens is None:
        raise RuntimeError("a slot was used before it was entered")
    return who.start, who.requests, who.tokens
