"""Any detector with a verifier behind it: ``piiloom detect --verify 1`` (an answer alone) or ``2`` (a reasoning before it).

It asks in the form of the training sets for verifiers (``corpus.formats.verifier``).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from piiloom.corpus.formats.instruction_tuning import verifying
from piiloom.corpus.formats.verifier import verifier_message
from piiloom.detection.asking import AskingDetector, each_once, settle
from piiloom.detection.detector import Detector, DetectorText, Findings, ModelDetector, ScoredSpan, SetAside, examine_texts
from piiloom.detection.detector_settings import ModelSettings
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.calls import Fault, Lost
from piiloom.foundation.lenient_json import read_leniently
from piiloom.providers.protocol import Provider, SamplingSettings
from piiloom.taxonomy.entity_types import Taxonomy

_MOST: Final = 64  # texts that a detector is given at once


_TRUE: Final = frozenset(("t", "true", "right", "yes", "correct"))
_FALSE: Final = frozenset(("f", "false", "wrong", "no", "incorrect"))
_AT_THE_END: Final = re.compile(
    r"\b(?:(?:so|the|my|final)\s+)*(?:answer|verdict)\W{0,12}(?:is\W{1,4})?(T|F|true|false)\b[\W_]*\Z",
    re.IGNORECASE,
)
_SIGNS: Final = " \t\r\n\"'`*_.,;:!()[]{}<>"
_ANSWER: Final = ("answer", "verdict", "label", "result")
_REASONING: Final = ("reasoning", "reason", "explanation", "rationale")
_WANTED: Final = {False: "answer with one letter: T or F", True: 'answer with a JSON object: {"reasoning": "…", "answer": "T"} or "F"'}


class VerifierVerdict(NamedTuple):
    """Whether a finding is right, and why."""

    right: bool
    reasoning: str = ""


def read_verdict(reply: str, *, reasoned: bool) -> VerifierVerdict:
    """Return what *reply* says. Raises ``Fault`` if that is neither T nor F.

    Read are the letter, also as a word and with signs around it, an object with an answer, and prose that ends with "answer: T".
    """
    for said in reversed(read_leniently(reply).values):
        if isinstance(said, dict):
            right = _truth(_first(said, _ANSWER))
            if right is not None:
                reasoning = _first(said, _REASONING)
                return VerifierVerdict(right, reasoning.strip() if isinstance(reasoning, str) else "")
    right = _truth(reply)
    if right is not None:
        return VerifierVerdict(right)
    found = _AT_THE_END.search(reply)
    if found is None:
        raise Fault("no_verdict", _WANTED[reasoned])
    return VerifierVerdict(found.group(1).lower().startswith("t"), reply[: found.start()].strip(_SIGNS[:4]))


def _truth(said: Any) -> bool | None:
    word = said.strip(_SIGNS).lower() if isinstance(said, str) else str(said).lower() if isinstance(said, bool) else ""
    return True if word in _TRUE else False if word in _FALSE else None


def _first(said: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((said[name] for name in names if name in said), None)


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

    An *inner* one that asks a model does so in the same session: one run, one budget. One that waits for others is opened and closed. All
    others work in one thread, so that the loop goes on; what has come in meanwhile is done at once by those that are faster so.
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
        self._inner, self._taxonomy, self._reasoned = inner, taxonomy, reasoned
        self._stack = AsyncExitStack()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: list[tuple[DetectorText, asyncio.Future[Findings]]] = []
        self._work: asyncio.Task[None] | None = None
        self.name = inner.name
        self.templates, self.instructions = (TEMPLATE,), (INSTRUCTIONS[reasoned],)
        if isinstance(inner, AskingDetector):
            self.templates, self.instructions = (*inner.templates, TEMPLATE), (*inner.instructions, *self.instructions)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        try:
            if isinstance(self._inner, AskingDetector):
                self._inner.share(self.session())
                self._stack.callback(self._inner.share, None)
            elif isinstance(self._inner, ModelDetector):
                await self._stack.enter_async_context(self._inner)
            else:
                self._pool = self._stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="detector"))
        except BaseException as error:
            await super().__aexit__(type(error), error, None)
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if self._work is not None:
                self._work.cancel()
                self._work = None
            await self._stack.aclose()
        finally:
            await super().__aexit__(kind, error, trace)

    async def _examined(self, one: DetectorText, item_id: str, group_keys: Sequence[str]) -> Findings:
        with self.in_progress(-int(isinstance(self._inner, AskingDetector))):  # which counts the text itself
            found = await self._found(one, item_id, group_keys)
        if found.failed is not None or not found.spans:
            return found
        text = one.text
        asked = [
            _Finding(span, verifier_message(text, one.question, span.start, span.end, span.entity_type, self._taxonomy))
            for span in found.spans
        ]
        judged = await each_once(asked, lambda finding: self._judge(finding, item_id))
        kept = [finding.span for finding, verdict in judged if isinstance(verdict, Lost) or verdict.right]
        told = [aside for finding, verdict in judged if (aside := _refusal(text, finding.span, verdict)) is not None]
        return replace(found, spans=kept, set_aside=[*found.set_aside, *told])

    async def _found(self, text: DetectorText, item_id: str, group_keys: Sequence[str]) -> Findings:
        """Return what *inner* finds in *text*."""
        if isinstance(self._inner, ModelDetector):
            return await self._inner.examine_async(*text, item_id=item_id, group_keys=group_keys)
        future: asyncio.Future[Findings] = asyncio.get_running_loop().create_future()
        self._waiting.append((text, future))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._do_all())
        return await future

    async def _do_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            texts, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            try:
                found = await loop.run_in_executor(self._pool, examine_texts, self._inner, [text for text, _ in texts])
            except Exception as error:  # noqa: BLE001 - each who waits gets it
                for _, future in texts:
                    settle(future, error)
                continue
            for (_, future), findings in zip(texts, found, strict=True):
                settle(future, findings)

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
