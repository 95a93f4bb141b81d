"""The servers of ``limits_ablation``: four kinds, each in several settings, with what an oracle would have to know about them.

Retry-After is in whole seconds, as OpenAI's and Anthropic's servers send it.
"""

# ruff: noqa: ARG002 - the servers have one interface; not each uses all of it

from __future__ import annotations

import asyncio
import heapq
import random
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, exp, inf

from benchmarks.simulated_servers import Bucket, Call, Capacity, FixedWindow, Queueing, Server, SlidingWindow, lognormal
from benchmarks.virtual_time import clock

# How often the oracle looks whether a server that holds no timetable takes a call.
_LOOK_S = 0.005


class ServerError(Exception):
    """A 500 that has nothing to do with load."""


@dataclass
class Telling(Server):
    """Says in Retry-After when it would take the refused call, unless it is ``silent``."""

    silent: bool = False

    async def call(self, tokens: float, stage: str = "") -> None:
        """Take the call and work on it, or raise ``Refusal``."""
        if not self.silent:
            self.retry_after = float(ceil(max(0.0, self.opens_at(clock(), tokens) - clock())))
        await super().call(tokens, stage)

    @abstractmethod
    def opens_at(self, now: float, tokens: float) -> float:
        """When a call of *tokens* would be taken."""


@dataclass
class TellingSlidingWindow(Telling, SlidingWindow):
    """A sliding window with Retry-After."""

    def opens_at(self, now: float, tokens: float) -> float:
        """When the window has room for a call of *tokens*."""
        used = sum(amount for at, amount in self._recent if at > now - 60)
        count = sum(at > now - 60 for at, _ in self._recent)
        for at, amount in self._recent:
            if count + 1 <= self.rpm and used + tokens <= self.tpm:
                return now
            if at > now - 60:
                count, used = count - 1, used - amount
                if count + 1 <= self.rpm and used + tokens <= self.tpm:
                    return at + 60
        return now


