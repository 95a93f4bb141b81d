"""Servers in virtual time that enforce limits in their own ways, and a crowd of callers that passes a limiter."""

# The servers have one interface; not each uses all of it.
# ruff: noqa: ARG002, D101, D102

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.virtual_time import clock, run_virtually
from piiloom.execution.limits.limiter import Limiter


class Refusal(Exception):
    """The server did not take the call."""

    def __init__(self, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(retry_after)


@dataclass
class Server:
    """Answers after *latency()* seconds; refusals come back after *refusal_s*."""

    latency: Callable[[], float] = lambda: 0.2
    refusal_s: float = 0.002
    retry_after: float | None = None
    in_flight: int = 0
    refusals: list[float] = field(default_factory=list)
    accepted: list[tuple[float, float]] = field(default_factory=list)

    async def call(self, tokens: float, stage: str = "") -> None:
        """Take the call and work on it, or raise ``Refusal``."""
        if not self.takes(clock(), tokens):
            self.refusals.append(clock())
            await asyncio.sleep(self.refusal_s)
            raise Refusal(self.retry_after)
        self.accepted.append((clock(), tokens))
        self.in_flight += 1
        try:
            await self.work(stage)
        finally:
            self.in_flight -= 1

    def takes(self, now: float, tokens: float) -> bool:
        return True

    async def work(self, stage: str) -> None:
        await asyncio.sleep(self.latency())

    def between(self, begin: float, end: float) -> tuple[int, float, int]:
        """Accepted calls, their tokens, and refusals from *begin* to *end*."""
        taken = [tokens for at, tokens in self.accepted if begin <= at < end]
        return len(taken), sum(taken), sum(begin <= at < end for at in self.refusals)


@dataclass
class SlidingWindow(Server):
    """So many requests and tokens within any 60 s."""

    rpm: float = 600
    tpm: float = 60_000
    _recent: deque[tuple[float, float]] = field(default_factory=deque)
    _tokens: float = 0.0

    def takes(self, now: float, tokens: float) -> bool:
        while self._recent and self._recent[0][0] <= now - 60:
            self._tokens -= self._recent.popleft()[1]
        if len(self._recent) + 1 > self.rpm or self._tokens + tokens > self.tpm:
            return False
        self._recent.append((now, tokens))
        self._tokens += tokens
        return True


@dataclass
class FixedWindow(Server):
    """So many requests and tokens in each minute of the clock."""

    rpm: float = 600
    tpm: float = 60_000
    _minute: int = -1
    _used: tuple[int, float] = (0, 0.0)

    def takes(self, now: float, tokens: float) -> bool:
        minute = int((now + 17.3) // 60)
        if minute != self._minute:
            self._minute, self._used = minute, (0, 0.0)
        requests, used = self._used
        if requests + 1 > self.rpm or used + tokens > self.tpm:
            return False
        self._used = requests + 1, used + tokens
        return True


@dataclass
class Bucket(Server):
    """Buckets that refill steadily and hold *depth_s* seconds' worth (at least one call)."""

    rpm: float = 600
    tpm: float = 60_000
    depth_s: float = 60.0
    _levels: list[float] = field(default_factory=list)
    _at: float = 0.0

    def takes(self, now: float, tokens: float) -> bool:
        depths = [max(1.0, self.rpm * self.depth_s / 60), max(tokens, self.tpm * self.depth_s / 60)]
        levels = self._levels or depths
        rates = self.rpm / 60, self.tpm / 60
        levels = [min(depth, level + (now - self._at) * rate) for depth, level, rate in zip(depths, levels, rates, strict=True)]
        self._at, self._levels = now, levels
        if levels[0] < 1 or levels[1] < tokens:
            return False
        self._levels = [levels[0] - 1, levels[1] - tokens]
        return True


@dataclass
class Capacity(Server):
    """Takes so many at once and refuses the rest."""

    most: int = 16

    def takes(self, now: float, tokens: float) -> bool:
        return self.in_flight < self.most


@dataclass
class Queueing(Server):
    """Takes all, works on so many at once, first come first served."""

    workers: int = 16
    _busy: asyncio.Semaphore | None = None

    async def work(self, stage: str) -> None:
        self._busy = self._busy or asyncio.Semaphore(self.workers)
        async with self._busy:
            await asyncio.sleep(self.latency())


@dataclass(frozen=True)
class Call:
    estimated: int = 100
    tokens: float = 100
    stage: str = "draft"


@dataclass
class Crowd:
    """Callers in fixed number that each take the next call, and try again what was refused."""

    server: Server
    limiter: Limiter
    calls: Iterator[Call]
    callers: int = 256
    until: float = float("inf")
    time_limit_s: float | None = None
    ended_at: float = 0.0
    timed_out: int = 0
    limits: list[tuple[float, int]] = field(default_factory=list)

    async def run(self) -> None:
        """Work until no calls are left, or it is late."""
        await asyncio.gather(*(self._caller() for _ in range(self.callers)))
        self.ended_at = clock()

    def limits_between(self, begin: float, end: float) -> list[int]:
        """What the limiter allowed in flight, at each answer from *begin* to *end*."""
        return [limit for at, limit in self.limits if begin <= at < end]

    async def _caller(self) -> None:
        for call in self.calls:
            while clock() < self.until and not await self._tried(call):
                pass
            if clock() >= self.until:
                return

    async def _tried(self, call: Call) -> bool:
        async with self.limiter.slot(call.estimated, call.stage) as slot:
            sent = clock()
            try:
                async with asyncio.timeout(self.time_limit_s):
                    await self.server.call(call.tokens, call.stage)
            except Refusal as refusal:
                slot.refused(retry_after=refusal.retry_after)
                return False
            except TimeoutError:
                self.timed_out += 1
                slot.failed(timed_out=True)
                return False
            slot.answered(tokens=round(call.tokens), latency_s=clock() - sent, stage=call.stage)
        self.limits.append((clock(), self.limiter.snapshot().limit))
        return True


def simulate(
    server: Server,
    calls: Iterable[Call],
    *,
    callers: int = 256,
    until: float = float("inf"),
    time_limit_s: float | None = None,
    **limits: Any,
) -> Crowd:
    """Send *calls* through a new limiter with *limits* in virtual time; gives the crowd when all is over."""

    async def run() -> Crowd:
        limiter = Limiter(clock=clock, **{"concurrency": 64, **limits})
        crowd = Crowd(server, limiter, iter(calls), callers, until, time_limit_s)
        await crowd.run()
        return crowd

    return run_virtually(run())


def lognormal(seed: int, median: float, sigma: float = 0.5) -> Callable[[], float]:
    """Latencies or token counts as models have them."""
    rng = random.Random(seed)
    return lambda: median * rng.lognormvariate(0.0, sigma)
