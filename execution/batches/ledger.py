"""The records of batch mode: writes batches and requests to disk before they are sent, and answers before they are used."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from piiloom.corpus.store.batches import BatchRow, load_batches
from piiloom.corpus.store.call_events import CallEvent, EventKind
from piiloom.execution.batches.asks import Ask
from piiloom.execution.call_entries import failure_code, failure_entry, reply_entry, sent_entry, unsaid_cost
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.committing import Batch, GroupCommitter
from piiloom.execution.prompt_notes import PromptNotes
from piiloom.execution.watching.events import CallAnswered, CallFailed, CallStarted, EventSink, unheard
from piiloom.foundation.errors import ProviderError
from piiloom.providers.protocol import Completion, PromptCall, Provider

# Requests written in one transaction: fifty thousand prompts at once would take hundreds of megabytes.
_TOGETHER = 1000


@dataclass(frozen=True, slots=True)
class _Answered:
    ask: Ask
    completion: Completion
    error: ProviderError | None


@dataclass(frozen=True, slots=True)
class _Failed:
    ask: Ask
    error: ProviderError
    final: bool
    charge_usd: float


@dataclass(slots=True)
class Outcomes:
    """Outcomes to be written in one commit; they are counted and passed to the waiting tasks after it."""

    found: list[_Answered | _Failed] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.found)

    def answered(self, ask: Ask, completion: Completion, error: ProviderError | None = None) -> None:
        """Add a paid answer; *error* says why it cannot be used, if so."""
        self.found.append(_Answered(ask, completion, error))

    def failed(self, ask: Ask, error: ProviderError, *, final: bool) -> None:
        """Add a failed try of *ask*. If it may have been billed, its worst case is charged. *final*: it is not sent again."""
        charge = (ask.worst_usd or 0.0) if getattr(error, "maybe_billed", False) else 0.0
        self.found.append(_Failed(ask, error, final, charge))


class BatchLedger:
    """Writes the rows of batch mode through *committer* and updates totals, budget and events accordingly."""

    def __init__(self, provider: Provider, committer: GroupCommitter, totals: CallTotals, run_id: str, sink: EventSink = unheard) -> None:
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

    async def note_sending(self, row: BatchRow, asks: Mapping[str, Ask]) -> None:
        """Write a batch that is about to be created to disk, with all its requests. *asks* are keyed by custom id."""
        batch, now = Batch(batches=[row]), datetime.now(UTC)
        for number, (custom_id, ask) in enumerate(asks.items(), 1):
            ask.tries += 1
            entry = sent_entry(ask.tries, ask.worst_usd, now) | {"batch": row.id}
            if ask.tries == 1 and ask.request is not None:
                entry |= self._prompts.entry(ask.request, batch)
            batch.calls.append(_event(ask, "sent", entry))
            batch.batch_requests.append(ask.row(row.id, self.run_id, custom_id))
            if number % _TOGETHER == 0:
                await self._committer.commit(batch)
                batch = Batch()
        await self._committer.commit(batch)
        if self._sink is not unheard:
            for ask in asks.values():
                self._sink(CallStarted(ask.stage, ask.item_id, ask.attempt, ask.tries))

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
        ask, request = found.ask, found.ask.request
        call = request.call if request is not None else _unknown_call(ask)
        rendered = request.rendered_sha256 if request is not None else ""
        error = None if found.error is None else f"{failure_code(found.error)}: {found.error}"
        charge = unsaid_cost(found.completion, ask.worst_usd)
        entry = reply_entry(self._provider, rendered, call, ask.tries, found.completion, error, charge_usd=charge, batch=True)
        return _event(ask, "reply", entry)

    def _count_answer(self, found: _Answered) -> None:
        ask, completion = found.ask, found.completion
        charge = unsaid_cost(completion, ask.worst_usd)
        if ask.reservation is not None:
            ask.reservation.settle((completion.cost_usd or 0.0) + charge)
            ask.reservation = None
        self._totals.count(completion, charge)
        if self._sink is not unheard:
            usage, cost = completion.usage, completion.cost_usd
            told = (completion.latency_s, usage.input, usage.cached, usage.output, cost, completion.retries)
            self._sink(CallAnswered(ask.stage, ask.item_id, ask.attempt, *told))
        ask.resolve(found.error or completion)

    def _count_failure(self, found: _Failed) -> None:
        ask = found.ask
        if ask.reservation is not None and (found.final or found.charge_usd):
            if found.charge_usd:
                ask.reservation.charge_in_full()
            else:
                ask.reservation.release()
            ask.reservation = None
        maybe_billed = bool(getattr(found.error, "maybe_billed", False))
        self._totals.count_failure(found.charge_usd, maybe_billed=maybe_billed, final=found.final)
        if self._sink is not unheard:
            self._sink(CallFailed(ask.stage, ask.item_id, ask.attempt, failure_code(found.error), found.final))
        if found.final:
            found.error.retries = max(0, ask.tries - 1)
            ask.resolve(found.error)


def _failure(found: _Failed) -> CallEvent:
    maybe_billed = bool(getattr(found.error, "maybe_billed", False))
    code, number = failure_code(found.error), max(1, found.ask.tries)
    entry = failure_entry(number, code, str(found.error), charge_usd=found.charge_usd, maybe_billed=maybe_billed, final=found.final)
    return _event(found.ask, "failed", entry)


def _event(ask: Ask, kind: EventKind, entry: Mapping[str, Any]) -> CallEvent:
    return CallEvent(key=ask.key, kind=kind, stage=ask.stage, item_id=ask.item_id, attempt=ask.attempt, entry=entry)


def _unknown_call(ask: Ask) -> PromptCall:
    """Return a placeholder for a call that this session has not made, so that its template is unknown."""
    return PromptCall(
        stage=ask.stage, template="", variables={}, render=tuple, schema_name="", schema={}, item_id=ask.item_id, attempt=ask.attempt
    )
