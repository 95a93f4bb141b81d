"""What is said between the desk, which holds the limiter and the budget of a run, and the processes that share them."""

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
    """May a call of about *tokens* start? Answered under *number* when it may."""

    number: int
    tokens: int
    stage: str


@dataclass(frozen=True, slots=True)
class Leave:
    """How the call that entered under *number* ended, as ``limiter.Slot`` is told."""

    number: int
    how: Literal["answered", "refused", "failed"]
    tokens: int | None = None
    latency_s: float = 0.0
    stage: str = ""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Reserve:
    """Set money aside. Answered under *number*, or denied."""

    number: int
    worst_usd: float | None


@dataclass(frozen=True, slots=True)
class Book:
    """End the reservation *number*: *usd* was spent, or all of it (None)."""

    number: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class Spent:
    """Money spent where nothing limits it, and nothing was set aside."""

    usd: float


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Whoever asked under *number* has gone; nothing was sent."""

    number: int


@dataclass(frozen=True, slots=True)
class BrakeFor:
    """Nobody is to start for *seconds*."""

    seconds: float


@dataclass(frozen=True, slots=True)
class RatesSeen:
    """Headers of a response."""

    rates: RateReport


@dataclass(frozen=True, slots=True)
class Tally:
    """How far a client is: plan items done, and what its calls came to."""

    done: int
    rejected: int
    totals: CallTotals


@dataclass(frozen=True, slots=True)
class Heard:
    """Events for whoever watches the run."""

    events: tuple[Event, ...]


Ask = Enter | Leave | Reserve | Book | Spent | Withdraw | BrakeFor | RatesSeen | Tally | Heard


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskState:
    """The limiter and the budget at a moment."""

    limiter: LimiterState
    spent_usd: float
    reserved_usd: float
    reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What the desk has to say to one client. ``stop``: end, keeping what is under way; ``gone``: it was taken for dead."""

    granted: Sequence[int] = ()
    denied: Sequence[tuple[int, PortableError]] = ()
    state: DeskState | None = None
    stop: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskView:
    """What the desk tells whoever started it: tallies by client, and what was heard since the last look."""

    state: DeskState
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    events: Sequence[Event] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings:
    """What a desk is made from: the account's limits, and what the run has spent before."""

    concurrency: int
    rpm: float | None = None
    tpm: float | None = None
    budget_usd: float | None = None
    spent_usd: float = 0.0


class DeskLink(Protocol):
    """The way to a desk: ``desk.Desk`` itself in one process, something that carries words to it from others."""

    async def post(self, client: str, asks: Sequence[Ask]) -> Word:
        """Say *asks*; gives what can be answered at once."""
        ...

    async def poll(self, client: str) -> Word:
        """Wait a moment for answers."""
        ...

    async def leave(self, client: str) -> float:
        """*client* is no more: all that it holds is given back, and counts as spent. Gives what it has spent in all."""
        ...

    async def stop(self) -> None:
        """Ask all clients to end."""
        ...

    async def look(self) -> DeskView:
        """How things stand."""
        ...
