"""What batch mode is made of: calls that wait for a batch, and the patience with which they do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from piiloom.corpus.store.batches import BatchRequestRow, OwedRequest
from piiloom.execution.call_request import Request
from piiloom.execution.money.budget import Reservation
from piiloom.providers.protocol import Completion
from piiloom.providers.replies import with_data


@dataclass(frozen=True, slots=True, kw_only=True)
class WavePolicy:
    """When a wave is sent, how often its batches are looked up, and how often a request is sent again. Times in seconds.

    A wave goes when nothing new has come for ``settle_s`` and every item under way waits; where some do not wait (they may
    wait for each other), after ``patience_s``. Look-ups begin ``first_poll_s`` after a batch was made and grow by
    ``growth`` to one in ``longest_poll_s``. A request that its batch left undone, or that failed there, is sent ``sends``
    times in all; making a batch is tried ``creates`` times (too many requests, or a full queue, is waited out).
    """

    settle_s: float = 0.25
    patience_s: float = 5.0
    first_poll_s: float = 5.0
    longest_poll_s: float = 60.0
    growth: float = 1.3
    sends: int = 4
    creates: int = 6
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(slots=True, eq=False, kw_only=True)
class Ask:
    """A call on its way through a batch. ``request`` None: an earlier sitting sent it, and nobody has asked for it in this one.

    ``tries`` counts the batches that it was in, ``waiters`` the tasks that want the answer.
    """

    key: str
    stage: str
    item_id: str
    attempt: int
    request: Request | None
    worst_usd: float | None
    reservation: Reservation | None
    tries: int = 0
    waiters: int = 0
    future: asyncio.Future[Completion] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def row(self, batch_id: str, run_id: str, custom_id: str) -> BatchRequestRow:
        """Make its row as request *custom_id* of a batch."""
        return BatchRequestRow(
            batch_id=batch_id,
            run_id=run_id,
            custom_id=custom_id,
            key=self.key,
            stage=self.stage,
            item_id=self.item_id,
            attempt=self.attempt,
            worst_usd=self.worst_usd,
        )

    def resolve(self, outcome: Completion | Exception) -> None:
        """Hand *outcome* to whoever waits, now or later."""
        if self.future.done():
            return
        if isinstance(outcome, Completion):
            self.future.set_result(outcome)
        else:
            self.future.set_exception(outcome)
            self.future.exception()  # looked at: there may be nobody who waits


def ask_of(request: Request, worst_usd: float | None, reservation: Reservation | None) -> Ask:
    """Make the ask of a call that this sitting makes."""
    call = request.call
    return Ask(
        key=request.key,
        stage=call.stage,
        item_id=call.item_id,
        attempt=call.attempt,
        request=request,
        worst_usd=worst_usd,
        reservation=reservation,
    )


def ask_owed(owed: OwedRequest, reservation: Reservation | None) -> Ask:
    """Make the ask of a call that an earlier sitting has sent."""
    row = owed.row
    return Ask(
        key=row.key,
        stage=row.stage,
        item_id=row.item_id,
        attempt=row.attempt,
        request=None,
        worst_usd=row.worst_usd,
        reservation=reservation,
        tries=owed.tries,
    )


def read_for(request: Request, completion: Completion, *, provider: str) -> Completion:
    """*completion* with its data; one that came before it was asked for was not held against the schema yet."""
    if completion.data is not None:
        return completion
    return with_data(completion, request.call.schema, provider=provider)
