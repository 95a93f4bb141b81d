"""A run's channel to a provider for one session: journal, budget, limiter and sender, assembled around ``Calls``.

A session is one invocation of the program that works on a run. Every part that pays for calls (generation, surrogates,
detection, evaluation) opens one channel for its store and run; ``ask_to_end`` is such a session from begin to end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from piiloom.corpus.store.call_events import CallEvent, load_open_batches, save_call_events
from piiloom.corpus.store.costs import OpenSend, open_sends, spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunStatus, set_run_status
from piiloom.execution.batches.batch_scheduler import BatchModeState, BatchScheduler
from piiloom.execution.batches.ledger import BatchPolicy
from piiloom.execution.call_entries import CallTotals, failure_entry
from piiloom.execution.calls import AGAIN, Calls, Sender
from piiloom.execution.committing import GroupCommitter, Journal
from piiloom.execution.limits.limiter import Limiter, LimiterState
from piiloom.execution.live import LiveCalls
from piiloom.execution.money.budget import Budget
from piiloom.execution.ordering import StopSignal, stopped_by_ctrl_c
from piiloom.execution.retrying import RetryPolicy
from piiloom.execution.watching.events import EventSink
from piiloom.foundation.errors import Interrupted, RunError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.providers.factory import make_batch_api
from piiloom.providers.protocol import Provider

if TYPE_CHECKING:
    from piiloom.execution.shared_limits import CallBudget, CallLimiter


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPolicy:
    """Settings for making calls: at most ``concurrency`` at once, ``rpm`` requests and ``tpm`` tokens a minute, ``budget_usd`` per run.

    When several processes work on one run, they share a ``limiter`` and a ``budget``, which replace these numbers. ``batch``
    sends calls through the provider's batch API, following ``batch_policy``.
    """

    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    budget_usd: float | None = None
    batch: bool = False
    batch_policy: BatchPolicy = field(default_factory=BatchPolicy)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    sink: EventSink = noop
    # Called with the channel once it is open, so that a live view can watch its limiter and budget.
    on_open: Callable[[CallChannel], object] = noop
    limiter: CallLimiter | None = None
    budget: CallBudget | None = None


class Gauge:
    """Counter of the items in progress. Batch mode compares it with the items that wait: when all do, it sends what has gathered."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, change: int) -> None:
        """Add *change*: positive for items started, negative for items finished."""
        self.count += change


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChannel:
    """An open connection of a run to one provider. Views read ``limiter`` and ``budget``; workers call ``items`` with +1 and -1.

    An unpaid provider has no ``limiter`` and no ``budget``: it answers in this process, at no cost.
    """

    calls: Calls
    limiter: CallLimiter | None = None
    budget: CallBudget | None = None
    items: Gauge = field(default_factory=Gauge)
    # In batch mode: the sender, with the calls that have gathered and the batches that are out.
    batches: BatchScheduler | None = None

    def snapshot(self) -> LimiterState | BatchModeState | None:
        """Return the state of the limiter (None without one), or in batch mode the open batches. Safe to call from another thread."""
        if self.batches is not None:
            return BatchModeState(out=self.batches.out, gathered=self.batches.parked)
        return None if self.limiter is None else self.limiter.snapshot()


def open_channel(
    store: Store,
    run_id: str,
    provider: Provider,
    committer: GroupCommitter,
    policy: CallPolicy,
    *,
    seed: int,
    beside: CallChannel | None = None,
) -> CallChannel:
    """Open the channel of run *run_id* to *provider*. Call it before the committer's thread owns the store (``GroupCommitter.start``).

    With *beside*, a channel of the same run to another paid provider, the new one shares its limiter, budget and totals, and sends no
    batches. Requests that a killed earlier session left without outcome are charged in full, once. An unpaid provider gets no
    journal, no limiter and no budget.

    Raises ``UsageError`` for an invalid budget, and ``RunError`` if batches of the run are out but ``policy.batch`` is off, if
    they are at another endpoint, or if batch mode is asked for with a budget that processes share.
    """
    if not provider.paid:
        return CallChannel(calls=Calls(provider, committer, run_id, sink=policy.sink))
    journal = Journal(store, committer, run_id)
    if beside is not None and beside.limiter is not None and beside.budget is not None:
        # Rate headers of the second provider are ignored, since the shared limits follow those of the first; its refusals do count.
        totals = beside.calls.totals
        sender: Sender = _live(provider, committer, totals, policy, limiter=beside.limiter, budget=beside.budget)
        calls = Calls(provider, committer, run_id, seed=seed, totals=totals, sender=sender, journal=journal, sink=policy.sink)
        return CallChannel(calls=calls, limiter=beside.limiter, budget=beside.budget)
    limiter = policy.limiter or Limiter(concurrency=policy.concurrency, rpm=policy.rpm, tpm=policy.tpm)
    close_open_sends(store, run_id)
    totals = CallTotals.after(spending(store, run_id))
    budget = policy.budget or Budget(policy.budget_usd, spent_usd=totals.spent_usd)
    if hasattr(provider, "on_rates"):  # a provider that reports the rate headers of responses
        provider.on_rates = limiter.observe
    items = Gauge()
    batches: BatchScheduler | None = None
    if policy.batch:
        batches = BatchScheduler(
            provider,
            make_batch_api(provider),
            committer,
            totals,
            run_id=run_id,
            budget=_own(budget),
            open_items=lambda: items.count,
            policy=policy.batch_policy,
            sink=policy.sink,
        )
        batches.adopt(load_open_batches(store, run_id))
        sender = batches
    else:
        _check_nothing_is_out(store, run_id)
        sender = _live(provider, committer, totals, policy, limiter=limiter, budget=budget)
    calls = Calls(provider, committer, run_id, seed=seed, totals=totals, sender=sender, journal=journal, sink=policy.sink)
    channel = CallChannel(calls=calls, limiter=limiter, budget=budget, items=items, batches=batches)
    policy.on_open(channel)
    return channel


