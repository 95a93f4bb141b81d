"""Waiting for a provider that may take a day: pauses that end when the run is stopped, and retries of transient errors."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, wait_exponential

from piiloom.execution.batches.batch_entries import BatchPolicy
from piiloom.execution.retrying import awaited, error_of
from piiloom.providers.errors import ProviderUnavailable, RateLimited

T = TypeVar("T")

TRANSIENT = (RateLimited, ProviderUnavailable)


class BatchBackoff:
    """The pauses and retries of one batch, timed by *policy*."""

    def __init__(self, policy: BatchPolicy) -> None:
        self._policy = policy
        self._over = asyncio.Event()

    def end(self) -> None:
        """End the present pause and every later one with ``CancelledError``."""
        self._over.set()

    async def pause(self, seconds: float) -> None:
        """Sleep for *seconds*. Raises ``CancelledError`` once ``end`` has been called."""
        sleeping, over = asyncio.ensure_future(self._policy.sleep(seconds)), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait([sleeping, over], return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            over.cancel()
        if self._over.is_set():
            raise asyncio.CancelledError

    def polls(self, unsettled: Callable[[Any], bool]) -> AsyncRetrying:
        """Return tries at growing intervals, as long as *unsettled* is true of their result."""
        interval = wait_exponential(self._policy.first_poll_s, max=self._policy.longest_poll_s, exp_base=self._policy.growth)
        return AsyncRetrying(retry=retry_if_result(unsettled), wait=interval, sleep=self.pause)

    async def persist(self, work: Callable[[], Awaitable[T]], *, while_unavailable: float = math.inf) -> T:
        """Run *work* and retry it on transient errors: the batch goes on at the provider meanwhile.

        The waits grow, and are at least the server's Retry-After. A ``ProviderUnavailable`` is raised at try number *while_unavailable*.
        """

        def again(state: RetryCallState) -> bool:
            error = error_of(state)
            return isinstance(error, RateLimited) or (isinstance(error, ProviderUnavailable) and state.attempt_number < while_unavailable)

        def wait(state: RetryCallState) -> float:
            backoff: float = min(self._policy.longest_poll_s, self._policy.first_poll_s * 2 ** min(state.attempt_number - 1, 20))
            return max(getattr(error_of(state), "retry_after", None) or 0.0, backoff)

        return await AsyncRetrying(retry=again, wait=wait, sleep=self.pause, reraise=True)(awaited, work)


async def cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel *tasks* and wait until they have ended; their errors are ignored."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
