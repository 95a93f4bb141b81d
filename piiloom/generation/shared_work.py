"""Work that the items of one text share: the first item to ask starts it, the others await the same result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

R = TypeVar("R")


@dataclass(slots=True)
class _Shared:
    task: asyncio.Task[Any]
    asked: int = 0
    waiting: int = 0


class SharedWork:
    """Keeps running or finished tasks by key, until everyone who shares a task has asked for it."""

    def __init__(self) -> None:
        self._shared: dict[str, _Shared] = {}

    async def once(self, key: str, make: Callable[[], Coroutine[Any, Any, R]], *, among: int) -> R:
        """Run ``make()`` once for *among* callers with the same *key*; each gets its result or its exception.

        A cancelled caller only stops waiting; the work itself is cancelled when no caller is waiting any more.
        """
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = _Shared(asyncio.ensure_future(make()))
        shared.asked += 1
        if shared.asked >= among:
            self._shared.pop(key, None)
        shared.waiting += 1
        try:
            found: R = await asyncio.shield(shared.task)
            return found
        finally:
            shared.waiting -= 1
            if not shared.waiting and not shared.task.done():
                shared.task.cancel()
                self._shared.pop(key, None)
