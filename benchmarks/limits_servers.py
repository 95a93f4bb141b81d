"""Servers of ``limits_ablation`` beyond ``simulated_servers``, and when each would take a call, which an oracle knows.

Retry-After is in whole seconds, as OpenAI's and Anthropic's servers send it.
"""

# ruff: noqa: ARG002 - the servers have one interface; not each uses all of it

from __future__ import annotations

import asyncio
import heapq
import random
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from benchmarks.simulated_servers import Bucket, Capacity, FixedWindow, Server, SlidingWindow
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


def free_at(server: Server, now: float, tokens: float) -> float:
    """When *server* would take a call of *tokens*; what the oracle asks."""
    if isinstance(server, TellingSlidingWindow | TellingFixedWindow | TellingBucket):
        return server.opens_at(now, tokens)
    if isinstance(server, Capacity):
        if isinstance(server, Changing):
            server.takes(now, tokens)
        return now if server.in_flight < server.most else now + _LOOK_S
    return now
