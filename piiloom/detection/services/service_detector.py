"""Detectors that are services: limits, retries and the end of a run, long texts in pieces, and texts that are refused."""

from __future__ import annotations

import asyncio
import random
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import ClassVar, Final, Self, TypeVar

from tenacity import RetryCallState

from piiloom.detection.adapters.label_targets import WITHOUT_PHASES, LabelledRange, label_targets, mapped_findings
from piiloom.detection.asking import all_of
from piiloom.detection.chunking import sentence_pieces
from piiloom.detection.detector import Findings, ModelDetector, SetAside
from piiloom.detection.detector_settings import DetectorSettings, Service
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.limits.limiter import Limiter, LimiterSlot
from piiloom.execution.retrying import RetryPolicy, Sleep
from piiloom.foundation.errors import ProviderError, UsageError
from piiloom.providers.errors import ENDS_RUN, ProviderUnavailable, RateLimited
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.entity_types import Taxonomy

T = TypeVar("T")
REQUEST_S: Final = 60.0  # longest duration of a request where none is given
_FAILURES: Final = 20


class TextRefused(Exception):
    """The service has nothing to say about one text; ``str()`` is the reason. Others are not concerned."""


class ServiceCaller:
    """Makes requests within *limiter*, and tries again by *policy*. ``totals`` counts them.

    A text whose requests failed for good is refused with that reason, and the run goes on, unless the next ones would fail as well: for a
    wrong key, before the first answer, and after ``max(20, 2 * concurrency)`` failures in a row the error is raised.
    """

    def __init__(self, limiter: Limiter, policy: RetryPolicy, totals: CallTotals, *, concurrency: int, sleep: Sleep) -> None:
        self._limiter, self._policy, self.totals, self._sleep = limiter, policy, totals, sleep
        self._rng = random.Random()
        self._most = max(_FAILURES, 2 * concurrency)
        self._in_a_row = 0

    async def send(self, request: Callable[[], Awaitable[T]], *, counted: bool = True) -> T:
        """Return what *request* returns.

        It raises ``ProviderError``; those worth it are tried again. *counted*: its answer counts as one that was paid for. Raises
        ``TextRefused``, or the error if the run must end.
        """
        try:
            answer: T = await self._policy.tries(self._rng, sleep=self._sleep, before_sleep=self._count_retry)(self._once, request)
        except ProviderError as error:
            raise self._given_up(self._policy.settled(error)) from error
        self._in_a_row = 0
        if counted:
            self.totals.answered += 1
            self.totals.answered_now += 1
            self.totals.unpriced += 1  # prices of services are by contract and volume
        return answer

    def _count_retry(self, _: RetryCallState) -> None:
        self.totals.retries += 1

    async def _once(self, request: Callable[[], Awaitable[T]]) -> T:
        async with self._limiter.slot(0) as slot:
            began = time.monotonic()
            try:
                answer = await request()
            except RateLimited as error:
                slot.refused(retry_after=error.retry_after)
                raise
            except ProviderUnavailable as error:
                _report(slot, error)
                raise
            slot.answered(tokens=None, latency_s=time.monotonic() - began, stage="")
            return answer

    def _given_up(self, error: ProviderError) -> Exception:
        self.totals.failed += 1
        self._in_a_row += 1
        if isinstance(error, ENDS_RUN) or self._in_a_row >= self._most:
            return error
        if not self.totals.answered_now and isinstance(error, RateLimited | ProviderUnavailable):
            return error
        return TextRefused(error.message)


def _report(slot: LimiterSlot, error: ProviderUnavailable) -> None:
    if error.overloaded:
        slot.refused(retry_after=error.retry_after)
    else:
        slot.failed(timed_out=error.timed_out)


OUTSIDE: Final = "outside_text"  # the service gave a place that the text does not have, or another value than stands there


class ServiceDetector(ModelDetector):
    """A detector that is a service. *policy* and *sleep* replace those that wait as the settings say.

    Of one service are ``name``, the ``rpm`` that it allows, and how it is opened, closed and asked. A label means what the map of that name
    says, under the user's own.
    """

    rpm: ClassVar[float | None]

    def __init__(
        self,
        settings: Service,
        threshold: float,
        *,
        taxonomy: Taxonomy,
        policy: RetryPolicy | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__()
        self.settings, self._threshold = settings, threshold
        self._policy, self._sleep = policy or RetryPolicy(attempts=settings.attempts), sleep
        self._targets = label_targets([self.name], settings.label_map, taxonomy)
        self._caller: ServiceCaller | None = None

    async def __aenter__(self) -> Self:
        if self._caller is not None:
            raise UsageError("the detector is open already", remedy="Share it: many texts can be under way at once")
        await self.open()
        settings = self.settings
        limiter = Limiter(concurrency=settings.concurrency, rpm=settings.rpm or self.rpm)
        self._caller = ServiceCaller(limiter, self._policy, self._totals, concurrency=settings.concurrency, sleep=self._sleep)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._caller = None
        await self.close()

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:  # noqa: ARG003
        """See ``registry.make_detector``."""
        assert settings.service is not None  # noqa: S101 - checked when the settings were made
        return cls(settings.service, settings.threshold, taxonomy=settings.taxonomy)

    @property
    def caller(self) -> ServiceCaller:
        """What sends requests. Raises ``UsageError`` if the detector is not open."""
        if self._caller is None:
            raise UsageError("the service is not connected", remedy="Use it as a context manager: async with detector: …")
        return self._caller

    @abstractmethod
    async def open(self) -> None:
        """Make ready to send. Raises ``AuthFailed`` without a key."""

    @abstractmethod
    async def close(self) -> None:
        """Close connections."""

    @abstractmethod
    def language(self, locale: str) -> str:
        """Return how the service calls the language of *locale*. Raises ``TextRefused`` for one that it does not read."""

    @abstractmethod
    def limit(self, text: str) -> int:
        """Return the most code points of a piece of *text*."""

    @abstractmethod
    async def ask(self, piece: str, language: str) -> Sequence[LabelledRange]:
        """Return what the service finds in *piece*, at places that may not exist. Raises ``TextRefused`` and ``ProviderError``."""

    async def examine_async(
        self,
        text: str,
        locale: str,
        question: str | None = None,  # noqa: ARG002 - services judge no relevance
        *,
        item_id: str = "",  # noqa: ARG002 - nothing is journaled
        group_keys: Sequence[str] = (),  # noqa: ARG002 - services are shown no examples
    ) -> Findings:
        """Send *text*, a long one in pieces. Raises errors that would hit every other text."""
        try:
            language = self.language(locale)
            pieces = sentence_pieces(text, self.limit(text))
            answers = await all_of(self.ask(text[start:end], language) for start, end in pieces)
        except TextRefused as refusal:
            return Findings(spans=(), failed=str(refusal))
        found: list[LabelledRange] = []
        outside: list[SetAside] = []
        for (begin, end), answer in zip(pieces, answers, strict=True):
            for one in answer:
                if 0 <= one.start < one.end <= end - begin:
                    found.append(LabelledRange(start=one.start + begin, end=one.end + begin, label=one.label, score=one.score))
                else:
                    outside.append(SetAside(phase=WITHOUT_PHASES, reason=f"{OUTSIDE}: {one.label}"))
        result = mapped_findings(text, [one for one in found if one.score >= self._threshold], self._targets, self.name)
        return Findings(spans=result.spans, set_aside=(*result.set_aside, *outside))
