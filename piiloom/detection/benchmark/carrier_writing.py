"""Have a model write carriers, as one run of a store.

Replies are journaled there, as for all paid calls: a stopped or killed run pays again at most for the calls in flight, and the same
request is never paid for twice, in whatever run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from typing import Any, Final

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, RunStatus, asking_run, set_run_status
from piiloom.detection.benchmark.benchmark_options import WritingOptions
from piiloom.detection.benchmark.carrier_orders import carrier_orders
from piiloom.detection.benchmark.carrier_rounds import TEMPLATE, CarrierRounds, OrderOutcome, WritingProgress
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.calls import AGAIN, Lost
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.ordering import StopSignal, stopped_by_ctrl_c
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import Interrupted
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import digest
from piiloom.prompts.library import PromptLibrary, open_library
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.entities.entity_catalogue import load_catalogue

_PACE_S: Final = 0.01  # minimum time between commits, as in generation: a commit takes 1 to 3 ms, with one row or with thirty


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCarriers:
    """The result of a run: what became of each order, in their order, who wrote, by which template (id, SHA-256), and at what cost.

    ``totals`` are those of all sessions of the run.
    """

    run_id: str
    outcomes: tuple[OrderOutcome, ...]
    author: tuple[str, str]
    template: tuple[str, str]
    totals: CallTotals

    @property
    def rejected(self) -> Counter[str]:
        """The numbers of orders without a usable carrier, by reason."""
        return Counter(one.result.code for one in self.outcomes if isinstance(one.result, Lost))

    @property
    def kept(self) -> int:
        """The number of carriers."""
        return len(self.outcomes) - self.rejected.total()

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        totals = self.totals
        return {
            "provider": self.author[0],
            "model": self.author[1],
            "template": self.template[0],
            "kept": self.kept,
            "rejected": dict(sorted(self.rejected.items())),
            "cost": {
                "run": self.run_id,
                "usd": None if totals.unpriced else totals.spent_usd,
                "answered": totals.answered,
                "replayed": totals.replayed,
            },
        }


def write_carriers(
    options: WritingOptions, *, watch: Callable[[WritingProgress], None] = noop, retry: RetryPolicy | None = None
) -> WrittenCarriers:
    """Have the carriers written. *watch* is called after each order.

    Raises ``Interrupted`` after Ctrl-C, ``BudgetReached``, ``AuthFailed`` and other errors of providers and stores. Replies that were
    paid for are kept in any case. Raises ``UsageError`` for unknown locales, providers or prices.
    """
    library = open_library(options.prompts)
    orders = [
        order
        for locale in options.locales
        for order in carrier_orders(locale, options.documents, domains=options.domains, lengths=options.lengths, seed=options.seed)
    ]
    with ExitStack() as stack:
        provider = options.connect()
        stack.callback(run_in_own_loop, provider.aclose)
        store = stack.enter_context(options.open_replies())
        run = _run(store, options, library, provider)
        committer = GroupCommitter(store, run.id, pace_s=_PACE_S)
        policy = CallPolicy(
            concurrency=options.concurrency,
            rpm=options.rpm,
            tpm=options.tpm,
            budget_usd=options.budget_usd,
            batch=options.batch,
            retry=retry or RetryPolicy(),
        )
        channel = open_channel(store, run.id, provider, committer, policy, seed=options.seed)
        stop = StopSignal()
        catalogues = {locale: load_catalogue(locale, unconfirmed=True) for locale in options.locales}
        rounds = CarrierRounds(
            orders, channel, library, catalogues, attempts=options.max_attempts, concurrency=options.concurrency, watch=watch
        )
        status: RunStatus = "interrupted"
        committer.start()
        try:
            run_in_own_loop(lambda: _to_end(rounds, channel, stop), on_interrupt=stop.request)
            status = "interrupted" if stop.requested else "finished"
        finally:
            committer.close()
            set_run_status(store, run.id, status)
    if stop.requested:
        raise Interrupted("stopped", where=f"run {run.id}", remedy=AGAIN)
    template = library.find(TEMPLATE)
    return WrittenCarriers(
        run_id=run.id,
        outcomes=rounds.outcomes(),
        author=(provider.name, provider.model),
        template=(template.id, template.sha256),
        totals=channel.calls.totals,
    )


async def _to_end(rounds: CarrierRounds, channel: CallChannel, stop: StopSignal) -> None:
    async with AsyncExitStack() as stack:
        stack.push_async_callback(channel.calls.provider.aclose)
        # Calls in flight are paid for, so wait for them: the next session finds their replies.
        stack.push_async_callback(channel.calls.drain)
        with stopped_by_ctrl_c(stop):
            await rounds.run(stop)


def _run(store: Store, options: WritingOptions, library: PromptLibrary, provider: Provider) -> RunRow:
    """Return the run of these options: an earlier one, whose spending counts toward the budget, or a new one."""
    told: dict[str, Any] = {
        "benchmark_carriers": True,
        "provider": provider.name,
        "model": provider.model,
        "endpoint": provider.endpoint,
        "locales": list(options.locales),
        "domains": list(options.domains),
        "lengths": list(options.lengths),
        "documents": options.documents,
        "attempts": options.max_attempts,
        "seed": options.seed,
    }
    plan = digest("benchmark carriers", told, library.find(TEMPLATE).sha256)
    return asking_run(store, "carriers", told, plan)
