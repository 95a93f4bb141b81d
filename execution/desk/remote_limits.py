"""The limiter and the budget of a run as another process has them: the faces of ``limiter`` and ``budget``, a desk behind them."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from piiloom.execution.desk.client import DeskClient
from piiloom.execution.desk.words import Book, BrakeFor, Enter, Leave, RatesSeen, Reserve, Spent
from piiloom.execution.limits.limiter import LimiterState
from piiloom.providers.rate_headers import RateReport


class RemoteSlot:
    """As ``limiter.Slot``."""

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
        """The server answered after *latency_s*; the call took *tokens* (None: not known)."""
        self._leave(Leave(self._number, "answered", tokens, latency_s, stage))

    def refused(self, *, retry_after: float | None) -> None:
        """The server did not take the call, and may have said for how long."""
        self._leave(Leave(self._number, "refused", retry_after=retry_after))

    def failed(self) -> None:
        """Anything else."""
        self._leave(Leave(self._number, "failed"))

    def _leave(self, word: Leave) -> None:
        if self._open:
            self._open = False
            self._client.tell(word)


class RemoteLimiter:
    """As ``limiter.Limiter``."""

    def __init__(self, client: DeskClient) -> None:
        self._client = client

    def slot(self, tokens: int, stage: str = "") -> RemoteSlot:
        """A place for one call that is estimated to take *tokens*."""
        return RemoteSlot(self._client, tokens, stage)

    def brake(self, seconds: float) -> None:
        """Nobody starts for *seconds*, in whichever process."""
        self._client.tell(BrakeFor(seconds))

    def observe(self, rates: RateReport) -> None:
        """Take over what the headers of a response declare."""
        self._client.tell(RatesSeen(rates))

    def snapshot(self) -> LimiterState:
        """What the limiter did when the desk last said so, at most half a second ago."""
        return self._client.state.limiter


class RemoteReservation:
    """As ``budget.Reservation``."""

    __slots__ = ("_book", "_open")

    def __init__(self, book: Callable[[float | None], None]) -> None:
        self._book, self._open = book, True

    def settle(self, actual_usd: float) -> None:
        """Book what the call really cost."""
        self._end(actual_usd)

    def charge_in_full(self) -> None:
        """Book all of it."""
        self._end(None)

    def release(self) -> None:
        """Give it back; does nothing after another ending."""
        if self._open:
            self._end(0.0)

    def _end(self, usd: float | None) -> None:
        if not self._open:
            raise ValueError("the reservation has ended already")
        self._open = False
        self._book(usd)


class RemoteBudget:
    """As ``budget.Budget``. Where there is no limit nobody is asked, and what is spent is only counted."""

    def __init__(self, client: DeskClient, limit_usd: float | None) -> None:
        self._client = client
        self.limit_usd = limit_usd

    @property
    def spent_usd(self) -> float:
        """What all processes have spent, as the desk last said."""
        return self._client.state.spent_usd

    @property
    def reserved_usd(self) -> float:
        """What is set aside for calls under way, as the desk last said."""
        return self._client.state.reserved_usd

    @property
    def reached(self) -> bool:
        """Whether a call was turned away."""
        return self._client.state.reached

    async def reserve(self, worst_usd: float | None) -> RemoteReservation:
        """Set *worst_usd* aside for a call; waits and raises as ``budget.Budget.reserve`` does."""
        client = self._client
        if self.limit_usd is None:
            return RemoteReservation(lambda usd: client.tell(Spent(worst_usd or 0.0 if usd is None else usd)))
        number = client.next_number()
        await client.ask(Reserve(number, worst_usd))
        return RemoteReservation(lambda usd: client.tell(Book(number, usd)))
