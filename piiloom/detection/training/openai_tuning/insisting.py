"""Ask a server again after a passing fault, and wait between two looks at what is slow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState

from piiloom.execution.retrying import RetryPolicy, awaited, error_of
from piiloom.foundation.seeding import derive_rng

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
        return await self.tries()(awaited, ask)

    def tries(self) -> AsyncRetrying:
        """Return the tries at one request, for a loop over what is not harmless to ask twice."""
        return self._policy.tries(self._rng, sleep=self._timing.sleep, before_sleep=self._report)

    def _report(self, state: RetryCallState) -> None:
        self._tell(f"{getattr(error_of(state), 'message', '')}; asking again in {state.upcoming_sleep:.1f} s")
