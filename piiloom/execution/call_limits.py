"""What a call needs before it is sent: a slot of a limiter and, under a budget, a reservation.

Within one process these are ``limiter.Limiter`` and ``budget.Budget``; processes that share an account use ``shared_limits.SharedLimits``.
"""

from __future__ import annotations

from typing import Protocol, Self

from piiloom.execution.limits.limiter import LimiterState
from piiloom.providers.rate_headers import RateReport


class CallSlot(Protocol):
    """A permit for one call; see ``limiter.Slot``. Entering waits until the call may start."""

    async def __aenter__(self) -> Self: ...

    def answered(self, *, tokens: int | None, latency_s: float, stage: str) -> None:
        """Report an answer."""
        ...

    def refused(self, *, retry_after: float | None) -> None:
        """Report that the server refused the call."""
        ...

    def failed(self, *, timed_out: bool = False) -> None:
        """Report any other end, such as an answer that did not come in time."""
        ...


class CallLimiter(Protocol):
    """Decides when calls may start; see ``limiter.Limiter``."""

    def slot(self, tokens: int, stage: str = "") -> CallSlot:
        """Return a permit for one call of about *tokens* tokens."""
        ...

    def observe(self, rates: RateReport) -> None:
        """Apply the rate limits that a response's headers declare."""
        ...

    def snapshot(self) -> LimiterState:
        """Return the present state."""
        ...


class CallReservation(Protocol):
    """Money reserved for one try of a call; see ``budget.Reservation``."""

    def settle(self, actual_usd: float) -> None:
        """Book the real cost."""
        ...

    def charge_in_full(self) -> None:
        """Book the whole amount."""
        ...

    def release(self) -> None:
        """Return the money."""
        ...


class CallBudget(Protocol):
    """What a run may spend; see ``budget.Budget``."""

    async def reserve(self, worst_usd: float | None) -> CallReservation:
        """Reserve *worst_usd* for a call."""
        ...
