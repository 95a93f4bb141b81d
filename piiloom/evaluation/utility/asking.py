"""Ask models about cases, as one run of a store: first for the answers, then for the judgements on them; and estimate what that takes.

Replies are journaled there, as for all paid calls: a stopped or killed run pays again at most for the calls in flight, and the same
request is never paid for twice, in whatever run. Every request is sent once, at most so many at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, RunStatus, asking_run, set_run_status
from piiloom.evaluation.utility.cases import Case
from piiloom.evaluation.utility.options import UtilitySettings
from piiloom.evaluation.utility.outcomes import Outcomes
from piiloom.evaluation.utility.tasks import (
    ANSWER,
    COMPLETENESS,
    DISCLOSURE,
    KINDS,
    LONGEST_ANSWER,
    PAIR,
    Task,
    answer_tasks,
    judge_tasks,
    pair_tasks,
)
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.calls import FailureLimit, Lost, ask_model
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.money.worst_case import prompt_bytes, schema_bytes, worst_case_usd
from piiloom.execution.ordering import OrderedRun, StopSignal, stopped_by_ctrl_c
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import Interrupted
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import digest
from piiloom.prompts.library import PromptLibrary, open_library
from piiloom.providers.prices import ModelSpec, load_models
from piiloom.providers.protocol import PromptCall, Provider, TokenUsage

# Bytes of a prompt per token; tokens of a usual reply by kind; thinking tokens of a reply, for models that think.
_BYTES_A_TOKEN: Final = 4
_REPLY_TOKENS: Final = {"utility_answer": 110, "utility_judge_pair": 150, "utility_judge_completeness": 50}
_REPLY_TOKENS_A_FACT: Final = 45
_THINKING_TOKENS: Final = 300
_USUAL_ANSWER: Final = 450  # characters: 75 words
_SECOND_PAIRS: Final = f"{PAIR} (second judge)"
_WIDE: Final = "\U0001d54f"  # a character of four bytes, the most that one may have


@dataclass(slots=True, kw_only=True)
class StageEstimate:
    """What one kind of request takes.

    ``about_usd``: usual replies that are all accepted. ``most_usd``: every reply refused and of the greatest length. Both are None if the
    price is unknown.
    """

    stage: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    about_usd: float | None = 0.0
    most_usd: float | None = 0.0

    def add(self, task: Task, longest: Task, library: PromptLibrary, spec: ModelSpec, settings: UtilitySettings) -> None:
        """Add one request; *longest* is the same with answers of the greatest length."""
        call, worst = task.call(library, 0, None), longest.call(library, 0, None)
        given = (prompt_bytes(call.render()) + schema_bytes(call.schema_name, call.schema)) // _BYTES_A_TOKEN
        facts = len(task.variables.get("facts", ()))
        output = _REPLY_TOKENS.get(task.kind, _REPLY_TOKENS_A_FACT * facts) + (_THINKING_TOKENS if spec.thinking_tokens else 0)
        self.calls += 1
        self.input_tokens += given
        self.output_tokens += output
        about = spec.cost_usd(TokenUsage(input=given, output=output), batch=settings.batch)
        most = worst_case_usd(worst, worst.render(), spec, batch=settings.batch)
        self.about_usd = None if about is None or self.about_usd is None else self.about_usd + about
        self.most_usd = None if most is None or self.most_usd is None else self.most_usd + settings.max_attempts * most

    def plus(self, other: StageEstimate) -> StageEstimate:
        """Return the sum of both, under this one's name."""
        unknown = self.about_usd is None or self.most_usd is None or other.about_usd is None or other.most_usd is None
        return StageEstimate(
            stage=self.stage,
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            about_usd=None if unknown else (self.about_usd or 0.0) + (other.about_usd or 0.0),
            most_usd=None if unknown else (self.most_usd or 0.0) + (other.most_usd or 0.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityEstimate:
    """The estimate by kind of request, and in all. ``prices_dated`` is None if the user gave the prices."""

    stages: tuple[StageEstimate, ...]
    total: StageEstimate
    prices_dated: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        return asdict(self) | {"stages": [asdict(stage) for stage in self.stages]}


def estimate_utility(cases: Sequence[Case], settings: UtilitySettings) -> UtilityEstimate:
    """Estimate what *cases* would take. No key is needed. Answers are not known yet: all are taken to be different and of usual length.

    Raises ``UsageError`` for an unknown provider or model.
    """
    library = open_library(settings.prompts)
    author, separate = settings.author.spec(), settings.judge
    judge = author if separate is None else separate.spec()
    stages = {kind: StageEstimate(stage=kind) for kind in (*KINDS, *([_SECOND_PAIRS] if settings.second_judge else []))}
    for case in cases:
        usual, longest = _answers(case, _USUAL_ANSWER, "x"), _answers(case, LONGEST_ANSWER, _WIDE)
        for task, worst in zip(_tasks(case, usual), _tasks(case, longest), strict=True):
            stages[task.kind].add(task, worst, library, author if task.kind == ANSWER else judge, settings)
            if task.kind == PAIR and settings.second_judge is not None:
                stages[_SECOND_PAIRS].add(task, worst, library, settings.second_judge.spec(), settings)
    total = StageEstimate(stage="total")
    for stage in stages.values():
        total = total.plus(stage)
    given = settings.price or settings.judge_price or settings.second_judge_price
    return UtilityEstimate(stages=tuple(stages.values()), total=total, prices_dated=None if given else load_models().dated.isoformat())


def _tasks(case: Case, answers: Outcomes) -> Iterator[Task]:
    yield from answer_tasks(case)
    yield from judge_tasks(case, answers)


def _answers(case: Case, size: int, filler: str) -> Outcomes:
    """Return answers of *size* characters, all different."""
    return Outcomes(answers={(case.id, name): f"{name} ".ljust(size, filler) for name in case.distinct})


SECOND_JUDGE: Final = "second judge"


@dataclass(frozen=True, slots=True)
class AskProgress:
    """Progress: of ``total`` requests of the present ``step`` (answers, judgements or second judge) ``done`` are decided.

    ``lost`` counts those of all steps without a usable reply, ``replayed`` replies taken from the journal; ``spent_usd`` is that of all
    sessions.
    """

    step: str
    done: int
    total: int
    lost: int
    replayed: int
    spent_usd: float

    def line(self) -> str:
        """One line for a terminal."""
        share = f"{self.step} {self.done:,}/{self.total:,}"
        return f"{share}, {self.lost:,} without a usable reply, {self.replayed:,} from the store, ${self.spent_usd:.4f} spent"


Watch = Callable[[AskProgress], None]


class Asking:
    """One session of asking. *author* answers, *judge* judges, *second* compares the pairs, too; all may be the same channel."""

    def __init__(
        self,
        library: PromptLibrary,
        author: CallChannel,
        judge: CallChannel,
        second: CallChannel | None,
        settings: UtilitySettings,
        *,
        watch: Watch = noop,
    ) -> None:
        self.outcomes = Outcomes()
        self._library, self._settings, self._watch = library, settings, watch
        self._author, self._judge, self._second = author, judge, second
        self._lost = 0

    async def run(self, cases: Sequence[Case], stop: StopSignal) -> None:
        """Ask all about *cases*, or until *stop* is requested. Raises errors that would hit every other request, too."""
        await self._step("answers", [task for case in cases for task in answer_tasks(case)], self._author, stop)
        if not stop.requested:
            tasks = [task for case in cases for task in judge_tasks(case, self.outcomes)]
            await self._step("judgements", tasks, self._judge, stop)
        if self._second is not None and not stop.requested:
            tasks = [task for case in cases for task in pair_tasks(case, self.outcomes)]
            await self._step(SECOND_JUDGE, tasks, self._second, stop)

    async def _step(self, name: str, tasks: Sequence[Task], channel: CallChannel, stop: StopSignal) -> None:
        concurrency = self._settings.concurrency
        limit = FailureLimit(channel.calls, concurrency)
        done = 0

        async def work(task: Task) -> tuple[Task, Any]:
            return task, await self._asked(task, channel, limit)

        def consume(outcome: tuple[Task, Any]) -> None:
            nonlocal done
            done += 1
            self._keep(*outcome, second=name == SECOND_JUDGE)
            totals = channel.calls.totals
            self._watch(AskProgress(name, done, len(tasks), self._lost, totals.replayed, totals.spent_usd))

        await OrderedRun(
            source=iter(tasks),
            work=work,
            consume=consume,
            # More than in flight, for some replies are still being stored; a batch takes all at once.
            concurrency=max(1, len(tasks)) if self._settings.batch else concurrency + concurrency // 2,
            stop=stop,
            gauge=channel.items,
        ).run()

    async def _asked(self, task: Task, channel: CallChannel, limit: FailureLimit) -> Any:
        def make(attempt: int, fault: str | None) -> PromptCall:
            return task.call(self._library, attempt, fault)

        async def judged(data: Any, attempt: int) -> Any:  # noqa: ARG001 - all attempts are judged alike
            return task.read(data)

        found = await ask_model(channel.calls, make, judged, attempts=self._settings.max_attempts, failure_limit=limit)
        if isinstance(found, Lost):
            self.outcomes.asked_again += found.attempts - 1
            return found
        self.outcomes.asked_again += found[1]
        return found[0]

    def _keep(self, task: Task, said: Any, *, second: bool) -> None:
        self._lost += isinstance(said, Lost)
        outcomes = self.outcomes
        by_kind: Mapping[str, dict[Any, Any]] = {
            ANSWER: outcomes.answers,
            PAIR: outcomes.second_verdicts if second else outcomes.verdicts,
            COMPLETENESS: outcomes.grades,
            DISCLOSURE: outcomes.disclosures,
        }
        by_kind[task.kind][task.key] = said


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
