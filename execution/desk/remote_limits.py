"""A limiter and a budget that live in another process: the interfaces of ``limiter`` and ``budget``, served by a desk."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from piiloom.execution.desk.client import DeskClient
from piiloom.execution.desk.words import Book, Enter, Leave, RatesSeen, Reserve, Spent
from piiloom.execution.limits.limiter import LimiterState
from piiloom.providers.rate_headers import RateReport


class RemoteSlot:
    """Like ``limiter.Slot``, but granted by the desk."""

    __slots__ = ("_client", "_number", "_open", "_stage", "_tokens")

    def __init__(self, client: DeskClient, tokens: int, stage: str) -> None:
        self._client, self._tokens, self._stage = client, tokens, stage
        self._number, self._open = 0, False

    async def __aenter__(self) -> Self:
        self._number = self._client.next_number()
        await self._client.ask(Enter(self._number, self._tokens, self._stage))
        self._open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.failed()

    def answered(self, *, tokens: int | None, latency_s: float, stage: str) -> None:
        """Report an answer after *latency_s* seconds that took *tokens* in all (None: not known)."""
        self._leave(Leave(self._number, "answered", tokens, latency_s, stage))

    def refused(self, *, retry_after: float | None) -> None:
        """Report a refusal; *retry_after* is the requested wait in seconds, if any."""
        self._leave(Leave(self._number, "refused", retry_after=retry_after))

    def failed(self, *, timed_out: bool = False) -> None:
        """Report any other end, such as an answer that did not come in time."""
        self._leave(Leave(self._number, "failed", timed_out=timed_out))

    def _leave(self, word: Leave) -> None:
        if self._open:
            self._open = False
            self._client.tell(word)


class RemoteLimiter:
    """Like ``limiter.Limiter``, but shared through the desk."""

    def __init__(self, client: DeskClient) -> None:
        self._client = client

    def slot(self, tokens: int, stage: str = "") -> RemoteSlot:
        """Return a permit for one call of about *tokens* tokens."""
        return RemoteSlot(self._client, tokens, stage)

    def observe(self, rates: RateReport) -> None:
        """Apply the rate limits that a response's headers declare."""
        self._client.tell(RatesSeen(rates))

    def snapshot(self) -> LimiterState:
        """Return the limiter's state as the desk last reported it, about half a second ago at most."""
        return self._client.state.limiter


class RemoteReservation:
    """Like ``budget.Reservation``, but held by the desk."""

    __slots__ = ("_book", "_open")

    def __init__(self, book: Callable[[float | None], None]) -> None:
        self._book, self._open = book, True

    def settle(self, actual_usd: float) -> None:
        """Book the real cost. Raises ``ValueError`` if the reservation has ended."""
        self._end(actual_usd)

    def charge_in_full(self) -> None:
        """Book the whole amount. Raises ``ValueError`` if the reservation has ended."""
        self._end(None)

    def release(self) -> None:
        """Return the money; does nothing if the reservation has ended."""
        if self._open:
            self._end(0.0)

    def _end(self, usd: float | None) -> None:
        if not self._open:
            raise ValueError("the reservation has ended already")
        self._open = False
        self._book(usd)


class RemoteBudget:
    """Like ``budget.Budget``, but shared through the desk. Without a limit, nothing is reserved and spending is only reported."""

    def __init__(self, client: DeskClient, limit_usd: float | None) -> None:
        self._client = client
        self.limit_usd = limit_usd

    @property
    def spent_usd(self) -> float:
        """What all processes have spent, as the desk last reported."""
        return self._client.state.spent_usd

    @property
    def reserved_usd(self) -> float:
        """What is reserved for calls in progress, as the desk last reported."""
        return self._client.state.reserved_usd

    @property
    def reached(self) -> bool:
        """Whether a call has been turned away, as the desk last reported."""
        return self._client.state.reached

    async def reserve(self, worst_usd: float | None) -> RemoteReservation:
        """Reserve *worst_usd* for a call; waits and raises as ``budget.Budget.reserve`` does."""
        client = self._client
        if self.limit_usd is None:
            return RemoteReservation(lambda usd: client.tell(Spent(worst_usd or 0.0 if usd is None else usd)))
        number = client.next_number()
        await client.ask(Reserve(number, worst_usd))
        return RemoteReservation(lambda usd: client.tell(Book(number, usd)))