@dataclass
class TellingFixedWindow(Telling, FixedWindow):
    """A fixed window with Retry-After."""

    def opens_at(self, now: float, tokens: float) -> float:
        """Now, or when the next minute begins."""
        minute = int((now + 17.3) // 60)
        requests, used = self._used if minute == self._minute else (0, 0.0)
        return now if requests + 1 <= self.rpm and used + tokens <= self.tpm else (minute + 1) * 60 - 17.3


@dataclass
class TellingBucket(Telling, Bucket):
    """A token bucket with Retry-After."""

    def opens_at(self, now: float, tokens: float) -> float:
        """When the buckets hold a call of *tokens*."""
        if not self._levels:
            return now
        waits = ((1 - self._levels[0]) / self.rpm * 60, (tokens - self._levels[1]) / self.tpm * 60)
        return max(now, self._at + max(waits) + 1e-9)


@dataclass
class Changing(Capacity):
    """Takes other numbers at once as time goes by: ``plan`` holds (since second, calls at once)."""

    plan: Sequence[tuple[float, int]] = ()

    def takes(self, now: float, tokens: float) -> bool:
        """Whether there is room now."""
        self.most = next(most for since, most in reversed(self.plan) if now >= since)
        return super().takes(now, tokens)


@dataclass
class Sharing(Server):
    """A model server with continuous batching: ``slots`` calls are worked on at once, the others queue, and all slow one another down.

    A call alone takes *latency()*; with n others it takes ``1 + n / slows`` times that, so throughput grows ever more slowly up
    to ``slots``. With ``thrashing``, calls beyond ``slots`` do not queue but take memory from the others (preemption), and
    throughput falls.
    """

    slots: int = 64
    slows: float = 32.0
    thrashing: bool = False
    _done: float = 0.0
    _at: float = 0.0
    _ends: list[tuple[float, int, asyncio.Event]] = field(default_factory=list)
    _queue: asyncio.Semaphore | None = None
    _timer: asyncio.TimerHandle | None = None
    _number: int = 0

    async def work(self, stage: str) -> None:
        """Wait for a slot (unless thrashing) and share the processor with the calls in the other slots."""
        if self.thrashing:
            await self._share()
            return
        self._queue = self._queue or asyncio.Semaphore(self.slots)
        async with self._queue:
            await self._share()

    async def _share(self) -> None:
        self._advance()
        self._number += 1
        entry = (self._done + self.latency(), self._number, asyncio.Event())
        heapq.heappush(self._ends, entry)
        self._plan()
        try:
            await entry[2].wait()
        except asyncio.CancelledError:
            self._advance()
            if entry in self._ends:
                self._ends.remove(entry)
                heapq.heapify(self._ends)
            self._plan()
            raise

    def _speed(self) -> float:
        active = len(self._ends)
        beyond = max(0.0, active / self.slots - 1) if self.thrashing else 0.0
        return 1 / ((1 + max(0, active - 1) / self.slows) * (1 + beyond))

    def _advance(self) -> None:
        now = clock()
        self._done += (now - self._at) * self._speed()
        self._at = now

    def _plan(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if self._ends:
            wait = max(0.0, self._ends[0][0] - self._done) / self._speed()
            self._timer = asyncio.get_running_loop().call_later(wait, self._finish)

    def _finish(self) -> None:
        self._timer = None
        self._advance()
        while self._ends and self._ends[0][0] <= self._done + 1e-9:
            heapq.heappop(self._ends)[2].set()
        self._plan()


@dataclass
class Noisy(Server):
    """Refuses and fails at random, whatever is sent."""

    refused: float = 0.1
    failed: float = 0.03
    rng: random.Random = field(default_factory=random.Random)

    def takes(self, now: float, tokens: float) -> bool:
        """Whether luck has it."""
        return self.rng.random() >= self.refused

    async def work(self, stage: str) -> None:
        """Answer, or raise ``ServerError``."""
        if self.rng.random() < self.failed:
            await asyncio.sleep(0.05)
            raise ServerError
        await super().work(stage)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A server and what is sent to it. ``best``: the calls in flight that an oracle would keep; None for ``concurrency``."""

    kind: str
    name: str
    server: Callable[[int], Server]
    calls: Callable[[int], list[Call]]
    concurrency: int = 64
    rpm: float | None = None
    tpm: float | None = None
    best: int | None = None


def calls(count: int, *, mean: float = 100, guess: float = 1.0, sigma: float = 0.4) -> Callable[[int], list[Call]]:
    """*count* calls of *mean* tokens of varying length, which are estimated at *guess* times what they take, give or take 30%."""

    def drawn(seed: int) -> list[Call]:
        rng = random.Random(seed)
        lengths = [max(1, round(mean * rng.lognormvariate(-(sigma**2) / 2, sigma))) for _ in range(count)]
        return [Call(estimated=max(1, round(length * guess * rng.uniform(0.7, 1.3))), tokens=length) for length in lengths]

    return drawn


def free_at(server: Server, now: float, tokens: float) -> float:
    """When *server* would take a call of *tokens*; what the oracle asks."""
    if isinstance(server, TellingSlidingWindow | TellingFixedWindow | TellingBucket):
        return server.opens_at(now, tokens)
    if isinstance(server, Capacity):
        if isinstance(server, Changing):
            server.takes(now, tokens)
        return now if server.in_flight < server.most else now + _LOOK_S
    return now


RATES, AT_ONCE, QUEUES, NOISE = "rates", "concurrency", "queueing", "noisy"
SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        kind=RATES,
        name="600 RPM and 60,000 TPM over 60 s, declared; estimates half of what calls take",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 1.0)),
        calls=calls(1500, mean=300, guess=0.5),
        rpm=600,
        tpm=60_000,
    ),
    Scenario(
        kind=RATES,
        name="the same, declared, 1,000 tokens a call",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 1.0)),
        calls=calls(450, mean=1000),
        rpm=600,
        tpm=60_000,
    ),
    Scenario(
        kind=RATES,
        name="the same, declared, 15 s a reply, estimates twice what calls take",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 15.0)),
        calls=calls(1500, mean=300, guess=2.0),
        rpm=600,
        tpm=60_000,
    ),
    Scenario(
        kind=RATES,
        name="540 RPM over 60 s, declared as 600, without Retry-After",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 1.0), rpm=540, tpm=inf, silent=True),
        calls=calls(3000),
        rpm=600,
    ),
    Scenario(
        kind=RATES,
        name="540 RPM over 60 s, declared as 600",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 1.0), rpm=540, tpm=inf),
        calls=calls(3000),
        rpm=600,
    ),
    Scenario(
        kind=RATES,
        name="600 RPM by the clock's minute, nothing declared",
        server=lambda seed: TellingFixedWindow(latency=lognormal(seed, 0.5), tpm=inf),
        calls=calls(3000),
    ),
    Scenario(
        kind=RATES,
        name="bucket of 600 RPM that holds 2 s worth, nothing declared",
        server=lambda seed: TellingBucket(latency=lognormal(seed, 0.5), tpm=inf, depth_s=2.0),
        calls=calls(2000),
    ),
    Scenario(
        kind=AT_ONCE,
        name="takes 16 at once",
        server=lambda seed: Capacity(latency=lognormal(seed, 1.0), most=16),
        calls=calls(2000),
    ),
    Scenario(
        kind=AT_ONCE,
        name="takes 16 at once, of 256",
        server=lambda seed: Capacity(latency=lognormal(seed, 1.0), most=16),
        calls=calls(2000),
        concurrency=256,
    ),
    Scenario(
        kind=AT_ONCE,
        name="takes 16, then 48, then 8 at once",
        server=lambda seed: Changing(latency=lognormal(seed, 0.5), plan=[(0, 16), (30, 48), (60, 8)]),
        calls=calls(4500),
    ),
    Scenario(
        kind=QUEUES,
        name="continuous batching, 64 slots, 256 sent at once",
        server=lambda seed: Sharing(latency=lognormal(seed, 1.0)),
        calls=calls(4000),
        concurrency=256,
        best=64,
    ),
    Scenario(
        kind=QUEUES,
        name="continuous batching that thrashes beyond 64, 128 sent at once",
        server=lambda seed: Sharing(latency=lognormal(seed, 1.0), thrashing=True),
        calls=calls(4000),
        concurrency=128,
        best=64,
    ),
    Scenario(
        kind=QUEUES,
        name="16 workers, 64 sent at once",
        server=lambda seed: Queueing(latency=lognormal(seed, 1.0), workers=16),
        calls=calls(2000),
        best=16,
    ),
    Scenario(
        kind=QUEUES,
        name="4 slots of 12 s a reply, 32 sent at once (the time limit is 60 s)",
        server=lambda seed: Queueing(latency=lognormal(seed, 12.0, 0.3), workers=4),
        calls=calls(300),
        concurrency=32,
        best=4,
    ),
    Scenario(
        kind=NOISE,
        name="10% 429, 3% 500, latency with a heavy tail",
        server=lambda seed: Noisy(latency=lognormal(seed, exp(-0.5), 1.0), rng=random.Random(seed)),
        calls=calls(5000),
    ),
    Scenario(
        kind=NOISE,
        name="1% 429 with Retry-After 1, heavy tail",
        server=lambda seed: Noisy(
            latency=lognormal(seed, exp(-0.5), 1.0), rng=random.Random(seed), refused=0.01, failed=0.0, retry_after=1.0
        ),
        calls=calls(5000),
    ),
    Scenario(
        kind=NOISE,
        name="30% 429, latency 0.2 s with a heavy tail",
        server=lambda seed: Noisy(latency=lognormal(seed, 0.2, 1.0), rng=random.Random(seed), refused=0.3, failed=0.0),
        calls=calls(10_000),
    ),
)
