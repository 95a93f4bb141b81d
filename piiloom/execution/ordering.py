"""Concurrent work with results in order, and its orderly end at Ctrl-C.

Items are processed concurrently, but their results are passed on strictly in the order of the source. So a consumer that compares all
items (near-duplicate gates, "the first N accepted") gives the same result at every concurrency.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from piiloom.foundation.noop import noop

T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True)
class StopSignal:
    """Ends a run early: no new item starts, running ones are cancelled, finished ones are kept."""

    requested: bool = False
    _callbacks: list[Callable[[], object]] = field(default_factory=list)

    def request(self) -> None:
        """Request the stop; safe to call from a signal handler of the running loop."""
        self.requested = True
        for callback in self._callbacks:
            callback()

    def on_request(self, callback: Callable[[], object]) -> None:
        """Call *callback* when a stop is requested."""
        self._callbacks.append(callback)


@dataclass(slots=True, kw_only=True)
class OrderedRun(Generic[T, R]):
    """One pass over *source*: at most ``concurrency`` tasks at once, results consumed in source order.

    ``still_wanted()``, if given, returns how many more results are needed; without it all of *source* is wanted. No more than that are
    in progress, so nothing is paid for needlessly. At most ``4 * concurrency`` items are started and not yet consumed, so a slow first
    item stops new ones then.
    """

    source: Iterator[T]
    work: Callable[[T], Awaitable[R]]
    consume: Callable[[R], None]
    concurrency: int
    stop: StopSignal
    still_wanted: Callable[[], int] | None = None
    # Called with 1 when an item starts and with -1 when it has ended.
    gauge: Callable[[int], None] = noop
    _window: deque[asyncio.Task[R]] = field(default_factory=deque)
    _running: int = 0
    _failed: asyncio.Task[R] | None = None
    # One event for all tasks: its cost does not grow with their number, unlike ``asyncio.wait`` on a set.
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
                    # Raise at once, not in source order: a wrong key must not be tried by every item queued behind a slow one.
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
        most = 4 * self.concurrency
        return most if self.still_wanted is None else min(self.still_wanted(), most)

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


@contextmanager
def stopped_by_ctrl_c(stop: StopSignal) -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into a stop request, then restore the former handlers: the second one strikes as usual.

    Call it in the running loop. Outside the main thread, where no signal arrives, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def as_before() -> None:
        for number, handler in former.items():
            loop.remove_signal_handler(number)  # which puts Python's own in its place
            signal.signal(number, handler)

    def first() -> None:
        as_before()
        stop.request()

    for number in former:
        loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        as_before()
