"""The coordinator of a run in several processes: it owns the limiter and the budget, since both belong to the account.

A plain class for one event loop. Ray runs it as an actor; workers ask it through ``shared_limits.SharedLimits``. It knows workers by
name and what each of them holds, so that it can take that back when a worker dies.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from piiloom.execution.limits.limiter import Limiter, LimiterState, Slot
from piiloom.execution.money.budget import Budget, Reservation
from piiloom.foundation.errors import PiiloomError, RunError
from piiloom.foundation.portable_errors import PortableError
from piiloom.providers.rate_headers import RateReport

# A call of one of the methods that answer nothing (``end``, ``spend``, ``withdraw``, ``observe``): its name and its arguments.
Note = tuple[str, tuple[Any, ...]]


@dataclass(slots=True)
class _Worker:
    """What one worker holds, and the requests of it that wait, by ticket number."""

    held: dict[int, Slot | Reservation] = field(default_factory=dict)
    waiting: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    withdrawn: set[int] = field(default_factory=set)
    spent_usd: float = 0.0
    released: bool = False


class Coordinator:
    """Owns the limiter and the budget; the numbers are those of ``Limiter`` and ``Budget``.

    A worker numbers its requests: the number is the ticket for what was granted. Errors are returned, since they have to be pickled.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        rpm: float | None = None,
        tpm: float | None = None,
        budget_usd: float | None = None,
        spent_usd: float = 0.0,
    ) -> None:
        self.limiter = Limiter(concurrency=concurrency, rpm=rpm, tpm=tpm)
        self.budget = Budget(budget_usd, spent_usd=spent_usd)
        self._workers: defaultdict[str, _Worker] = defaultdict(_Worker)

    async def enter(self, worker: str, ticket: int, notes: Sequence[Note], tokens: int, stage: str) -> PortableError | None:
        """Take *notes*, then wait for a slot for a call of about *tokens* tokens."""
        self._take(worker, notes)
        return await self._grant(worker, ticket, self.limiter.slot(tokens, stage).__aenter__())

    async def reserve(self, worker: str, ticket: int, notes: Sequence[Note], worst_usd: float | None) -> PortableError | None:
        """Take *notes*, then wait for a reservation of *worst_usd*; returns the error of ``Budget.reserve`` if it is denied."""
        self._take(worker, notes)
        return await self._grant(worker, ticket, self.budget.reserve(worst_usd))

    async def note(self, worker: str, notes: Sequence[Note]) -> None:
        """Take *notes*, in order."""
        self._take(worker, notes)

    async def snapshot(self) -> LimiterState:
        """Return the state of the limiter."""
        return self.limiter.snapshot()

    async def release(self, worker: str) -> float:
        """Take back what *worker*, which died, holds: its calls count as failed, its reservations as spent in full.

        Whatever it still asks for is denied. Returns what it has spent in all, in USD.
        """
        known = self._workers[worker]
        known.released = True
        waiting = list(known.waiting.values())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for ticket, held in list(known.held.items()):
            self.end(worker, ticket, "failed" if isinstance(held, Slot) else "charge_in_full", {})
        return known.spent_usd

    def end(self, worker: str, ticket: int, how: str, details: Mapping[str, Any]) -> None:
        """End the slot or reservation *ticket* by its method *how* with the arguments *details*."""
        known = self._workers[worker]
        held = known.held.pop(ticket, None)
        if held is None:
            return  # taken back before
        before = self.budget.spent_usd
        getattr(held, how)(**details)
        known.spent_usd += self.budget.spent_usd - before

    def spend(self, worker: str, usd: float) -> None:
        """Count *usd*, spent without a reservation as there is no limit."""
        self.budget.reserve_sent(usd).charge_in_full()
        self._workers[worker].spent_usd += usd

    def withdraw(self, worker: str, ticket: int) -> None:
        """Undo the request *ticket*, granted or not: its caller was cancelled, and nothing was sent."""
        known = self._workers[worker]
        if ticket in known.held:
            known.held.pop(ticket).release()
        elif ticket in known.waiting:
            known.waiting[ticket].cancel()
        else:
            known.withdrawn.add(ticket)  # this has overtaken the request

    def observe(self, _worker: str, rates: RateReport) -> None:
        """Apply the rate limits that a response's headers declare."""
        self.limiter.observe(rates)

    def _take(self, worker: str, notes: Sequence[Note]) -> None:
        for method, arguments in notes:
            getattr(self, method)(worker, *arguments)

    async def _grant(self, worker: str, ticket: int, request: Coroutine[Any, Any, Slot | Reservation]) -> PortableError | None:
        known = self._workers[worker]
        if known.released or ticket in known.withdrawn:
            request.close()
            return _denied(worker)

        async def hold() -> None:
            known.held[ticket] = await request

        task = known.waiting[ticket] = asyncio.ensure_future(hold())
        await asyncio.wait([task])
        del known.waiting[ticket]
        request.close()  # not begun yet, if it was cancelled at once
        if task.cancelled():
            return _denied(worker)
        try:
            task.result()
        except PiiloomError as error:
            return PortableError.of(error)
        return None


def _denied(worker: str) -> PortableError:
    return PortableError.of(RunError("the coordinator has marked this worker as lost", where=worker, remedy="Resume the run"))
