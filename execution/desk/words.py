"""Messages between the desk, which holds the limiter and the budget of a run, and its client processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from piiloom.execution.call_totals import CallTotals
from piiloom.execution.limits.limiter import LimiterState
from piiloom.execution.watching.events import Event
from piiloom.foundation.portable_errors import PortableError
from piiloom.providers.rate_headers import RateReport


@dataclass(frozen=True, slots=True)
class Enter:
    """Request a slot for a call of about *tokens* tokens; granted under *number*."""

    number: int
    tokens: int
    stage: str


@dataclass(frozen=True, slots=True)
class Leave:
    """Report how the call that got its slot under *number* ended; fields as for ``limiter.Slot``."""

    number: int
    how: Literal["answered", "refused", "failed"]
    tokens: int | None = None
    latency_s: float = 0.0
    stage: str = ""
    retry_after: float | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Reserve:
    """Request a reservation of *worst_usd*; granted or denied under *number*."""

    number: int
    worst_usd: float | None


@dataclass(frozen=True, slots=True)
class Book:
    """End reservation *number*: *usd* was spent (None: the whole amount)."""

    number: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class Spent:
    """Report money spent without a reservation, as there is no limit."""

    usd: float


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Withdraw request *number*: its caller was cancelled, and nothing was sent."""

    number: int


@dataclass(frozen=True, slots=True)
class RatesSeen:
    """Report the rate headers of a response."""

    rates: RateReport


@dataclass(frozen=True, slots=True)
class Tally:
    """Report a client's progress: plan items done and rejected, and the totals of its calls."""

    done: int
    rejected: int
    totals: CallTotals


@dataclass(frozen=True, slots=True)
class Heard:
    """Pass events on to the views of the run."""

    events: tuple[Event, ...]


Ask = Enter | Leave | Reserve | Book | Spent | Withdraw | RatesSeen | Tally | Heard


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskState:
    """State of the limiter and the budget at one moment."""

    limiter: LimiterState
    spent_usd: float
    reserved_usd: float
    reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The desk's reply to one client: numbers of granted requests, and of denied ones with their errors.

    ``stop``: end, after the calls in progress. ``gone``: the desk regards this client as dead and has released what it held.
    """

    granted: Sequence[int] = ()
    denied: Sequence[tuple[int, PortableError]] = ()
    state: DeskState | None = None
    stop: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskView:
    """What the desk reports to its owner: its state, progress by client, and the events since the last report."""

    state: DeskState
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    events: Sequence[Event] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings:
    """Settings of a desk: the account's limits, and what the run has spent before."""

    concurrency: int
    rpm: float | None = None
    tpm: float | None = None
    budget_usd: float | None = None
    spent_usd: float = 0.0


class DeskLink(Protocol):
    """Access to a desk: ``server.Desk`` itself in its own process, or a transport that forwards messages to it from another."""

    async def post(self, client: str, asks: Sequence[Ask]) -> Word:
        """Send the messages *asks* of *client*; return what can be answered at once."""
        ...

    async def poll(self, client: str) -> Word:
        """Wait a moment for news, and return it."""
        ...

    async def leave(self, client: str) -> float:
        """Remove *client*: its open calls count as failed, and its reservations as spent in full.

        Return what it has spent in all, in USD.
        """
        ...

    async def stop(self) -> None:
        """Ask all clients to stop."""
        ...

    async def look(self) -> DeskView:
        """Return the present state, each client's progress, and the events since the last call."""
        ...
