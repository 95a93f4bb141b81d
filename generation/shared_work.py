"""Work that the items of one text share: whoever comes first has it done, the others wait for it and get the same."""

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
    """Remembers what is under way or done until all that share it have asked for it."""

    def __init__(self) -> None:
        self._shared: dict[str, _Shared] = {}

    async def once(self, key: str, make: Callable[[], Coroutine[Any, Any, R]], *, among: int) -> R:
        """Give what ``make()`` gives, or raise what it raises, to each of *among* askers; it runs once.

        Whoever is cancelled stops waiting; when nobody waits any more, the work is cancelled too.
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
