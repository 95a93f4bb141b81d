"""The records of batch mode: writes batches and requests to disk before they are sent, and answers before they are used.

``BatchEntry`` is a call that waits for a batch, ``BatchPolicy`` how long to wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from piiloom.corpus.store.call_events import BatchRequestRow, BatchRow, CallEvent, EventKind, OwedRequest, load_batches
from piiloom.execution.call_entries import (
    CallTotals,
    PromptNotes,
    Request,
    failure_code,
    failure_entry,
    reply_entry,
    sent_entry,
    unsaid_cost,
)
from piiloom.execution.committing import Batch, GroupCommitter
from piiloom.execution.money.budget import Reservation
from piiloom.execution.watching.events import CallAnswered, CallFailed, CallStarted, EventSink
from piiloom.foundation.errors import ProviderError
from piiloom.foundation.noop import noop
from piiloom.providers.protocol import Completion, PromptCall, Provider
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


# Requests written in one transaction: fifty thousand prompts at once would take hundreds of megabytes.
_TOGETHER = 1000


@dataclass(frozen=True, slots=True)
class _Answered:
    entry: BatchEntry
    completion: Completion
    error: ProviderError | None


@dataclass(frozen=True, slots=True)
class _Failed:
    entry: BatchEntry
    error: ProviderError
    final: bool
    charge_usd: float


@dataclass(slots=True)
class Outcomes:
    """Outcomes to be written in one commit; they are counted and passed to the waiting tasks after it."""

    found: list[_Answered | _Failed] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.found)

    def answered(self, entry: BatchEntry, completion: Completion, error: ProviderError | None = None) -> None:
        """Add a paid answer; *error* says why it cannot be used, if so."""
        self.found.append(_Answered(entry, completion, error))

    def failed(self, entry: BatchEntry, error: ProviderError, *, final: bool) -> None:
        """Add a failed try of *entry*. If it may have been billed, its worst case is charged. *final*: it is not sent again."""
        charge = (entry.worst_usd or 0.0) if getattr(error, "maybe_billed", False) else 0.0
        self.found.append(_Failed(entry, error, final, charge))


class BatchLedger:
    """Writes the rows of batch mode through *committer* and updates totals, budget and events accordingly."""

    def __init__(self, provider: Provider, committer: GroupCommitter, totals: CallTotals, run_id: str, sink: EventSink = noop) -> None:
        self.run_id = run_id
        self._provider, self._committer, self._totals, self._sink = provider, committer, totals, sink
        self._prompts = PromptNotes()

    async def note(self, row: BatchRow) -> None:
        """Write the state of a batch to disk."""
        await self._committer.commit(Batch(batches=[row]))

    async def known_ids(self) -> Collection[str]:
        """Return the provider ids of all batches in this store, of any run."""
        rows = await self._committer.ask(load_batches)
        return {row.remote_id for row in rows if row.remote_id is not None}

    async def note_sending(self, row: BatchRow, entries: Mapping[str, BatchEntry]) -> None:
        """Write a batch that is about to be created to disk, with all its requests. *entries* are keyed by custom id."""
        batch, now = Batch(batches=[row]), datetime.now(UTC)
        for number, (custom_id, entry) in enumerate(entries.items(), 1):
            entry.tries += 1
            content = sent_entry(entry.tries, entry.worst_usd, now) | {"batch": row.id}
            if entry.tries == 1 and entry.request is not None:
                content |= self._prompts.entry(entry.request, batch)
            batch.calls.append(_event(entry, "sent", content))
            batch.batch_requests.append(entry.row(row.id, self.run_id, custom_id))
            if number % _TOGETHER == 0:
                await self._committer.commit(batch)
                batch = Batch()
        await self._committer.commit(batch)
        for entry in entries.values():
            self._sink(CallStarted(entry.stage, entry.item_id, entry.attempt, entry.tries))

    async def note_outcomes(self, outcomes: Outcomes) -> None:
        """Write *outcomes* to disk, then count them, pass them to the waiting tasks, and clear *outcomes*."""
        batch = Batch()
        for found in outcomes.found:
            batch.calls.append(self._reply(found) if isinstance(found, _Answered) else _failure(found))
        await self._committer.commit(batch)
        for found in outcomes.found:
            if isinstance(found, _Answered):
                self._count_answer(found)
            else:
                self._count_failure(found)
        outcomes.found.clear()

    def _reply(self, found: _Answered) -> CallEvent:
        entry, request = found.entry, found.entry.request
        call = request.call if request is not None else _unknown_call(entry)
        rendered = request.rendered_sha256 if request is not None else ""
        error = None if found.error is None else f"{failure_code(found.error)}: {found.error}"
        charge = unsaid_cost(found.completion, entry.worst_usd)
        content = reply_entry(self._provider, rendered, call, entry.tries, found.completion, error, charge_usd=charge, batch=True)
        return _event(entry, "reply", content)

    def _count_answer(self, found: _Answered) -> None:
        entry, completion = found.entry, found.completion
        charge = unsaid_cost(completion, entry.worst_usd)
        if entry.reservation is not None:
            entry.reservation.settle((completion.cost_usd or 0.0) + charge)
            entry.reservation = None
        self._totals.count(completion, charge)
        usage, cost = completion.usage, completion.cost_usd
        told = (completion.latency_s, usage.input, usage.cached, usage.output, cost, completion.retries)
        self._sink(CallAnswered(entry.stage, entry.item_id, entry.attempt, *told))
        entry.resolve(found.error or completion)

    def _count_failure(self, found: _Failed) -> None:
        entry = found.entry
        if entry.reservation is not None and (found.final or found.charge_usd):
            if found.charge_usd:
                entry.reservation.charge_in_full()
            else:
                entry.reservation.release()
            entry.reservation = None
        maybe_billed = bool(getattr(found.error, "maybe_billed", False))
        self._totals.count_failure(found.charge_usd, maybe_billed=maybe_billed, final=found.final)
        self._sink(CallFailed(entry.stage, entry.item_id, entry.attempt, failure_code(found.error), found.final))
        if found.final:
            found.error.retries = max(0, entry.tries - 1)
            entry.resolve(found.error)


def _failure(found: _Failed) -> CallEvent:
    maybe_billed = bool(getattr(found.error, "maybe_billed", False))
    code, number = failure_code(found.error), max(1, found.entry.tries)
    content = failure_entry(number, code, str(found.error), charge_usd=found.charge_usd, maybe_billed=maybe_billed, final=found.final)
    return _event(found.entry, "failed", content)


def _event(entry: BatchEntry, kind: EventKind, content: Mapping[str, Any]) -> CallEvent:
    return CallEvent(key=entry.key, kind=kind, stage=entry.stage, item_id=entry.item_id, attempt=entry.attempt, entry=content)


def _unknown_call(entry: BatchEntry) -> PromptCall:
    """Return a placeholder for a call that this session has not made, so that its template is unknown."""
    return PromptCall(
        stage=entry.stage, template="", variables={}, render=tuple, schema_name="", schema={}, item_id=entry.item_id, attempt=entry.attempt
    )
