"""One timer that calls back: set as often as one likes, it rings at the earliest time asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

# A timer that is set a little later than wished may ring as it is: what rings looks at the clock again.
_SLACK_S = 0.001
# Never sleep for less, or rounding of the clock turns waiting into a busy loop.
_SHORTEST_S = 0.0005


class Alarm:
    """Calls *ring* at the time that was set; *clock* and *sleep* are injected. Rings once for each setting, or earlier."""

    def __init__(self, ring: Callable[[], None], clock: Callable[[], float], sleep: Callable[[float], Awaitable[object]]) -> None:
        self._ring, self._clock, self._sleep = ring, clock, sleep
        self._at: float | None = None
        self._waking_at = 0.0
        self._sleeper: asyncio.Task[None] | None = None

    def set(self, at: float) -> None:
        """Ring at *at* instead of whenever was said before."""
        self._at = at
        if self._sleeper is not None and not self._sleeper.done():
            if at >= self._waking_at - _SLACK_S:
                return
            self._sleeper.cancel()
        self._waking_at = at
        self._sleeper = asyncio.ensure_future(self._run())

    def clear(self) -> None:
        """Do not ring, and leave no task behind."""
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
            # Whoever sets the alarm while it rings is heard: the loop looks again.
            self._waking_at = float("-inf")
            self._ring()


def _current_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # called from outside a loop
        return None
