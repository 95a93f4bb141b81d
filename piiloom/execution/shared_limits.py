"""A limiter and a budget that several processes share, since both belong to the account.

``Coordinator`` is a plain class for one event loop that owns both. Ray runs it as an actor. It knows workers by name and what each of
them holds, so that it can take that back when a worker dies.

A request of a worker is one call of the coordinator, which returns once it is granted. What needs no answer, such as how a call ended,
goes along with the next request, or by itself a few milliseconds later: with Ray, each call of an actor takes about 1 ms of CPU time at
both ends.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from piiloom.execution.limits.limiter import Limiter, LimiterSlot, LimiterState
from piiloom.execution.money.budget import Budget, Reservation
from piiloom.foundation.errors import PiiloomError, RunError
from piiloom.foundation.portable_errors import PortableError
from piiloom.providers.rate_headers import RateReport

# A call of one of the methods that answer nothing (``end``, ``spend``, ``withdraw``, ``observe``): its name and its arguments.
Note = tuple[str, tuple[Any, ...]]


@dataclass(slots=True)
class _Worker:
    """What one worker holds, and the requests of it that wait, by ticket number."""

    held: dict[int, LimiterSlot | Reservation] = field(default_factory=dict)
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
            self.end(worker, ticket, "failed" if isinstance(held, LimiterSlot) else "charge_in_full", {})
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

    async def _grant(self, worker: str, ticket: int, request: Coroutine[Any, Any, LimiterSlot | Reservation]) -> PortableError | None:
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


T = TypeVar("T")

_NOTES_PACE_S = 0.005


async def answer(reply: Awaitable[T]) -> T:
    """Wait for a reply of the coordinator; raises ``RunError`` if it is gone."""
    try:
        return await reply
    except Exception as error:  # any error of the transport, or of the coordinator itself
        name = type(error).__name__
        raise RunError(f"the shared rate limiter and budget of the workers cannot be reached ({name})", remedy="Resume the run") from error


class SharedLimits:
    """The ``CallLimiter`` and ``CallBudget`` of one process, called *worker*. Close it, so that nothing stays unsaid (``aclosing``).

    *coordinator* is the Ray handle of a ``Coordinator``; *concurrency* and *budget_usd* are those that it was made with.
    """

    def __init__(self, coordinator: Any, worker: str, *, concurrency: int, budget_usd: float | None) -> None:
        self._coordinator, self._worker, self._budget_usd = coordinator, worker, budget_usd
        self._last_ticket = 0
        self._notes: list[Note] = []
        self._failure: RunError | None = None
        self._state = LimiterState(limit=concurrency, in_flight=0, waiting=0, rpm=None, tpm=None, braking_for_s=0.0, refused=0)

    async def aclose(self) -> None:
        """Send what is still to be said."""
        with suppress(RunError):  # the coordinator is gone already
            await answer(self._coordinator.note.remote(self._worker, self._taken_notes()))

    def slot(self, tokens: int, stage: str = "") -> LimiterSlot:
        """Return a permit for one call of about *tokens* tokens."""
        return LimiterSlot(
            lambda: self.request("enter", tokens, stage), lambda ticket, how, details: self.note("end", ticket, how, details)
        )

    def observe(self, rates: RateReport) -> None:
        """Apply the rate limits that a response's headers declare."""
        self.note("observe", rates)

    def snapshot(self) -> LimiterState:
        """Return the limiter's state at the last ``refresh``."""
        return self._state

    async def refresh(self) -> None:
        """Ask for the limiter's state."""
        self._state = await answer(self._coordinator.snapshot.remote())

    async def reserve(self, worst_usd: float | None) -> Reservation:
        """Reserve *worst_usd* as ``Budget.reserve`` does; without a limit, only what is spent is reported."""
        ticket = None if self._budget_usd is None else await self.request("reserve", worst_usd)

        def ended(usd: float | None) -> None:
            if ticket is None:
                self.note("spend", (worst_usd or 0.0) if usd is None else usd)
            elif usd is None:
                self.note("end", ticket, "charge_in_full", {})
            else:
                self.note("end", ticket, "settle", {"actual_usd": usd})

        return Reservation(ended)

    async def request(self, method: str, *arguments: Any) -> int:
        """Wait until the coordinator's *method* grants something, and return the ticket for it. Withdraws the request if cancelled.

        Raises the error with which it was denied, or ``RunError`` if the coordinator is gone; nothing may be sent without it.
        """
        if self._failure is not None:
            raise self._failure
        self._last_ticket += 1
        ticket = self._last_ticket
        try:
            reply: Awaitable[PortableError | None] = getattr(self._coordinator, method).remote(
                self._worker, ticket, self._taken_notes(), *arguments
            )
            denied = await answer(reply)
        except asyncio.CancelledError:
            self.note("withdraw", ticket)
            raise
        except RunError as failure:
            self._failure = failure
            raise
        if denied is not None:
            raise denied.rebuilt()
        return ticket

    def note(self, method: str, *arguments: Any) -> None:
        """Call the coordinator's *method*, which answers nothing, a little later."""
        if not self._notes:
            asyncio.get_running_loop().call_later(_NOTES_PACE_S, self._send_notes)
        self._notes.append((method, arguments))

    def _taken_notes(self) -> list[Note]:
        notes, self._notes = self._notes, []
        return notes

    def _send_notes(self) -> None:
        if self._notes:
            self._coordinator.note.remote(self._worker, self._taken_notes())


# What a call needs before it is sent. Within one process the first of each; processes that share an account have ``SharedLimits``.
CallLimiter: TypeAlias = Limiter | SharedLimits
CallBudget: TypeAlias = Budget | SharedLimits
