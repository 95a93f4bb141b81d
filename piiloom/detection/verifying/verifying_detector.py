"""Any detector with a verifier behind it: ``piiloom detect --verify 1`` (an answer alone) or ``2`` (a reasoning before it).

It asks in the form of the training sets for verifiers (``corpus.formats.verifier``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Final, NamedTuple, Self

from piiloom.corpus.formats.instruction_tuning import verifying
from piiloom.corpus.formats.verifier import verifier_message
from piiloom.detection.asking.asking_detector import AskingDetector
from piiloom.detection.asking.gathering import each_once
from piiloom.detection.detector import Detector, ScoredSpan
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.findings import DetectorText, Findings, SetAside
from piiloom.detection.verifying.inner_detector import InnerDetector
from piiloom.detection.verifying.verdicts import VerifierVerdict, read_verdict
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.calls import Lost
from piiloom.foundation.seeding import digest
from piiloom.providers.protocol import Provider, SamplingSettings
from piiloom.taxonomy.entity_types import Taxonomy

TEMPLATE: Final = "detect_verdict"
REFUSED: Final = "refused_by_verifier"
DEFAULT: Final = "verifier_left_to_default"
INSTRUCTIONS: Final = ("verify", "verify_reasoned")
# A model that thinks before it answers counts its thoughts as output.
SETTINGS: Final = {False: SamplingSettings(max_output_tokens=256), True: SamplingSettings(max_output_tokens=1024)}


class _Finding(NamedTuple):
    """A span to be judged, and how it is asked about."""

    span: ScoredSpan
    key: str


class VerifyingDetector(AskingDetector):
    """Asks *model* about each span that *inner* finds; ``reasoned``: it gives a reasoning before its answer.

    What it refuses is set aside, with the reasoning. Where no usable answer comes, the span stays, which is set aside as told.
    """

    def __init__(
        self,
        inner: Detector,
        model: ModelSettings,
        *,
        taxonomy: Taxonomy,
        reasoned: bool,
        provider: Provider | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        super().__init__(model, provider=provider, policy=policy)
        self._inner, self._taxonomy, self._reasoned = InnerDetector(inner), taxonomy, reasoned
        self.name = inner.name
        self.templates, self.instructions = (TEMPLATE,), (INSTRUCTIONS[reasoned],)
        if isinstance(inner, AskingDetector):
            self.templates, self.instructions = (*inner.templates, TEMPLATE), (*inner.instructions, *self.instructions)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        try:
            await self._inner.open(self.session())
        except BaseException as error:
            await super().__aexit__(type(error), error, None)
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            await self._inner.close()
        finally:
            await super().__aexit__(kind, error, trace)

    async def examine_async(
        self, text: str, locale: str, question: str | None = None, *, item_id: str = "", group_keys: Sequence[str] = ()
    ) -> Findings:
        """Judge what is found in *text*. Raises errors of the provider that would hit every other text, and ``BudgetReached``."""
        item_id = item_id or digest(locale, text)[:16]
        with self._in_progress(itself=not self._inner.asks):
            found = await self._inner.examine(DetectorText(text, locale, question), item_id, group_keys)
        if found.failed is not None or not found.spans:
            return found
        asked = [
            _Finding(one, verifier_message(text, question, one.start, one.end, one.entity_type, self._taxonomy)) for one in found.spans
        ]
        with self._in_progress():
            judged = await each_once(asked, lambda one: self._judge(one, item_id))
        kept = [one.span for one, verdict in judged if isinstance(verdict, Lost) or verdict.right]
        told = [aside for one, verdict in judged if (aside := _refusal(text, one.span, verdict)) is not None]
        return replace(found, spans=kept, set_aside=[*found.set_aside, *told])

    @contextmanager
    def _in_progress(self, *, itself: bool = True) -> Iterator[None]:
        """Count a text in progress: a batch is sent when all of them wait. *itself* is False where the inner detector counts it."""
        items = self.session().channel.items
        items(int(itself))
        try:
            yield
        finally:
            items(-int(itself))

    async def _judge(self, one: _Finding, item_id: str) -> VerifierVerdict | Lost:
        reasoned = self._reasoned
        return await self.session().asker.ask(
            TEMPLATE,
            {"instruction": verifying(self._taxonomy, reasoned=reasoned), "message": one.key},
            item_id=f"{item_id} {one.span.start}",
            read=lambda reply: read_verdict(reply, reasoned=reasoned),
            schema=None,
            settings=SETTINGS[reasoned],
        )


def _refusal(text: str, span: ScoredSpan, verdict: VerifierVerdict | Lost) -> SetAside | None:
    if isinstance(verdict, VerifierVerdict) and verdict.right:
        return None
    reason = f"{DEFAULT}: {verdict.code}" if isinstance(verdict, Lost) else REFUSED
    return SetAside(
        phase=0,
        reason=reason,
        subtype=span.subtype or span.entity_type,
        value=text[span.start : span.end],
        start=span.start,
        end=span.end,
        note="" if isinstance(verdict, Lost) else verdict.reasoning,
    )
