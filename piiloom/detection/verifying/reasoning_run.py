"""Have the reasonings of a training set written, as one run of a store: a stopped or killed one goes on without paying again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from piiloom.detection.asking.session import ModelSession
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.verifying.reasonings import INSTRUCTION, TEMPLATES, Reasoned, ReasoningCase, ReasoningProgress, reasoned
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.calls import AGAIN
from piiloom.execution.ordering import OrderedRun, StopSignal, stopped_by_ctrl_c
from piiloom.foundation.errors import Interrupted
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop

KIND = "verifier-data"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenReasonings:
    """The rows in the order of the cases, and what all sessions of the run asked and paid."""

    rows: tuple[Reasoned, ...]
    run_id: str
    totals: CallTotals


def write_reasonings(
    cases: Sequence[ReasoningCase],
    model: ModelSettings,
    *,
    digest: str,
    watch: Callable[[ReasoningProgress], object] = noop,
    policy: CallPolicy | None = None,
) -> WrittenReasonings:
    """Have *cases* reasoned about; *digest* is that of their records: the same data and settings are one run, with one budget.

    Raises ``Interrupted`` after Ctrl-C, ``BudgetReached``, ``AuthFailed`` and other errors of providers and stores. Replies that were
    paid for are kept in any case.
    """
    stop = StopSignal()
    written = run_in_own_loop(
        lambda: _write(cases, model.model_copy(update={"run": digest}), watch, policy, stop),
        on_interrupt=stop.request,
    )
    if written is None:
        raise Interrupted("stopped at once", remedy=AGAIN)
    return written


async def _write(
    cases: Sequence[ReasoningCase],
    model: ModelSettings,
    watch: Callable[[ReasoningProgress], object],
    policy: CallPolicy | None,
    stop: StopSignal,
) -> WrittenReasonings | None:
    rows: list[Reasoned] = []
    session = await ModelSession.open(model, TEMPLATES, instructions=(INSTRUCTION,), kind=KIND, policy=policy)
    totals = session.channel.calls.totals

    def consume(row: Reasoned) -> None:
        rows.append(row)
        watch(ReasoningProgress(done=len(rows), total=len(cases), replayed=totals.replayed, spent_usd=totals.spent_usd))

    try:
        with stopped_by_ctrl_c(stop):
            await OrderedRun(
                source=iter(cases),
                work=lambda case: reasoned(case, session.asker),
                consume=consume,
                concurrency=model.concurrency,
                stop=stop,
                gauge=session.channel.items,
            ).run()
    finally:
        await session.close(finished=len(rows) == len(cases))
    return WrittenReasonings(rows=tuple(rows), run_id=session.run_id, totals=totals) if len(rows) == len(cases) else None
