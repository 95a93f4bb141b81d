"""A first-in, first-out queue of calls. The policy is asked again when something changes, or when a timer expires."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from math import inf

from piiloom.execution.limits.admission_policy import Admission, AdmissionPolicy
from piiloom.execution.limits.timer import Timer


class AdmissionQueue:
    """Lets calls start as *policy* says, in the order of arrival. Cancelled ones leave the queue and undo their admission."""

    def __init__(self, policy: AdmissionPolicy, clock: Callable[[], float], sleep: Callable[[float], Awaitable[object]]) -> None:
        self._policy, self._clock = policy, clock
        self._queue: deque[tuple[Admission, asyncio.Future[None]]] = deque()
        self._timer = Timer(self.admit_ready, clock, sleep)
        self.waiting = 0

    async def pass_through(self, who: Admission) -> None:
        """Wait until *who* is admitted."""
        if not self._queue:
            now = self._clock()
            if self._policy.ready_at(who, now) <= now:
                self._policy.admit(who, now)
                return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((who, turn))
        self.waiting += 1
        if len(self._queue) == 1:
            self.admit_ready()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self.waiting -= 1
            else:
                self._policy.withdraw(who)
            self.admit_ready()
            raise

    def admit_ready(self) -> None:
        """Admit the calls that may start now, and set the timer for the next one. Call it after any change."""
        queue = self._queue
        while queue:
            who, turn = queue[0]
            if turn.cancelled():
                queue.popleft()
                continue
            now = self._clock()
            at = self._policy.ready_at(who, now)
            if at > now:
                if at < inf:
                    self._timer.set(at)
                else:
                    self._timer.clear()
                return
            queue.popleft()
            self.waiting -= 1
            self._policy.admit(who, now)
            turn.set_result(None)
        self._timer.clear()
