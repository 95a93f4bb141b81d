"""A first-in, first-out queue of tasks before a gate. The gate is asked again when something changes, or when a timer expires."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from math import inf
from typing import Generic, Protocol, TypeVar

from piiloom.execution.limits.timer import Timer

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)


class Gate(Protocol[T_contra]):
    """Decides when the tasks of a queue may pass."""

    def ready_at(self, who: T_contra, now: float) -> float:
        """Return when *who* may pass: *now*, later, or ``inf`` if only a change can tell (``AdmissionQueue.look`` is called then)."""
        ...

    def admit(self, who: T_contra, now: float) -> None:
        """Record that *who* passes now."""
        ...

    def withdraw(self, who: T_contra) -> None:
        """Undo ``admit`` for *who*, whose task was cancelled before it could go on."""
        ...


class AdmissionQueue(Generic[T]):
    """Rate-limit queue: lets tasks pass *gate* in the order of arrival. Cancelled tasks leave the queue and undo their admission."""

    def __init__(self, gate: Gate[T], clock: Callable[[], float], sleep: Callable[[float], Awaitable[object]]) -> None:
        self._gate, self._clock = gate, clock
        self._line: deque[tuple[T, asyncio.Future[None]]] = deque()
        self._timer = Timer(self.look, clock, sleep)
        self.waiting = 0

    async def pass_through(self, who: T) -> None:
        """Wait until *who* is admitted."""
        if not self._line:
            now = self._clock()
            if self._gate.ready_at(who, now) <= now:
                self._gate.admit(who, now)
                return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append((who, turn))
        self.waiting += 1
        if len(self._line) == 1:
            self.look()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self.waiting -= 1
            else:
                self._gate.withdraw(who)
            self.look()
            raise

    def look(self) -> None:
        """Admit the tasks that may pass now, and set the timer for the next one. Call it after any change."""
        line = self._line
        while line:
            who, turn = line[0]
            if turn.cancelled():
                line.popleft()
                continue
            now = self._clock()
            at = self._gate.ready_at(who, now)
            if at > now:
                if at < inf:
                    self._timer.set(at)
                else:
                    self._timer.clear()
                return
            line.popleft()
            self.waiting -= 1
            self._gate.admit(who, now)
            turn.set_result(None)
        self._timer.clear()
