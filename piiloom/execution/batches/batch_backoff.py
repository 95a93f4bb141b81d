"""Waiting for a provider that may take a day: pauses that end when the run is stopped, and retries of transient errors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from piiloom.execution.batches.batch_entries import BatchPolicy
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

    async def after(self, error: RateLimited | ProviderUnavailable, tries: int) -> None:
        """Pause after failure number *tries* (from 1) in a row: exponential back-off, but at least the server's Retry-After."""
        backoff = min(self._policy.longest_poll_s, self._policy.first_poll_s * 2 ** min(tries - 1, 20))
        await self.pause(max(error.retry_after or 0.0, backoff))

    def longer(self, delay: float) -> float:
        """Return the polling interval that follows *delay*, in seconds."""
        return min(self._policy.longest_poll_s, delay * self._policy.growth)

    async def persist(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run *work* and retry it on transient errors without limit: the batch goes on at the provider meanwhile."""
        tries = 0
        while True:
            tries += 1
            try:
                return await work()
            except TRANSIENT as error:
                failure = error
            await self.after(failure, tries)


async def cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel *tasks* and wait until they have ended; their errors are ignored."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
