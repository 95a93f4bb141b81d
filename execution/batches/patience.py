"""Waiting for a provider that answers within a day: pauses that end at once when the run is stopped, faults that are sat out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from piiloom.execution.batches.asks import WavePolicy
from piiloom.providers.errors import ProviderUnavailable, RateLimited

T = TypeVar("T")

TRANSIENT = (RateLimited, ProviderUnavailable)


class Patience:
    """The waits of one batch, as *policy* has them."""

    def __init__(self, policy: WavePolicy) -> None:
        self._policy = policy
        self._over = asyncio.Event()

    def end(self) -> None:
        """End the pause that goes on, and every later one, with ``CancelledError``."""
        self._over.set()

    async def pause(self, seconds: float) -> None:
        """Sleep for *seconds*."""
        sleeping, over = asyncio.ensure_future(self._policy.sleep(seconds)), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait([sleeping, over], return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            over.cancel()
        if self._over.is_set():
            raise asyncio.CancelledError

    async def after(self, error: RateLimited | ProviderUnavailable, tries: int) -> None:
        """Pause after failure number *tries* (from 1) in a row: as long as the server wishes, or ever longer."""
        backoff = min(self._policy.longest_poll_s, self._policy.first_poll_s * 2 ** min(tries - 1, 20))
        await self.pause(max(error.retry_after or 0.0, backoff))

    def longer(self, delay: float) -> float:
        """Give the pause between look-ups that follows one of *delay*."""
        return min(self._policy.longest_poll_s, delay * self._policy.growth)

    async def persist(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do *work*, however often the provider is out of reach or busy: a batch is not lost by that."""
        tries = 0
        while True:
            tries += 1
            try:
                return await work()
            except TRANSIENT as error:
                failure = error
            await self.after(failure, tries)


async def cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel *tasks* and wait until they have ended, however they do."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
