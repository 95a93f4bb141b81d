"""What detectors that are services share: their life, long texts in pieces, and texts that are refused."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import ClassVar, Final, Self

from piiloom.detection.adapters.label_targets import label_targets
from piiloom.detection.adapters.mapped_findings import WITHOUT_PHASES, LabelledRange, mapped_findings
from piiloom.detection.asking.gathering import all_of
from piiloom.detection.chunking import cut_text
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.detector_settings import Service
from piiloom.detection.findings import Findings, SetAside
from piiloom.detection.sentences import Sentences
from piiloom.detection.services.calling import ServiceCaller, TextRefused
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.limits.limiter import Limiter
from piiloom.execution.retrying import RetryPolicy, Sleep
from piiloom.foundation.errors import UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.taxonomy.entity_types import Taxonomy

OUTSIDE: Final = "outside_text"  # the service gave a place that the text does not have, or another value than stands there


class ServiceDetector(ABC):
    """See ``findings.ModelDetector``. *policy* and *sleep* replace those that wait as the settings say.

    Of one service are ``name``, the ``rpm`` that it allows, and how it is opened, closed and asked. A label means what the map of that name
    says, under the user's own.
    """

    name: ClassVar[str]
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
        self.settings, self._threshold = settings, threshold
        self._policy, self._sleep = policy or RetryPolicy(attempts=settings.attempts), sleep
        self._targets = label_targets([self.name], settings.label_map, taxonomy)
        self._totals = CallTotals()
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

    @property
    def totals(self) -> CallTotals:
        """What was asked so far; its cost is not known."""
        return self._totals

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

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Open, examine one text, and close. Raises ``UsageError`` if the service refuses it."""
        found = self.examine(text, locale, question)
        if found.failed is not None:
            raise UsageError(f"the text was not detected: {found.failed}", where=f"--detector {self.name}")
        return found.spans

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
        question: str | None = None,  # noqa: ARG002 - services judge no relevance
        *,
        item_id: str = "",  # noqa: ARG002 - nothing is journaled
        group_keys: Sequence[str] = (),  # noqa: ARG002 - services are shown no examples
    ) -> Findings:
        """Send *text*, a long one in pieces. Raises errors that would hit every other text."""
        try:
            language = self.language(locale)
            pieces = [piece for piece in self._pieces(text) if not text[piece[0] : piece[1]].isspace()]
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

    def _pieces(self, text: str) -> list[tuple[int, int]]:
        limit = self.limit(text)
        return [(0, len(text))] if len(text) <= limit else cut_text(text, Sentences(text).ends, (), limit)
