"""Ask models about cases, as one run of a store.

Replies are journaled there, as for all paid calls: a stopped or killed run pays again at most for the calls in flight, and the same
request is never paid for twice, in whatever run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, RunStatus, asking_run, set_run_status
from piiloom.evaluation.utility.asking import Asking, Watch
from piiloom.evaluation.utility.cases import Case
from piiloom.evaluation.utility.options import UtilitySettings
from piiloom.evaluation.utility.outcomes import Outcomes
from piiloom.evaluation.utility.tasks import KINDS
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.ordering import StopSignal, stopped_by_ctrl_c
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import Interrupted
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import digest
from piiloom.prompts.library import PromptLibrary, open_library
from piiloom.providers.protocol import Provider

_PACE_S: Final = 0.01  # minimum time between commits, as in generation: a commit takes 1 to 3 ms, with one row or with thirty
_AGAIN: Final = "Give the same command again: what was paid for is kept, and is not asked again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The result of a run: what was said, who was asked (provider, model), by which templates (name → id, SHA-256), at what cost.

    ``second`` is the second judge, if there is one. ``totals`` are those of all sessions of the run.
    """

    run_id: str
    outcomes: Outcomes
    author: tuple[str, str]
    judge: tuple[str, str]
    second: tuple[str, str] | None
    templates: dict[str, tuple[str, str]]
    totals: CallTotals


def ask_models(
    cases: Sequence[Case],
    settings: UtilitySettings,
    *,
    watch: Watch = noop,
    retry: RetryPolicy | None = None,
    agree: Callable[[], object] = noop,
) -> Asked:
    """Have the model of *settings* answer the questions of *cases*, and the judge compare and grade the answers.

    Replies are kept in the DuckDB file ``settings.replies``. *watch* is called after each request. *agree* is called after all checks;
    if it raises, nothing is sent or stored.

    Raises ``Interrupted`` after Ctrl-C, ``BudgetReached``, ``AuthFailed`` and other errors of providers and stores. Replies that were
    paid for are kept in any case. Raises ``UsageError`` for unknown providers or prices.
    """
    library = open_library(settings.prompts)
    with ExitStack() as stack:
        author = settings.author.connect(settings)
        stack.callback(run_in_own_loop, author.aclose)
        judges: list[Provider | None] = [None, None]
        for place, choice in enumerate((settings.judge, settings.second_judge)):
            if choice is not None:
                judges[place] = judge = choice.connect(settings)
                stack.callback(run_in_own_loop, judge.aclose)
        agree()
        opened = stack.enter_context(Store.open(settings.replies))
        asked = _Models(author, judges[0] or author, judges[1])
        run = _run(opened, cases, settings, library, asked)
        return _Session(opened, run, settings, retry or RetryPolicy()).ask(cases, library, asked, watch)


class _Models(NamedTuple):
    author: Provider
    judge: Provider
    second: Provider | None


class _Session:
    """One session of a run."""

    def __init__(self, store: Store, run: RunRow, settings: UtilitySettings, retry: RetryPolicy) -> None:
        self._store, self._run, self._settings = store, run, settings
        self._policy = CallPolicy(
            concurrency=settings.concurrency,
            rpm=settings.rpm,
            tpm=settings.tpm,
            budget_usd=settings.budget_usd,
            batch=settings.batch,
            retry=retry,
        )

    def ask(self, cases: Sequence[Case], library: PromptLibrary, models: _Models, watch: Watch) -> Asked:
        committer = GroupCommitter(self._store, self._run.id, pace_s=_PACE_S)
        author, judge, second = models
        first = self._channel(author, committer)
        judging = first if judge is author else self._channel(judge, committer, beside=first)
        third = None if second is None else self._channel(second, committer, beside=first)
        stop = StopSignal()
        asking = Asking(library, first, judging, third, self._settings, watch=watch)
        status: RunStatus = "interrupted"
        committer.start()
        try:
            run_in_own_loop(
                lambda: _to_end(asking, cases, stop, [one for one in (first, judging, third) if one is not None]), on_interrupt=stop.request
            )
            status = "interrupted" if stop.requested else "finished"
        finally:
            committer.close()
            set_run_status(self._store, self._run.id, status)
        if stop.requested:
            raise Interrupted("stopped", where=f"run {self._run.id}", remedy=_AGAIN)
        return Asked(
            run_id=self._run.id,
            outcomes=asking.outcomes,
            author=(author.name, author.model),
            judge=(judge.name, judge.model),
            second=None if second is None else (second.name, second.model),
            templates={name: (library.find(name).id, library.find(name).sha256) for name in KINDS},
            totals=first.calls.totals,
        )

    def _channel(self, provider: Provider, committer: GroupCommitter, beside: CallChannel | None = None) -> CallChannel:
        return open_channel(self._store, self._run.id, provider, committer, self._policy, seed=self._settings.seed, beside=beside)


async def _to_end(asking: Asking, cases: Sequence[Case], stop: StopSignal, channels: Sequence[CallChannel]) -> None:
    async with AsyncExitStack() as stack:
        for channel in dict.fromkeys(channels):
            stack.push_async_callback(channel.calls.provider.aclose)
            # Calls in flight are paid for, so wait for them: the next session finds their replies.
            stack.push_async_callback(channel.calls.drain)
        with stopped_by_ctrl_c(stop):
            await asking.run(cases, stop)


def _run(store: Store, cases: Sequence[Case], settings: UtilitySettings, library: PromptLibrary, models: _Models) -> RunRow:
    """Return the run of these cases and settings: an earlier one, whose spending counts toward the budget, or a new one."""
    author, judge, second = models
    told: dict[str, Any] = {
        "utility": True,
        "provider": author.name,
        "model": author.model,
        "endpoint": author.endpoint,
        "judge_provider": judge.name,
        "judge_model": judge.model,
        "judge_endpoint": judge.endpoint,
        "variants": list(settings.variants),
        "attempts": settings.max_attempts,
        "seed": settings.seed,
    }
    if second is not None:
        told["second_judge"] = [second.name, second.model, second.endpoint]
    templates = [library.find(name).sha256 for name in KINDS]
    plan = digest("utility", told, templates, [asdict(case) for case in cases])
    return asking_run(store, "utility", told, plan)
