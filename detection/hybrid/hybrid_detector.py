"""Patterns beside a language model: the detector "hybrid"."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from piiloom.corpus.mention_search import Range
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.findings import Findings, SetAside
from piiloom.detection.hybrid.by_model.model_reader import ModelReader
from piiloom.detection.hybrid.by_model.session import ModelSession
from piiloom.detection.hybrid.model_settings import ModelSettings
from piiloom.detection.hybrid.offline.offline_reader import read_by_rules
from piiloom.detection.hybrid.phases import PhaseSettings, TextUnderWay
from piiloom.detection.hybrid.places import Ambiguity, by_context
from piiloom.detection.hybrid.short_numbers import Check, by_cues
from piiloom.execution.asking import Lost
from piiloom.execution.call_channel import CallChannel, CallPolicy
from piiloom.execution.call_totals import CallTotals
from piiloom.foundation.errors import UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.seeding import digest
from piiloom.providers.protocol import Provider

_NOT_OPEN: Final = "the model is not connected"
_HOW: Final = "Use it as a context manager: async with detector: …"


class Question(Protocol):
    """What can be asked; equal questions of a text are asked once."""

    @property
    def key(self) -> object:
        """Equal for equal questions."""


Q = TypeVar("Q", bound=Question)
A = TypeVar("A")


class HybridDetector:
    """See ``findings.ModelDetector``. Where no usable answer comes, the rules of "hybrid-offline" decide, which is set aside as told.

    *provider* replaces that of *model*. *policy* says how calls are retried, and who is told of them; *model* says the rest.
    """

    name = "hybrid"

    def __init__(
        self,
        settings: PhaseSettings,
        model: ModelSettings,
        *,
        provider: Provider | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        self._settings, self._model = settings, model
        self._provider, self._policy = provider, policy
        self._session: ModelSession | None = None
        self._totals = CallTotals()

    async def __aenter__(self) -> Self:
        if self._session is not None:
            raise UsageError("the detector is open already", remedy="Share it: many texts can be under way at once")
        self._session = await ModelSession.open(self._model, provider=self._provider, policy=self._policy)
        self._totals = self._session.channel.calls.totals
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close(finished=error is None)

    @property
    def totals(self) -> CallTotals:
        """What all sessions of the run asked and paid so far."""
        return self._totals

    @property
    def channel(self) -> CallChannel:
        """The open channel, for views of limits and budget. Raises ``UsageError`` if it is not open."""
        return self._opened().channel

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Open, examine one text, and close."""
        return self.examine(text, locale, question).spans

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """Open, examine one text, and close."""

        async def alone() -> Findings:
            async with self:
                return await self.examine_async(text, locale, question)

        return run_in_own_loop(alone)

    async def detect_async(self, text: str, locale: str, question: str | None = None, *, item_id: str = "") -> Sequence[ScoredSpan]:
        """The spans of ``examine_async``."""
        return (await self.examine_async(text, locale, question, item_id=item_id)).spans

    async def examine_async(
        self,
        text: str,
        locale: str,
        question: str | None = None,  # noqa: ARG002 - it judges no relevance
        *,
        item_id: str = "",
    ) -> Findings:
        """Take *text* through the phases. Raises errors of the provider that would hit every other text, and ``BudgetReached``."""
        under_way = TextUnderWay(text, locale, self._settings)
        phases = self._settings.phases
        if not phases:
            return under_way.findings()
        session = self._opened()
        asked = _Asked(session.reader, under_way, item_id or digest(locale, text)[:16])
        session.channel.items(1)
        try:
            await asked.find()
            if phases > 1:
                await asked.resolve()
            if phases > 2:
                await asked.verify()
        finally:
            session.channel.items(-1)
        return under_way.findings()

    def _opened(self) -> ModelSession:
        if self._session is None:
            raise UsageError(_NOT_OPEN, remedy=_HOW)
        return self._session


class _Asked:
    """The three phases of one text, with a model that answers."""

    def __init__(self, reader: ModelReader, under_way: TextUnderWay, item_id: str) -> None:
        self._reader, self._under_way, self._item_id = reader, under_way, item_id
        self._locale = under_way.catalogue.locale

    async def find(self) -> None:
        way = self._under_way
        pieces = way.pieces()
        answers = await _all_of(self._reader.find(way.text, piece, way.asked, self._item_id) for piece in pieces)
        for piece, answer in zip(pieces, answers, strict=True):
            if isinstance(answer, Lost):
                way.add(read_by_rules(way, piece), [_left_to_rules(1, answer, piece)])
            else:
                way.add(*answer)

    async def resolve(self) -> None:
        way = self._under_way
        answers = await _each_once(way.ambiguities(), lambda one: self._reader.resolve(one, self._locale, self._item_id))
        way.settle([(question, self._settled(question, answer)) for question, answer in answers])

    def _settled(self, question: Ambiguity, answer: str | Lost) -> str:
        if not isinstance(answer, Lost):
            return answer
        ruled = by_context(question)
        best = question.place.best
        self._under_way.add((), [_left_to_rules(2, answer, (best.start, best.end), ruled, question.value)])
        return ruled

    async def verify(self) -> None:
        way = self._under_way
        answers = await _each_once(way.checks(), lambda one: self._reader.verify(one, self._locale, self._item_id))
        way.confirm([check for check, answer in answers if not self._confirmed(check, answer)])

    def _confirmed(self, check: Check, answer: bool | Lost) -> bool:
        if not isinstance(answer, Lost):
            return answer
        one = check.candidate
        self._under_way.add((), [_left_to_rules(3, answer, (one.start, one.end), one.entity.id, check.value)])
        return by_cues(check, self._under_way.catalogue.against)


def _left_to_rules(phase: int, lost: Lost, place: Range, subtype: str | None = None, value: str = "") -> SetAside:
    return SetAside(phase=phase, reason=f"left_to_rules: {lost.code}", subtype=subtype, value=value, start=place[0], end=place[1])


async def _each_once(questions: Sequence[Q], ask: Callable[[Q], Coroutine[Any, Any, A]]) -> list[tuple[Q, A]]:
    """Ask each of *questions*, equal ones once; return them with their answers, in their order."""
    distinct: dict[object, Q] = {}
    for question in questions:
        distinct.setdefault(question.key, question)
    answers = dict(zip(distinct, await _all_of(map(ask, distinct.values())), strict=True))
    return [(question, answers[question.key]) for question in questions]


async def _all_of(work: Iterable[Awaitable[A]]) -> list[A]:
    """Do all of *work* at once. If a part of it fails, the rest is cancelled; calls that are out are waited for by the session."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
