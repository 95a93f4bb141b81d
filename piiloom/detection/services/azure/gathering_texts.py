"""Put texts that come one by one into requests of several."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from piiloom.detection.services.azure.jobs import AzureText

MOST_TEXTS: Final = 5
MOST_CHARACTERS: Final = 125_000
_PATIENCE_S: Final = 0.02  # how long a text waits for others


class TextGatherer:
    """Calls *send* with up to five texts at once, of 125,000 code points in all; ``add`` is a text's turn.

    *send* does something with each: it must answer for all, whatever happens.
    """

    def __init__(self, send: Callable[[Sequence[AzureText]], Coroutine[Any, Any, object]]) -> None:
        self._send = send
        self._waiting: list[AzureText] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[object]] = set()

    def add(self, piece: AzureText) -> None:
        """Take *piece*; it is sent when a request is full, or shortly."""
        if sum(len(one.text) for one in self._waiting) + len(piece.text) > MOST_CHARACTERS:
            self.flush()
        self._waiting.append(piece)
        if len(self._waiting) == MOST_TEXTS:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PATIENCE_S, self.flush)

    def flush(self) -> None:
        """Send what is waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            pieces, self._waiting = self._waiting, []
            task: asyncio.Task[object] = asyncio.create_task(self._send(pieces))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel what is under way."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
