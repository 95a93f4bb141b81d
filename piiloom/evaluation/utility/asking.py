"""Ask models about cases, as one run of a store: first for the answers, then for the judgements on them; and estimate what that takes.

Replies are journaled there, as for all paid calls: a stopped or killed run pays again at most for the calls in flight, and the same
request is never paid for twice, in whatever run. Every request is sent once, at most so many at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, asking_run
from piiloom.evaluation.utility.options import ModelChoice, UtilityCase, UtilitySettings
from piiloom.evaluation.utility.tasks import (
    ANSWER,
    COMPLETENESS,
    DISCLOSURE,
    KINDS,
    LONGEST_ANSWER,
    PAIR,
    UtilityOutcomes,
    UtilityTask,
    answer_tasks,
    judge_tasks,
    pair_tasks,
)
from piiloom.execution.call_channel import CallChannel, CallPolicy, ask_to_end
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.calls import FailureLimit, Lost, ask_model
from piiloom.execution.money.budget import prompt_bytes, schema_bytes, worst_case_usd
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.execution.retrying import RetryPolicy
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
SECOND_JUDGE: Final = "second judge"


@dataclass(slots=True, kw_only=True)
class RequestEstimate:
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

    def add(self, task: UtilityTask, longest: UtilityTask, library: PromptLibrary, spec: ModelSpec, settings: UtilitySettings) -> None:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityEstimate:
    """The estimate by kind of request, and in all. ``prices_dated`` is None if the user gave the prices."""

    stages: tuple[RequestEstimate, ...]
    total: RequestEstimate
    prices_dated: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        return asdict(self) | {"stages": [asdict(stage) for stage in self.stages]}


def estimate_utility(cases: Sequence[UtilityCase], settings: UtilitySettings) -> UtilityEstimate:
    """Estimate what *cases* would take. No key is needed. Answers are not known yet: all are taken to be different and of usual length.

    Raises ``UsageError`` for an unknown provider or model.
    """
    library = open_library(settings.prompts)
    author, separate = settings.author.spec(), settings.judge
    judge = author if separate is None else separate.spec()
    stages = {kind: RequestEstimate(stage=kind) for kind in (*KINDS, *([_SECOND_PAIRS] if settings.second_judge else []))}
    for case in cases:
        usual, longest = _answers(case, _USUAL_ANSWER, "x"), _answers(case, LONGEST_ANSWER, _WIDE)
        for task, worst in zip(_tasks(case, usual), _tasks(case, longest), strict=True):
            stages[task.kind].add(task, worst, library, author if task.kind == ANSWER else judge, settings)
            if task.kind == PAIR and settings.second_judge is not None:
                stages[_SECOND_PAIRS].add(task, worst, library, settings.second_judge.spec(), settings)
    kinds = stages.values()
    unknown = any(None in (one.about_usd, one.most_usd) for one in kinds)
    total = RequestEstimate(
        stage="total",
        calls=sum(one.calls for one in kinds),
        input_tokens=sum(one.input_tokens for one in kinds),
        output_tokens=sum(one.output_tokens for one in kinds),
        about_usd=None if unknown else sum(one.about_usd or 0.0 for one in kinds),
        most_usd=None if unknown else sum(one.most_usd or 0.0 for one in kinds),
    )
    given = settings.price or settings.judge_price or settings.second_judge_price
    return UtilityEstimate(stages=tuple(stages.values()), total=total, prices_dated=None if given else load_models().dated.isoformat())


def _tasks(case: UtilityCase, answers: UtilityOutcomes) -> Iterator[UtilityTask]:
    yield from answer_tasks(case)
    yield from judge_tasks(case, answers)


def _answers(case: UtilityCase, size: int, filler: str) -> UtilityOutcomes:
    """Return answers of *size* characters, all different."""
    return UtilityOutcomes(answers={(case.id, name): f"{name} ".ljust(size, filler) for name in case.distinct})


@dataclass(frozen=True, slots=True)
class RequestProgress:
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


RequestWatch = Callable[[RequestProgress], None]


class UtilityAsking:
    """One session of asking: the author answers, the judge judges, and a second judge, if any, compares the pairs, too."""

    def __init__(self, library: PromptLibrary, settings: UtilitySettings, watch: RequestWatch) -> None:
        self.outcomes = UtilityOutcomes()
        self._library, self._settings, self._watch = library, settings, watch
        self._lost = 0

    async def run(self, cases: Sequence[UtilityCase], channels: Sequence[CallChannel], stop: StopSignal) -> None:
        """Ask all about *cases*, or until *stop* is requested. Raises errors that would hit every other request, too."""
        made: dict[str, Callable[[UtilityCase], Iterator[UtilityTask]]] = {
            "answers": answer_tasks,
            "judgements": lambda case: judge_tasks(case, self.outcomes),
            SECOND_JUDGE: lambda case: pair_tasks(case, self.outcomes),
        }
        for (step, tasks_of), channel in zip(made.items(), channels, strict=False):
            if not stop.requested:
                await self._step(step, [task for case in cases for task in tasks_of(case)], channel, stop)

    async def _step(self, name: str, tasks: Sequence[UtilityTask], channel: CallChannel, stop: StopSignal) -> None:
        concurrency = self._settings.concurrency
        limit = FailureLimit(channel.calls, concurrency)
        done = 0

        async def work(task: UtilityTask) -> tuple[UtilityTask, Any]:
            return task, await self._asked(task, channel, limit)

        def consume(outcome: tuple[UtilityTask, Any]) -> None:
            nonlocal done
            done += 1
            self._keep(*outcome, second=name == SECOND_JUDGE)
            totals = channel.calls.totals
            self._watch(RequestProgress(name, done, len(tasks), self._lost, totals.replayed, totals.spent_usd))

        await OrderedRun(
            source=iter(tasks),
            work=work,
            consume=consume,
            # More than in flight, for some replies are still being stored; a batch takes all at once.
            concurrency=max(1, len(tasks)) if self._settings.batch else concurrency + concurrency // 2,
            stop=stop,
            gauge=channel.items,
        ).run()

    async def _asked(self, task: UtilityTask, channel: CallChannel, limit: FailureLimit) -> Any:
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

    def _keep(self, task: UtilityTask, said: Any, *, second: bool) -> None:
        self._lost += isinstance(said, Lost)
        outcomes = self.outcomes
        by_kind: Mapping[str, dict[Any, Any]] = {
            ANSWER: outcomes.answers,
            PAIR: outcomes.second_verdicts if second else outcomes.verdicts,
            COMPLETENESS: outcomes.grades,
            DISCLOSURE: outcomes.disclosures,
        }
        by_kind[task.kind][task.key] = said


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModels:
    """The result of a run: what was said, who was asked (provider, model), by which templates (name → id, SHA-256), at what cost.

    ``second`` is the second judge, if there is one. ``totals`` are those of all sessions of the run.
    """

    run_id: str
    outcomes: UtilityOutcomes
    author: tuple[str, str]
    judge: tuple[str, str]
    second: tuple[str, str] | None
    templates: dict[str, tuple[str, str]]
    totals: CallTotals


def ask_models(
    cases: Sequence[UtilityCase],
    settings: UtilitySettings,
    *,
    watch: RequestWatch = noop,
    retry: RetryPolicy | None = None,
    agree: Callable[[], object] = noop,
) -> AskedModels:
    """Have the model of *settings* answer the questions of *cases*, and the judge compare and grade the answers.

    Replies are kept in the DuckDB file ``settings.replies``. *watch* is called after each request. *agree* is called after all checks;
    if it raises, nothing is sent or stored.

    Raises ``Interrupted`` after Ctrl-C, ``BudgetReached``, ``AuthFailed`` and other errors of providers and stores. Replies that were
    paid for are kept in any case. Raises ``UsageError`` for unknown providers or prices.
    """
    library = open_library(settings.prompts)
    policy = CallPolicy(
        concurrency=settings.concurrency,
        rpm=settings.rpm,
        tpm=settings.tpm,
        budget_usd=settings.budget_usd,
        batch=settings.batch,
        retry=retry or RetryPolicy(),
    )
    asking = UtilityAsking(library, settings, watch)
    with ExitStack() as stack:
        author, judge, second = (_connected(one, settings, stack) for one in (settings.author, settings.judge, settings.second_judge))
        agree()
        store = stack.enter_context(Store.open(settings.replies))
        providers = [one for one in (author, judge or author, second) if one is not None]
        run = _run(store, cases, settings, library, providers)
        channels = ask_to_end(store, run.id, providers, policy, partial(asking.run, cases), seed=settings.seed)
    named = [(one.name, one.model) for one in providers]
    return AskedModels(
        run_id=run.id,
        outcomes=asking.outcomes,
        author=named[0],
        judge=named[1],
        second=named[2] if len(named) > 2 else None,
        templates={name: (library.find(name).id, library.find(name).sha256) for name in KINDS},
        totals=channels[0].calls.totals,
    )


def _connected(choice: ModelChoice | None, settings: UtilitySettings, stack: ExitStack) -> Provider | None:
    if choice is None:
        return None
    provider = choice.connect(settings)
    stack.callback(run_in_own_loop, provider.aclose)
    return provider


def _run(
    store: Store, cases: Sequence[UtilityCase], settings: UtilitySettings, library: PromptLibrary, models: Sequence[Provider]
) -> RunRow:
    """Return the run of these cases and settings: an earlier one, whose spending counts toward the budget, or a new one."""
    author, judge, *second = models
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
    for one in second:
        told["second_judge"] = [one.name, one.model, one.endpoint]
    templates = [library.find(name).sha256 for name in KINDS]
    plan = digest("utility", told, templates, [asdict(case) for case in cases])
    return asking_run(store, "utility", told, plan)
