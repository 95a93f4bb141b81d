"""A timer that can be set again at any time and calls back when it expires."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

# If the new time is at most this much earlier, the running sleep is kept: the callback checks the clock itself.
_SLACK_S = 0.001
# Minimum sleep; below it, clock rounding would turn waiting into a busy loop.
_SHORTEST_S = 0.0005


class Timer:
    """One-shot timer: calls *expired* at the time last set, or up to 1 ms later. *clock* and *sleep* are injected for tests."""

    def __init__(self, expired: Callable[[], None], clock: Callable[[], float], sleep: Callable[[float], Awaitable[object]]) -> None:
        self._expired, self._clock, self._sleep = expired, clock, sleep
        self._at: float | None = None
        self._waking_at = 0.0
        self._sleeper: asyncio.Task[None] | None = None

    def set(self, at: float) -> None:
        """Expire at *at*, instead of any time set before."""
        self._at = at
        if self._sleeper is not None and not self._sleeper.done():
            if at >= self._waking_at - _SLACK_S:
                return
            self._sleeper.cancel()
        self._waking_at = at
        self._sleeper = asyncio.ensure_future(self._run())

    def clear(self) -> None:
        """Cancel the timer and its task."""
        self._at = None
        if self._sleeper is not None and self._sleeper is not _current_task():
            self._sleeper.cancel()
            self._sleeper = None

    async def _run(self) -> None:
        while self._at is not None:
            delay = self._at - self._clock()
            if delay > 0:
                self._waking_at = self._at
                await self._sleep(max(delay, _SHORTEST_S))
                continue
            self._at = None
            # A time set during the callback is picked up by this loop, so ``set`` need not start a task.
            self._waking_at = float("-inf")
            self._expired()


def _current_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # called from outside a loop
        return None
