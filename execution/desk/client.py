"""A process's place at the desk, which holds the limiter and the budget of a run for all who work on it.

What is said in one turn of the loop travels together, and only one post is under way at a time: words arrive in the order
in which they were said, and many calls share the price of one message.
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

# Events wait this long for company.
_EVENTS_PACE_S = 0.1


class DeskClient:
    """One process's place at the desk, as *name*; a context manager. *on_stop* is called once when the desk asks for the end."""

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
        with suppress(Exception):  # a desk that is no more has nothing to take back
            await self._link.leave(self._name)

    def tell(self, word: Ask) -> None:
        """Say something that needs no answer."""
        self._out.append(word)
        self._said.set()

    def hear(self, event: Event) -> None:
        """Pass *event* on to whoever watches the run; an ``events.EventSink``."""
        if not self._heard:
            asyncio.get_running_loop().call_later(_EVENTS_PACE_S, self._send_heard)
        self._heard.append(event)

    def next_number(self) -> int:
        """A number that nothing else of this client has."""
        self._last += 1
        return self._last

    async def ask(self, word: Enter | Reserve) -> None:
        """Say *word* and wait until it is granted; raises what it was denied with, and ``RunError`` when the desk is away."""
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
                    self._said.set()  # what was said meanwhile is still sent
        except Exception as error:  # noqa: BLE001 - whatever carries the words: all who wait are told
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
        """The desk is away, or takes this client for dead: without it nothing may be sent."""
        if self._failure is None:
            kind = type(cause).__name__ if cause else "it takes this process for dead"
            self._failure = RunError(f"the limiter and budget that the partitions share cannot be asked ({kind})", remedy="Resume the run")
            self._failure.__cause__ = cause
        waiting, self._open = self._open, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(self._failure)
