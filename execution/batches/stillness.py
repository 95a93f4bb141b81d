"""When nothing can move any more until a batch brings answers: then what has gathered is a wave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from piiloom.execution.batches.asks import WavePolicy

# Turns of the loop in which everything that can run has run: a reply passes through a handful of tasks on its way.
_TURNS = 25


class Stillness:
    """Watches for it. ``open_items()`` says how many items are under way; those that wait say so by ``waiting``.

    An item may wait for another one (for the topics of its pair, say) and not for a call: so when not all of them are known
    to wait, stillness is told by the clock, with more patience.
    """

    def __init__(self, policy: WavePolicy, open_items: Callable[[], int]) -> None:
        self._policy, self._open_items = policy, open_items
        self._waiting = 0
        self._moves = 0
        self._stirred = asyncio.Event()

    def stir(self) -> None:
        """Say that something has moved."""
        self._moves += 1
        self._stirred.set()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count whoever is inside as waiting."""
        self._waiting += 1
        self.stir()
        try:
            yield
        finally:
            self._waiting -= 1
            self._moves += 1

    async def come(self, enough: Callable[[], bool]) -> None:
        """Wait until something has moved since the last time, and then until nothing does, or until it is *enough*."""
        await self._stirred.wait()
        while not enough():
            seen = self._moves
            all_wait = self._waiting >= self._open_items()
            await self._policy.sleep(self._policy.settle_s if all_wait else self._policy.patience_s)
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if seen == self._moves:
                break
        self._stirred.clear()
