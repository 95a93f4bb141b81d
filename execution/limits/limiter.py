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

from piiloom.execution.limits.gates import Admission, Gates
from piiloom.execution.limits.turnstile import Turnstile
from piiloom.providers.rate_headers import RateReport


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


class Slot:
    """A call's place: entered when it may start, and free again as soon as its outcome is told.

    The first outcome told counts; leaving the block without one means ``failed``.
    """

    __slots__ = ("_admission", "_clock", "_gates", "_open", "_turnstile")

    def __init__(self, gates: Gates, turnstile: Turnstile[Admission], clock: Callable[[], float], admission: Admission) -> None:
        self._gates, self._turnstile, self._clock, self._admission = gates, turnstile, clock, admission
        self._open = False

    async def __aenter__(self) -> Self:
        await self._turnstile.pass_through(self._admission)
        self._open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.failed()

    def answered(self, *, tokens: int | None, latency_s: float, stage: str) -> None:
        """The server answered after *latency_s*; the call took *tokens* (None: not known)."""
        if self._open:
            self._gates.answered(self._admission, self._clock(), tokens, latency_s, stage)
            self._close()

    def refused(self, *, retry_after: float | None) -> None:
        """The server did not take the call (429, or 503 and 529: overloaded) and may have said for how long."""
        if self._open:
            self._gates.refused(self._admission, self._clock(), retry_after)
            self._close()

    def failed(self) -> None:
        """Anything else: says nothing about limits."""
        if self._open:
            self._gates.failed(self._admission, self._clock())
            self._close()

    def _close(self) -> None:
        self._open = False
        self._turnstile.look()


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
        self._gates = Gates(concurrency=concurrency, rpm=rpm, tpm=tpm)
        self._turnstile: Turnstile[Admission] = Turnstile(self._gates, clock, sleep)

    def slot(self, tokens: int, stage: str = "") -> Slot:
        """A place for one call that is estimated to take *tokens*; ``async with`` waits until it may start.

        With *stage*, the estimate is corrected by what calls of that stage were seen to take.
        """
        return Slot(self._gates, self._turnstile, self._clock, Admission(tokens, stage))

    def brake(self, seconds: float) -> None:
        """Nobody starts for *seconds*, in whichever task."""
        self._gates.pull_brake(seconds, self._clock())

    def observe(self, rates: RateReport) -> None:
        """Take over what the headers of a response declare."""
        now, gates = self._clock(), self._gates
        gates.requests.observe(rates.limit_requests, rates.remaining_requests, rates.reset_requests_s, now)
        gates.tokens.observe(rates.limit_tokens, rates.remaining_tokens, rates.reset_tokens_s, now)
        self._turnstile.look()

    def snapshot(self) -> LimiterState:
        """What the limiter does now."""
        now, gates = self._clock(), self._gates
        return LimiterState(
            limit=gates.adaptive.limit(now),
            in_flight=gates.adaptive.in_flight,
            waiting=self._turnstile.waiting,
            rpm=gates.requests.limit,
            tpm=gates.tokens.limit,
            braking_for_s=gates.brake.left_s(now),
            refused=gates.adaptive.refused_count,
        )