def _live(
    provider: Provider, committer: GroupCommitter, totals: CallTotals, policy: CallPolicy, *, limiter: CallLimiter, budget: CallBudget
) -> LiveCalls:
    return LiveCalls(
        provider,
        committer,
        totals,
        limiter=limiter,
        budget=budget,
        policy=policy.retry,
        concurrency=policy.concurrency,
        sink=policy.sink,
    )


def _own(budget: CallBudget) -> Budget:
    """Return *budget* if this process owns it. Raises ``RunError`` for a budget shared between processes.

    Batch mode needs its own: it reserves there what earlier sessions have sent in batches.
    """
    if not isinstance(budget, Budget):
        raise RunError("only one process can send batches", remedy="Leave --ray out: one process sends all calls")
    return budget


def _check_nothing_is_out(store: Store, run_id: str) -> None:
    """Raise ``RunError`` if batches of the run are still at the provider: sending their calls live would pay for them twice."""
    if load_open_batches(store, run_id):
        raise RunError(
            "the run has open batches at its provider",
            where=run_id,
            remedy=f"Resume with --batch, which collects them, or cancel them: piiloom batch cancel --run {run_id}",
        )


def close_open_sends(store: Store, run_id: str) -> Sequence[OpenSend]:
    """Record a failure for each sent request without outcome and charge its worst case; return these requests.

    Their process was killed before it stored an answer, so they may have been billed.
    """
    found = open_sends(store, run_id)
    message = "its process ended before an answer was kept; it may have been paid for"
    events = [
        CallEvent(
            key=send.key,
            kind="failed",
            stage=send.stage,
            item_id=send.item_id,
            attempt=send.attempt,
            entry=failure_entry(send.number, "interrupted", message, charge_usd=send.worst_usd or 0.0, maybe_billed=True, final=False),
        )
        for send in found
    ]
    save_call_events(store, run_id, events)
    return found


_PACE_S: Final = 0.01  # minimum time between commits, as in generation: a commit takes 1 to 3 ms, with one row or with thirty
Work = Callable[[Sequence[CallChannel], StopSignal], Awaitable[None]]


def ask_to_end(store: Store, run_id: str, providers: Sequence[Provider], policy: CallPolicy, work: Work, *, seed: int) -> list[CallChannel]:
    """Do *work* with a channel to each of *providers* (the same for the same one), and return the channels.

    The first channel's limits and totals are those of all. Replies that were paid for are kept in any case. Raises ``Interrupted`` after
    Ctrl-C.
    """
    committer = GroupCommitter(store, run_id, pace_s=_PACE_S)
    channels: list[CallChannel] = []
    for provider in providers:
        known = next((one for one in channels if one.calls.provider is provider), None)
        beside = channels[0] if channels else None
        channels.append(known or open_channel(store, run_id, provider, committer, policy, seed=seed, beside=beside))
    stop = StopSignal()
    status: RunStatus = "interrupted"
    committer.start()
    try:
        run_in_own_loop(lambda: _to_end(work, channels, stop), on_interrupt=stop.request)
        status = "interrupted" if stop.requested else "finished"
    finally:
        committer.close()
        set_run_status(store, run_id, status)
    if stop.requested:
        raise Interrupted("stopped", where=f"run {run_id}", remedy=AGAIN)
    return channels


async def _to_end(work: Work, channels: Sequence[CallChannel], stop: StopSignal) -> None:
    async with AsyncExitStack() as stack:
        for channel in dict.fromkeys(channels):
            stack.push_async_callback(channel.calls.provider.aclose)
            # Calls in flight are paid for, so wait for them: the next session finds their replies.
            stack.push_async_callback(channel.calls.drain)
        with stopped_by_ctrl_c(stop):
            await work(channels, stop)
