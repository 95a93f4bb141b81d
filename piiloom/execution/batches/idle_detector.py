"""Detects when a round of calls is complete: nothing can progress any more until a batch brings answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from piiloom.execution.batches.batch_entries import BatchPolicy

# Event-loop turns after which every runnable task has run: a reply passes through a handful of tasks.
_TURNS = 25


class IdleDetector:
    """Idle detector for batch mode. ``open_items()`` returns how many items are in progress; those waiting enter ``waiting``.

    An item may wait for another item (for the topics of its pair, say) and not for a call. So if not all items are known to
    wait, idleness is assumed only after the longer ``patience_s``.
    """

    def __init__(self, policy: BatchPolicy, open_items: Callable[[], int]) -> None:
        self._policy, self._open_items = policy, open_items
        self._waiting = 0
        self._progress_count = 0
        self._progressed = asyncio.Event()

    def note_progress(self) -> None:
        """Record that something has progressed."""
        self._progress_count += 1
        self._progressed.set()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the caller as waiting while it is in this block."""
        self._waiting += 1
        self.note_progress()
        try:
            yield
        finally:
            self._waiting -= 1
            self._progress_count += 1

    async def wait_until_idle(self, enough: Callable[[], bool]) -> None:
        """Wait until something has progressed since the last call, and then until nothing does any more or *enough* returns True."""
        await self._progressed.wait()
        while not enough():
            seen = self._progress_count
            all_wait = self._waiting >= self._open_items()
            await self._policy.sleep(self._policy.settle_s if all_wait else self._policy.patience_s)
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if seen == self._progress_count:
                break
        self._progressed.clear()
