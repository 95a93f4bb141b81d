"""Ask a language model about texts: the session with its store of replies, budget and connections, and the life of a detector that asks."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import replace
from types import MappingProxyType, TracebackType
from typing import Any, Final, NamedTuple, Protocol, Self, TypeVar

from piiloom.corpus.store.runs import asking_run, set_run_status
from piiloom.detection.detector import DetectorText, Findings, ModelDetector
from piiloom.detection.detector_settings import ModelSettings
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.calls import Calls, FailureLimit, Lost, ask_model, prompt_call
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.ordering import StopSignal, stopped_by_ctrl_c
from piiloom.foundation.errors import UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.seeding import digest
from piiloom.prompts.library import PromptLibrary, open_instructions, open_library
from piiloom.providers.protocol import JsonSchema, Message, PromptCall, Provider, SamplingSettings

R = TypeVar("R")
MODEL_SCORE: Final = 0.75  # confidence of a finding for which a model gives no score


class ModelAsker:
    """Asks through *calls*, each question up to *attempts* times."""

    def __init__(self, calls: Calls, library: PromptLibrary, *, attempts: int, concurrency: int) -> None:
        self._calls, self._library, self._attempts = calls, library, attempts
        self._failure_limit = FailureLimit(calls, concurrency)

    async def ask(
        self,
        template: str,
        variables: Mapping[str, Any],
        *,
        item_id: str,
        read: Callable[[Any], R],
        schema: JsonSchema | None,
        settings: SamplingSettings,
        shown: tuple[Message, ...] = (),
        hopeless: Collection[str] = (),
    ) -> R | Lost:
        """As ``ask_on``, from the first attempt on; return only what *read* makes of the reply."""
        found = await self.ask_on(
            template, variables, item_id=item_id, read=read, schema=schema, settings=settings, shown=shown, hopeless=hopeless
        )
        return found if isinstance(found, Lost) else found[0]

    async def ask_on(
        self,
        template: str,
        variables: Mapping[str, Any],
        *,
        item_id: str,
        read: Callable[[Any], R],
        schema: JsonSchema | None,
        settings: SamplingSettings,
        shown: tuple[Message, ...] = (),
        hopeless: Collection[str] = (),
        used: int = 0,
        fault: str | None = None,
    ) -> tuple[R, int] | Lost:
        """Return what *read* makes of the reply and the number of rejected ones, or ``Lost`` if no usable one came.

        *template* is the name of a template; in the journal it is that of the stage, too. *read* gets the JSON data of the reply, or its
        text if *schema* is None, and raises ``Fault`` for what is not usable. *shown* are messages that go between the instruction and
        the question: examples with their answers. After a reply that is *hopeless* ("truncated", say) nothing is asked again. Of the
        attempts *used* are gone, the last one with this *fault*. Raises errors that would hit every other request, too.
        """

        def make(attempt: int, latest: str | None) -> PromptCall:
            return prompt_call(
                self._library.find(template),
                variables,
                stage=template,
                schema_name=template,
                schema=schema,
                item_id=item_id,
                attempt=used + attempt,
                fault=latest or fault,
                settings=settings,
                shown=shown,
            )

        async def judged(data: Any, attempt: int) -> R:  # noqa: ARG001 - all attempts are judged alike
            return read(data)

        left = self._attempts - used
        return await ask_model(self._calls, make, judged, attempts=left, failure_limit=self._failure_limit, hopeless=hopeless)


_PACE_S: Final = 0.01  # minimum time between commits, as in generation: a commit takes 1 to 3 ms, with one row or with thirty


class ModelSession:
    """An open session of the run ``run_id``: the ``channel`` of its calls, the ``asker`` of its questions, and its templates.

    Make it with ``open``, within the event loop that it is used in, and end it with ``close``.
    """

    def __init__(
        self, run_id: str, channel: CallChannel, asker: ModelAsker, library: PromptLibrary, asynchronous: AsyncExitStack, rest: ExitStack
    ) -> None:
        self.run_id, self.channel, self.asker, self.library = run_id, channel, asker, library
        self._asynchronous, self._rest = asynchronous, rest
        self._finished = False

    @classmethod
    async def open(
        cls,
        settings: ModelSettings,
        templates: Sequence[str],
        *,
        instructions: Sequence[str] = (),
        kind: str = "detect",
        about: Mapping[str, Any] = MappingProxyType({}),
        provider: Provider | None = None,
        policy: CallPolicy | None = None,
    ) -> Self:
        """Open the session, which asks by *templates* (names), into which *instructions* of training sets are put (names).

        *kind* begins the name of the run, and *about* are facts that make it another run, beside the settings.
        *provider* replaces that of the settings, and stays open; of *policy*, what the settings do not say counts.

        Raises errors of stores and providers, and ``UsageError`` for an unknown provider or a price that is needed.
        """
        library = open_library(settings.prompts)
        async with AsyncExitStack() as asynchronous:
            if provider is None:
                provider = settings.connect()
                asynchronous.push_async_callback(provider.aclose)
            with ExitStack() as rest:
                store = rest.enter_context(settings.open_replies())
                prompts = [library.find(name) for name in templates] + [open_instructions().find(name) for name in instructions]
                told: dict[str, Any] = {
                    kind: settings.run or True,
                    "provider": provider.name,
                    "model": provider.model,
                    "endpoint": provider.endpoint,
                    "attempts": settings.max_attempts,
                    "seed": settings.seed,
                    **about,
                }
                # An earlier run of these settings and prompts, whose spending counts, or a new one.
                run = asking_run(store, kind, told, digest(kind, told, [one.sha256 for one in prompts]))
                committer = GroupCommitter(store, run.id, pace_s=_PACE_S)
                policy = replace(
                    policy or CallPolicy(),
                    concurrency=settings.concurrency,
                    rpm=settings.rpm,
                    tpm=settings.tpm,
                    budget_usd=settings.budget_usd,
                    batch=settings.batch,
                )
                channel = open_channel(store, run.id, provider, committer, policy, seed=settings.seed)
                asker = ModelAsker(channel.calls, library, attempts=settings.max_attempts, concurrency=settings.concurrency)
                # Calls in flight are paid for, so wait for them: the next session finds their replies.
                asynchronous.push_async_callback(channel.calls.drain)
                session = cls(run.id, channel, asker, library, asynchronous.pop_all(), rest.pop_all())
        session._rest.callback(lambda: set_run_status(store, run.id, "finished" if session._finished else "interrupted"))
        session._rest.callback(committer.close)
        committer.start()
        return session

    async def close(self, *, finished: bool) -> None:
        """Wait for the calls in flight, keep their replies, and close everything. *finished*: the run came to its end."""
        self._finished = finished
        try:
            await self._asynchronous.aclose()
        finally:
            self._rest.close()


def in_session(
    settings: ModelSettings,
    templates: Sequence[str],
    ask: Callable[[ModelSession, StopSignal], Awaitable[bool]],
    *,
    instructions: Sequence[str] = (),
    kind: str,
    about: Mapping[str, Any] = MappingProxyType({}),
    policy: CallPolicy | None = None,
) -> tuple[ModelSession, bool]:
    """Open a session, have *ask* use it, which returns whether it came to its end, and close it; return both. See ``ModelSession.open``.

    The stop signal is given by Ctrl-C. Replies that were paid for are kept in any case.
    """
    stop = StopSignal()

    async def asked() -> tuple[ModelSession, bool]:
        session = await ModelSession.open(settings, templates, instructions=instructions, kind=kind, about=about, policy=policy)
        finished = False
        try:
            with stopped_by_ctrl_c(stop):
                finished = await ask(session, stop)
        finally:
            await session.close(finished=finished)
        return session, finished

    return run_in_own_loop(asked, on_interrupt=stop.request)


class AskingDetector(ModelDetector):
    """A detector that asks a language model. Of one kind are its ``name``, the ``templates`` that it asks by, and how it examines a text.

    ``instructions`` are the names of those of ``prompts.library.open_instructions`` that it puts into them.

    *provider* replaces that of *model*. *policy* says how calls are retried, and who is told of them; *model* says the rest.
    """

    templates: tuple[str, ...]
    instructions: tuple[str, ...] = ()

    def __init__(self, model: ModelSettings, *, provider: Provider | None = None, policy: CallPolicy | None = None) -> None:
        super().__init__()
        self.model = model
        self._provider, self._policy = provider, policy
        self._session: ModelSession | None = None

    async def __aenter__(self) -> Self:
        if self._session is not None:
            raise UsageError("the detector is open already", remedy="Share it: many texts can be under way at once")
        session = await ModelSession.open(
            self.model, self.templates, instructions=self.instructions, provider=self._provider, policy=self._policy
        )
        self.share(session)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close(finished=error is None)

    async def examine_async(
        self, text: str, locale: str, question: str | None = None, *, item_id: str = "", group_keys: Sequence[str] = ()
    ) -> Findings:
        """See ``ModelDetector``; the errors that would hit every other text are those of the provider, and ``BudgetReached``."""
        with self.in_progress():
            return await self._examined(DetectorText(text, locale, question), item_id or digest(locale, text)[:16], group_keys)

    @abstractmethod
    async def _examined(self, one: DetectorText, item_id: str, group_keys: Sequence[str]) -> Findings:
        """Ask about a text that is counted as one in progress."""

    @contextmanager
    def in_progress(self, count: int = 1) -> Iterator[None]:
        """Count *count* texts in progress: a batch is sent when all of them wait."""
        items = self.session().channel.items
        items(count)
        try:
            yield
        finally:
            items(-count)

    def share(self, session: ModelSession | None) -> None:
        """Ask within *session*, which may be another one's to open and close; with None no longer."""
        self._session = session
        if session is not None:
            self._totals = session.channel.calls.totals

    def session(self) -> ModelSession:
        """Return the open session. Raises ``UsageError`` if there is none."""
        if self._session is None:
            raise UsageError("the model is not connected", remedy="Use it as a context manager: async with detector: …")
        return self._session


