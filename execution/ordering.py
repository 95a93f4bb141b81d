"""Run work concurrently, consume it in order.

Items are worked on as they come, but handed on strictly in the order of the source, so that whatever looks at all
items (near-duplicate gates, "the first N accepted") gives the same result at every concurrency.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True)
class StopSignal:
    """Set to end a run early: nothing new starts, what runs is cancelled, what is done stays done."""

    requested: bool = False
    _callbacks: list[Callable[[], object]] = field(default_factory=list)

    def request(self) -> None:
        """Ask for the end; safe to call from a signal handler of the running loop."""
        self.requested = True
        for callback in self._callbacks:
            callback()

    def on_request(self, callback: Callable[[], object]) -> None:
        """Run *callback* when the end is asked for."""
        self._callbacks.append(callback)


@dataclass(slots=True, kw_only=True)
class OrderedRun(Generic[T, R]):
    """One pass over *source*: at most ``concurrency`` tasks at once, results consumed in source order.

    ``still_wanted()`` says how many more results are of use. Never more than that are under way, so nothing is paid
    for that nobody needs. A slow item at the head holds back at most ``4 * concurrency`` finished ones behind it.
    """

    source: Iterator[T]
    work: Callable[[T], Awaitable[R]]
    consume: Callable[[R], None]
    still_wanted: Callable[[], int]
    concurrency: int
    stop: StopSignal
    # Told of each item that is taken up (1) and ended (-1).
    gauge: Callable[[int], None] = lambda _change: None
    _window: deque[asyncio.Task[R]] = field(default_factory=deque)
    _running: int = 0
    _failed: asyncio.Task[R] | None = None
    # One event for all tasks: waking costs the same however many are in flight, which asyncio.wait on a set does not.
    _something_ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Work until the source is empty, nothing more is wanted, or a stop is requested. Errors of *work* propagate."""
        self.stop.on_request(self._cancel_all)
        try:
            self._start_more()
            while self._window and not self.stop.requested:
                await self._something_ended.wait()
                self._something_ended.clear()
                self._consume_finished()
                if self._failed is not None:
                    # At once, not when its turn comes: a wrong key must not be tried by all that still wait behind a slow item.
                    self._failed.result()
                self._start_more()
        finally:
            await self._drop_rest()

    def _start_more(self) -> None:
        while not self.stop.requested and self._running < self.concurrency and len(self._window) < self._room():
            try:
                item = next(self.source)
            except StopIteration:
                return
            self._running += 1
            self.gauge(1)
            task = asyncio.ensure_future(self.work(item))
            task.add_done_callback(self._ended)
            self._window.append(task)

    def _room(self) -> int:
        return min(self.still_wanted(), 4 * self.concurrency)

    def _ended(self, task: asyncio.Task[R]) -> None:
        self._running -= 1
        self.gauge(-1)
        if self._failed is None and not task.cancelled() and task.exception() is not None:
            self._failed = task
        self._something_ended.set()

    def _consume_finished(self) -> None:
        while self._window and self._window[0].done() and not self._window[0].cancelled():
            self.consume(self._window.popleft().result())

    def _cancel_all(self) -> None:
        self._something_ended.set()
        for task in self._window:
            task.cancel()

    async def _drop_rest(self) -> None:
        self._cancel_all()
        if self._window:
            await asyncio.gather(*self._window, return_exceptions=True)
            self._window.clear()
