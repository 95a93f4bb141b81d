"""The desk: coordinates all processes that work on a run, with one limiter and one budget, since both belong to the account.

Clients are known by name. Their slots and reservations are tracked, so that those of a dead client can be released: its calls
count as failed and its reserved money as spent, since it is unknown what was sent. Everything runs in one event loop's thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from piiloom.execution.desk.words import (
    Ask,
    Book,
    DeskSettings,
    DeskState,
    DeskView,
    Enter,
    Heard,
    Leave,
    RatesSeen,
    Reserve,
    Spent,
    Tally,
    Withdraw,
    Word,
)
from piiloom.execution.limits.limiter import Limiter, Slot
from piiloom.execution.money.budget import Budget, Reservation
from piiloom.execution.watching.events import Event
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.portable_errors import PortableError

# How long a poll waits, in seconds, when there is no news.
PATIENCE_S = 0.5


@dataclass(slots=True)
class _Client:
    """State of one client: slots and reservations by message number (reservations with their amount in USD), and open requests."""

    slots: dict[int, Slot] = field(default_factory=dict)
    money: dict[int, tuple[Reservation, float]] = field(default_factory=dict)
    waiting: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    granted: list[int] = field(default_factory=list)
    denied: list[tuple[int, PortableError]] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    spent_usd: float = 0.0
    tally: Tally | None = None
    gone: bool = False


class Desk:
    """The coordinator. Serves clients; a ``words.DeskLink``."""

    def __init__(self, settings: DeskSettings) -> None:
        self.limiter = Limiter(concurrency=settings.concurrency, rpm=settings.rpm, tpm=settings.tpm)
        self.budget = Budget(settings.budget_usd, spent_usd=settings.spent_usd)
        self._clients: dict[str, _Client] = {}
        self._events: list[Event] = []
        self._unlimited_usd = 0.0
        self._stopping = False

    async def post(self, client: str, asks: Sequence[Ask]) -> Word:
        """Process the messages *asks* of *client*; return what can be answered at once."""
        known = self._known(client)
        if known.gone:
            return Word(gone=True)
        for ask in asks:
            self._take(known, ask)
        await asyncio.sleep(0)  # requests that need not wait are granted in this turn of the loop
        return self._word(known)

    async def poll(self, client: str) -> Word:
        """Wait up to ``PATIENCE_S`` seconds for news, and return it."""
        known = self._known(client)
        if not known.gone:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_S):
                    await known.news.wait()
        return self._word(known)

    async def leave(self, client: str) -> float:
        """Remove *client*: its open calls count as failed, and its reservations as spent in full.

        Return what it has spent in all, in USD.
        """
        known = self._known(client)
        known.gone = True
        waiting = list(known.waiting.values())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for slot in known.slots.values():
            slot.failed()
        for number in list(known.money):
            self._book(known, number, None)
        known.slots.clear()
        known.news.set()
        return known.spent_usd

    async def stop(self) -> None:
        """Ask all clients to stop."""
        self._stopping = True
        for known in self._clients.values():
            known.news.set()

    async def look(self) -> DeskView:
        """Return the present state, each client's progress, and the events since the last call."""
        events, self._events = self._events, []
        tallies = {name: known.tally for name, known in self._clients.items() if known.tally is not None}
        return DeskView(state=self._state(), tallies=tallies, events=events)

    def _known(self, name: str) -> _Client:
        known = self._clients.get(name)
        if known is None:
            known = self._clients[name] = _Client()
            if self._stopping:
                known.news.set()
        return known

    def _word(self, client: _Client) -> Word:
        granted, denied = client.granted, client.denied
        client.granted, client.denied = [], []
        client.news.clear()
        return Word(granted=granted, denied=denied, state=self._state(), stop=self._stopping, gone=client.gone)

    def _state(self) -> DeskState:
        budget = self.budget
        return DeskState(
            limiter=self.limiter.snapshot(),
            spent_usd=budget.spent_usd + self._unlimited_usd,
            reserved_usd=budget.reserved_usd,
            reached=budget.reached,
        )

    def _take(self, client: _Client, ask: Ask) -> None:
        match ask:
            case Enter():
                self._wait(client, ask.number, self._entered(client, ask))
            case Reserve():
                self._wait(client, ask.number, self._reserved(client, ask))
            case Leave():
                self._left(client, ask)
            case Book():
                self._book(client, ask.number, ask.usd)
            case Spent():
                client.spent_usd += ask.usd
                self._unlimited_usd += ask.usd
            case Withdraw():
                self._withdrawn(client, ask.number)
            case RatesSeen():
                self.limiter.observe(ask.rates)
            case Tally():
                client.tally = ask
            case Heard():
                self._events += ask.events

    def _wait(self, client: _Client, number: int, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        client.waiting[number] = task
        task.add_done_callback(lambda _: client.waiting.pop(number, None))

    async def _entered(self, client: _Client, ask: Enter) -> None:
        slot = self.limiter.slot(ask.tokens, ask.stage)
        await slot.__aenter__()  # freed by the client's Leave message
        client.slots[ask.number] = slot
        client.granted.append(ask.number)
        client.news.set()

    async def _reserved(self, client: _Client, ask: Reserve) -> None:
        try:
            reservation = await self.budget.reserve(ask.worst_usd)
        except PiiloomError as error:
            client.denied.append((ask.number, PortableError.of(error)))
        else:
            client.money[ask.number] = (reservation, ask.worst_usd or 0.0)
            client.granted.append(ask.number)
        client.news.set()

    def _left(self, client: _Client, ask: Leave) -> None:
        slot = client.slots.pop(ask.number, None)
        if slot is None:
            return
        if ask.how == "answered":
            slot.answered(tokens=ask.tokens, latency_s=ask.latency_s, stage=ask.stage)
        elif ask.how == "refused":
            slot.refused(retry_after=ask.retry_after)
        else:
            slot.failed(timed_out=ask.timed_out)

    def _book(self, client: _Client, number: int, usd: float | None) -> None:
        held = client.money.pop(number, None)
        if held is None:
            return
        reservation, worst_usd = held
        if usd is None:
            reservation.charge_in_full()
        else:
            reservation.settle(usd)
        client.spent_usd += worst_usd if usd is None else usd

    def _withdrawn(self, client: _Client, number: int) -> None:
        task = client.waiting.get(number)
        if task is not None:
            task.cancel()
        self._left(client, Leave(number, "failed"))
        self._book(client, number, 0.0)
