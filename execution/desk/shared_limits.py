"""What the line needs of a limiter and a budget, so that they may stand in another process (``desk_client``).

``limiter.Limiter`` and ``budget.Budget`` are these things themselves.
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from piiloom.execution.limits.limiter import LimiterState
from piiloom.providers.rate_headers import RateReport


class CallSlot(Protocol):
    """A call's place; see ``limiter.Slot``."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    def answered(self, *, tokens: int | None, latency_s: float, stage: str) -> None:
        """The server answered."""
        ...

    def refused(self, *, retry_after: float | None) -> None:
        """The server did not take the call."""
        ...

    def failed(self) -> None:
        """Anything else."""
        ...


class CallLimiter(Protocol):
    """Says when a call may start; see ``limiter.Limiter``."""

    def slot(self, tokens: int, stage: str = "") -> CallSlot:
        """A place for one call."""
        ...

    def brake(self, seconds: float) -> None:
        """Nobody starts for *seconds*."""
        ...

    def observe(self, rates: RateReport) -> None:
        """Take over what the headers of a response declare."""
        ...

    def snapshot(self) -> LimiterState:
        """What the limiter does now."""
        ...


class CallReservation(Protocol):
    """Money set aside for one try; see ``budget.Reservation``."""

    def settle(self, actual_usd: float) -> None:
        """Book what the call really cost."""
        ...

    def charge_in_full(self) -> None:
        """Book all of it."""
        ...

    def release(self) -> None:
        """Give it back."""
        ...


class CallBudget(Protocol):
    """What a run may spend; see ``budget.Budget``."""

    @property
    def limit_usd(self) -> float | None:
        """The limit, if there is one."""
        ...

    @property
    def spent_usd(self) -> float:
        """What has been spent."""
        ...

    @property
    def reserved_usd(self) -> float:
        """What is set aside for calls under way."""
        ...

    @property
    def reached(self) -> bool:
        """Whether a call was turned away."""
        ...

    async def reserve(self, worst_usd: float | None) -> CallReservation:
        """Set *worst_usd* aside for a call."""
        ...
