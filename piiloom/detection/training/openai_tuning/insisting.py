"""Ask a server again after a passing fault, and wait between two looks at what is slow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import ProviderError
from piiloom.foundation.seeding import derive_rng
from piiloom.providers.errors import ProviderUnavailable, RateLimited

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When to look again. Times in seconds; ``clock`` gives seconds since 1970.

    A file or job whose making was not answered is looked for until ``settle_s`` after the last sign of it, every ``settle_step_s``: it
    may come late. A job is looked at first after ``first_poll_s``, then ever more seldom, at least every ``longest_poll_s``.
    """

    settle_s: float = 30.0
    settle_step_s: float = 3.0
    first_poll_s: float = 5.0
    longest_poll_s: float = 60.0
    growth: float = 1.3
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.time


class Insisting:
    """Asks as *policy* says; *tell* gets a line about each fault that is waited for."""

    def __init__(self, policy: RetryPolicy, timing: Timing, tell: Callable[[str], object]) -> None:
        self._policy, self._timing, self._tell = policy, timing, tell
        self._rng = derive_rng("retry jitter", "openai tuning")  # spreads requests in time; no result depends on it

    async def __call__(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return what *ask* gives. It must be harmless to ask twice. Raises its last ``ProviderError``."""
        tries = self.tries()
        while True:
            try:
                return await ask()
            except (RateLimited, ProviderUnavailable) as error:
                await tries.wait(error)

    def tries(self) -> Tries:
        """Return a count of tries, for what is not harmless to ask twice."""
        return Tries(self._policy, self._timing, self._tell, self._rng.random)


@dataclass(slots=True)
class Tries:
    """The tries at one request."""

    policy: RetryPolicy
    timing: Timing
    tell: Callable[[str], object]
    draw: Callable[[], float]
    number: int = 0
    began: float = field(default_factory=time.monotonic)

    async def wait(self, error: ProviderError) -> None:
        """Wait before the next try after *error*; raises it if there is to be none."""
        self.number += 1
        if not self.policy.worth_retrying(error, self.number, time.monotonic() - self.began):
            error.retries = self.number - 1
            raise error
        wait_s = getattr(error, "retry_after", None)
        if wait_s is None:
            longest = min(self.policy.cap_s, self.policy.base_s * 2 ** min(self.number - 1, 30))
            wait_s = longest * (0.5 + self.draw() / 2)
        self.tell(f"{error.message}; asking again in {wait_s:.1f} s")
        await self.timing.sleep(wait_s)
