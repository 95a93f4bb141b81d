"""Draw values by a model before the texts are replaced: collect the requests, get the user's consent, ask, and keep the values.

::

    drawn = draw_by_model(inputs, factory, options, store=…, folder=…, agree=…)
    run_surrogates(inputs, out, replace(factory, given=drawn.values), …)
    drawn.put_rejects(out)

Replies are journaled in the store, as for all paid calls. A killed run pays again at most for the calls in flight, and a second run
with the same key (as of ``--seed``) pays for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, asking_run, set_run_status
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.execution.retrying import RetryPolicy
from piiloom.execution.watching.events import EventSink
from piiloom.foundation.errors import UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.providers.factory import make_priced_provider
from piiloom.providers.model_calls import ModelCalls
from piiloom.providers.protocol import Provider
from piiloom.surrogates.by_model.asking import Asker, Outcome
from piiloom.surrogates.by_model.collecting import AskPlan, RequestSpool, collect, describe
from piiloom.surrogates.by_model.rejects import RejectRows, put_rejects
from piiloom.surrogates.by_model.terms import Terms
from piiloom.surrogates.engine import EngineFactory
from piiloom.surrogates.given_values import GivenFile
from piiloom.surrogates.inputs.input_settings import InputSettings
from piiloom.surrogates.inputs.reading import iter_documents
from piiloom.surrogates.outputs.folder import REJECTS

VALUES: Final = "values.sqlite"
_BATCH_WINDOW: Final = 4096  # values that wait at once in batch mode
_PACE_S: Final = 0.01  # minimum time between commits, as in generation: a commit takes 1 to 3 ms, with one row or with thirty


@dataclass(frozen=True, slots=True)
class AskProgress:
    """Progress: ``done`` of ``total`` values are decided, ``rejected`` of them left to code. ``spent_usd`` includes earlier runs."""

    done: int
    total: int
    rejected: int
    answered: int
    replayed: int
    spent_usd: float

    def line(self) -> str:
        """One line for a terminal."""
        share = f"{self.done:,}/{self.total:,} values by the model"
        return f"{share}, {self.rejected:,} made locally instead, {self.replayed:,} answers from the store, ${self.spent_usd:.4f} spent"


@dataclass(frozen=True, slots=True)
class Drawn:
    """The result of ``draw_by_model``.

    ``values`` is the file for ``EngineFactory.given``, ``rejects`` the file with the rejected values; both are in the folder passed to it.
    """

    values: Path
    rejects: Path
    plan: AskPlan
    report: dict[str, Any] = field(default_factory=dict)

    def put_rejects(self, out: Path) -> Path | None:
        """Copy ``rejects.jsonl`` into the finished folder *out* and return its path; None if nothing was rejected.

        Raises ``OutputError`` if it cannot be written.
        """
        return put_rejects(self.rejects, out)


Watch = Callable[[AskProgress], None]


def draw_by_model(
    inputs: InputSettings,
    factory: EngineFactory,
    options: ModelCalls,
    *,
    store: Path,
    folder: Path,
    agree: Callable[[str], bool],
    watch: Watch = noop,
    sink: EventSink = noop,
    retry: RetryPolicy | None = None,
) -> Drawn:
    """Ask the model of *options* for the free-text values of all documents. Code draws those it cannot give; each gets a reject row.

    *agree* gets the text of ``describe`` and returns whether the sentences may be sent; it is not called if there are none. *folder*
    must exist and be readable by all workers. Replies are kept in the DuckDB file *store*. *watch* is called after each value.

    Raises ``UsageError`` (no consent, unknown provider, no price), ``AuthFailed``, ``BudgetReached`` and other errors of providers and
    stores. Replies that were paid for are kept in any case.
    """
    provider = make_priced_provider(options.provider or "", options, model=options.model, base_url=options.base_url, price=options.price)
    try:
        terms = Terms.of(options, factory.settings)
        with ExitStack() as stack:
            spool = stack.enter_context(RequestSpool(folder))
            plan = collect(iter_documents(inputs), factory().plan, terms, provider, spool)
            if plan.values and not agree(describe(plan)):
                raise UsageError(
                    "nothing was sent, because sending was not confirmed", where="--values llm", remedy="Confirm it, or add --yes"
                )
            session = _AskSession(plan, terms, options, watch, folder)
            return session.run(spool, store, provider, sink, retry or RetryPolicy())
    finally:
        run_in_own_loop(provider.aclose)


class _AskSession:
    """One asking session: opens the run in the store, sends the requests to the provider, and records each value as it is decided."""

    def __init__(self, plan: AskPlan, terms: Terms, options: ModelCalls, watch: Watch, folder: Path) -> None:
        self._plan, self._terms, self._options, self._watch = plan, terms, options, watch
        self._values, self._rejects = folder / VALUES, folder / REJECTS
        self._drawn: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()

    def run(self, spool: RequestSpool, store_path: Path, provider: Provider, sink: EventSink, retry: RetryPolicy) -> Drawn:
        with GivenFile(self._values) as values, RejectRows(self._rejects) as rejects:
            if self._plan.values:
                with Store.open(store_path) as store:
                    self._ask(spool, store, provider, self._policy(sink, retry), values, rejects)
            report = self._report()
            values.tell(report)
        return Drawn(self._values, self._rejects, self._plan, report)

    def _policy(self, sink: EventSink, retry: RetryPolicy) -> CallPolicy:
        options = self._options
        return CallPolicy(
            concurrency=options.concurrency,
            rpm=options.rpm,
            tpm=options.tpm,
            budget_usd=options.budget_usd,
            batch=options.batch,
            retry=retry,
            sink=sink,
        )

    def _ask(
        self, spool: RequestSpool, store: Store, provider: Provider, policy: CallPolicy, values: GivenFile, rejects: RejectRows
    ) -> None:
        run = self._run(store)
        committer = GroupCommitter(store, run.id, pace_s=_PACE_S)
        channel = open_channel(store, run.id, provider, committer, policy, seed=self._terms.seed)

        def consume(outcome: Outcome) -> None:
            self._keep(outcome, values, rejects)
            self._tell(channel)

        status: Any = "interrupted"
        committer.start()
        try:
            run_in_own_loop(lambda: self._answer(spool, channel, provider, consume))
            status = "finished"
        finally:
            committer.close()
            set_run_status(store, run.id, status)

    async def _answer(self, spool: RequestSpool, channel: CallChannel, provider: Provider, consume: Callable[[Outcome], None]) -> None:
        concurrency = self._options.concurrency
        at_once = _BATCH_WINDOW if self._options.batch else concurrency + concurrency // 2  # some outcomes are still being stored
        asker = Asker(channel.calls, self._terms, concurrency)
        try:
            await OrderedRun(
                source=iter(spool),
                work=asker.work,
                consume=consume,
                concurrency=at_once,
                stop=StopSignal(),
                gauge=channel.items,
            ).run()
        finally:
            await channel.calls.drain()  # calls in flight are paid for, so wait for them: the next run finds their replies
            await provider.aclose()

    def _run(self, store: Store) -> RunRow:
        """Return the run of this plan and seed: an earlier one, whose spending counts toward the budget, or a new one."""
        plan = self._plan
        told = {"surrogates": True, "provider": plan.provider, "model": plan.model, "endpoint": plan.endpoint, "seed": self._terms.seed}
        return asking_run(store, "surrogates", told, plan.digest)

    def _keep(self, outcome: Outcome, values: GivenFile, rejects: RejectRows) -> None:
        request, got = outcome
        if isinstance(got, str):
            self._drawn[request.kind] += 1
            values.put(request.document, request.numbers, got)
            return
        self._reasons[got.code] += 1
        rejects.add(request, got)

    def _tell(self, channel: CallChannel) -> None:
        totals, rejected = channel.calls.totals, self._reasons.total()
        done = self._drawn.total() + rejected
        self._watch(AskProgress(done, self._plan.values, rejected, totals.answered_now, totals.replayed, totals.spent_usd))

    def _report(self) -> dict[str, Any]:
        """Return the entry for ``report.json``. It is equal for equal replies, so it has neither costs nor times."""
        plan = self._plan
        return {
            "provider": plan.provider,
            "model": plan.model,
            "endpoint": plan.endpoint,
            "prompt": {"template": self._terms.template.id, "sha256": self._terms.template.sha256},
            "sentences_sent": plan.sentences,
            "values_asked": plan.values,
            "values_drawn": self._drawn.total(),
            "by_kind": dict(sorted(self._drawn.items())),
            "left_to_code": self._reasons.total(),
            "reasons": dict(sorted(self._reasons.items())),
        }
