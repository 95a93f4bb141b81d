"""Client of the desk, the coordinator that holds the limiter and the budget of a run for all its processes.

Messages of one turn of the event loop are sent together, and only one post is in progress at a time. So messages arrive in
order, and many calls share the cost of one remote call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from piiloom.execution.desk.words import Ask, DeskLink, DeskState, Enter, Heard, Reserve, Withdraw, Word
from piiloom.execution.limits.limiter import LimiterState
from piiloom.execution.watching.events import Event
from piiloom.foundation.errors import PiiloomError, RunError

# Events are collected for this many seconds and sent together.
_EVENTS_PACE_S = 0.1


class DeskClient:
    """The connection of one process, called *name*, to the desk; an async context manager.

    *concurrency* is the limit shown before the desk has reported its state. *on_stop* is called once, when the desk asks all to stop.
    """

    def __init__(self, link: DeskLink, name: str, *, concurrency: int, on_stop: Callable[[], object] = lambda: None) -> None:
        self._link, self._name, self._on_stop = link, name, on_stop
        self._out: list[Ask] = []
        self._said = asyncio.Event()
        self._open: dict[int, asyncio.Future[None]] = {}
        self._last = 0
        self._closing = self._stopped = False
        self._failure: PiiloomError | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._heard: list[Event] = []
        idle = LimiterState(limit=concurrency, in_flight=0, waiting=0, rpm=None, tpm=None, braking_for_s=0.0, refused=0)
        self.state = DeskState(limiter=idle, spent_usd=0.0, reserved_usd=0.0, reached=False)

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.ensure_future(self._posting()), asyncio.ensure_future(self._polling())]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._send_heard()
        self._closing = True
        self._said.set()
        posting, polling = self._tasks
        await asyncio.gather(posting, return_exceptions=True)
        polling.cancel()
        await asyncio.gather(polling, return_exceptions=True)
        with suppress(Exception):  # the desk may be gone already
            await self._link.leave(self._name)

    def tell(self, word: Ask) -> None:
        """Send a message that needs no answer."""
        self._out.append(word)
        self._said.set()

    def hear(self, event: Event) -> None:
        """Pass *event* on to the views of the run; usable as an ``events.EventSink``."""
        if not self._heard:
            asyncio.get_running_loop().call_later(_EVENTS_PACE_S, self._send_heard)
        self._heard.append(event)

    def next_number(self) -> int:
        """Return a message number that is unique for this client."""
        self._last += 1
        return self._last

    async def ask(self, word: Enter | Reserve) -> None:
        """Send *word* and wait until it is granted.

        Raises the error with which it was denied, or ``RunError`` if the desk cannot be reached or has dropped this client. If the caller
        is cancelled, the request is withdrawn.
        """
        if self._failure is not None:
            raise self._failure
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open[word.number] = future
        self.tell(word)
        try:
            await future
        except asyncio.CancelledError:
            self._open.pop(word.number, None)
            self.tell(Withdraw(word.number))
            raise

    def _send_heard(self) -> None:
        if self._heard:
            events, self._heard = tuple(self._heard), []
            self.tell(Heard(events))

    async def _posting(self) -> None:
        try:
            while self._out or not self._closing:
                await self._said.wait()
                self._said.clear()
                if self._out:
                    words, self._out = self._out, []
                    self._take(await self._link.post(self._name, words))
                if self._closing:
                    self._said.set()  # messages added in the meantime are still sent
        except Exception as error:  # noqa: BLE001 - any error of the transport; passed on to all waiting callers
            self._fail(error)

    async def _polling(self) -> None:
        try:
            while self._failure is None:
                self._take(await self._link.poll(self._name))
        except Exception as error:  # noqa: BLE001 - as above
            self._fail(error)

    def _take(self, word: Word) -> None:
        if word.state is not None:
            self.state = word.state
        for number in word.granted:
            future = self._open.pop(number, None)
            if future is not None and not future.done():
                future.set_result(None)
        for number, error in word.denied:
            future = self._open.pop(number, None)
            if future is not None and not future.done():
                future.set_exception(error.rebuilt())
        if word.gone and not self._closing:
            self._fail(None)
        if word.stop and not self._stopped:
            self._stopped = True
            self._on_stop()

    def _fail(self, cause: Exception | None) -> None:
        """Fail all waiting and later requests: the desk is unreachable, or regards this client as dead. Nothing may be sent without it."""
        if self._failure is None:
            kind = type(cause).__name__ if cause else "it takes this process for dead"
            self._failure = RunError(f"the limiter and budget that the partitions share cannot be asked ({kind})", remedy="Resume the run")
            self._failure.__cause__ = cause
        waiting, self._open = self._open, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(self._failure)
