"""The life of a detector that asks a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from piiloom.detection.asking.model_settings import ModelSettings
from piiloom.detection.asking.session import ModelSession
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.findings import Findings
from piiloom.execution.call_channel import CallChannel, CallPolicy
from piiloom.execution.call_totals import CallTotals
from piiloom.foundation.errors import UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.providers.protocol import Provider


class AskingDetector(ABC):
    """See ``findings.ModelDetector``. Of one kind of detector are its ``name``, the ``templates`` that it asks by, and ``examine_async``.

    ``instructions`` are the names of those of ``prompts.library.open_instructions`` that it puts into them.

    *provider* replaces that of *model*. *policy* says how calls are retried, and who is told of them; *model* says the rest.
    """

    name: str
    templates: tuple[str, ...]
    instructions: tuple[str, ...] = ()

    def __init__(self, model: ModelSettings, *, provider: Provider | None = None, policy: CallPolicy | None = None) -> None:
        self.model = model
        self._provider, self._policy = provider, policy
        self._session: ModelSession | None = None
        self._totals = CallTotals()

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

    @property
    def totals(self) -> CallTotals:
        """What all sessions of the run asked and paid so far."""
        return self._totals

    @property
    def channel(self) -> CallChannel:
        """The open channel, for views of limits and budget. Raises ``UsageError`` if it is not open."""
        return self.session().channel

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

    @abstractmethod
    async def examine_async(
        self, text: str, locale: str, question: str | None = None, *, item_id: str = "", group_keys: Sequence[str] = ()
    ) -> Findings:
        """See ``findings.ModelDetector``."""

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
