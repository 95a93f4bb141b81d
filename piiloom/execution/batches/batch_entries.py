"""Building blocks of batch mode: calls that wait for a batch (``BatchEntry``), and how long to wait (``BatchPolicy``)."""

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
class BatchPolicy:
    """When a round of calls is sent, how often its batches are polled, and how often a request is sent again. Times in seconds.

    A round is sent when nothing new has come for ``settle_s`` and every open item waits for a call. If some items do not (they may wait
    for each other), it is sent after ``patience_s`` instead. Polling starts ``first_poll_s`` after a batch was made, and the interval
    grows by the factor ``growth`` up to ``longest_poll_s``. A request that failed in a batch, or got no result, is sent ``sends``
    times in all. Creating a batch is tried ``creates`` times; rate limits and a full queue do not count.
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
class BatchEntry:
    """A call on its way through a batch.

    ``request`` is None if an earlier session sent it and this one has not asked for it yet. ``tries`` counts the batches it was in,
    ``waiters`` the tasks that wait for the answer.
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
        """Build the database row of this call as request *custom_id* of a batch."""
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
        """Set the result of ``future``: a completion, or an error to raise. Does nothing if it is set already."""
        if self.future.done():
            return
        if isinstance(outcome, Completion):
            self.future.set_result(outcome)
        else:
            self.future.set_exception(outcome)
            self.future.exception()  # retrieved, to avoid a warning if no task waits


def entry_of(request: Request, worst_usd: float | None, reservation: Reservation | None) -> BatchEntry:
    """Build the ``BatchEntry`` of a call that this session makes."""
    call = request.call
    return BatchEntry(
        key=request.key,
        stage=call.stage,
        item_id=call.item_id,
        attempt=call.attempt,
        request=request,
        worst_usd=worst_usd,
        reservation=reservation,
    )


def entry_owed(owed: OwedRequest, reservation: Reservation | None) -> BatchEntry:
    """Build the ``BatchEntry`` of a call that an earlier session has sent and that has no answer yet."""
    row = owed.row
    return BatchEntry(
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
    """Return *completion* with its data, parsed by the schema of *request* if that was not done yet.

    An answer that arrived before this session asked for it was not parsed. Raises ``InvalidReply`` if it does not match.
    """
    if completion.data is not None:
        return completion
    return with_data(completion, request.call.schema, provider=provider)