class KeyedQuestion(Protocol):
    """What can be asked; equal questions of a text are asked once."""

    @property
    def key(self) -> object:
        """Equal for equal questions."""


Q = TypeVar("Q", bound=KeyedQuestion)
A = TypeVar("A")


async def each_once(questions: Sequence[Q], ask: Callable[[Q], Coroutine[Any, Any, A]]) -> list[tuple[Q, A]]:
    """Ask each of *questions*, equal ones once; return them with their answers, in their order."""
    distinct: dict[object, Q] = {}
    for question in questions:
        distinct.setdefault(question.key, question)
    answers = dict(zip(distinct, await all_of(map(ask, distinct.values())), strict=True))
    return [(question, answers[question.key]) for question in questions]


def settle(waiting: asyncio.Future[A], answer: A | Exception) -> None:
    """Give *answer* to whoever still waits for it."""
    if waiting.done():
        return
    if isinstance(answer, Exception):
        waiting.set_exception(answer)
    else:
        waiting.set_result(answer)


async def all_of(work: Iterable[Awaitable[A]]) -> list[A]:
    """Do all of *work* at once. If a part of it fails, the rest is cancelled; calls that are out are waited for by the session."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


class CallsSoFar(NamedTuple):
    """Of ``total`` items named ``what`` so many are ``done``, and ``rejected`` given up if some may be; ``totals`` of all sessions."""

    what: str
    done: int
    total: int
    totals: CallTotals
    rejected: int | None = None

    def line(self) -> str:
        """One line for a terminal."""
        rejected = "" if self.rejected is None else f", {self.rejected:,} rejected"
        cost = f"{self.totals.replayed:,} replies from the store, ${self.totals.spent_usd:.4f} spent"
        return f"{self.what} {self.done:,}/{self.total:,}{rejected}, {cost}"


def cost_of(run_id: str, totals: CallTotals) -> dict[str, Any]:
    """Return the cost of all sessions of a run as JSON values; "usd" is None if a price is unknown."""
    usd = None if totals.unpriced else totals.spent_usd
    return {"run": run_id, "usd": usd, "answered": totals.answered, "replayed": totals.replayed}


def why_lost(lost: Lost) -> str:
    """Return why a document failed."""
    return f"no usable answer came ({lost.code}, attempts: {lost.attempts}): {lost.message}"
