"""The detector "capid": one language model lists what is personal, and says of each mention whether it matters to the question.

It asks in the form in which the instruction exports train (``corpus.formats.instructions``), for plain text: a tuned model answers with
what it learnt, and a schema would be another form.
"""

from __future__ import annotations

from typing import Final

from piiloom.corpus.formats.instructions import extracting, message
from piiloom.corpus.mention_search import Range
from piiloom.detection.asking.asking_detector import AskingDetector
from piiloom.detection.asking.gathering import all_of
from piiloom.detection.asking.model_settings import ModelSettings
from piiloom.detection.capid.entries import PHASE, Listed, read_entries
from piiloom.detection.capid.placing import Mention, everywhere, place
from piiloom.detection.chunking import cut_text
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.findings import Findings, SetAside
from piiloom.detection.registry import DetectorSettings
from piiloom.detection.sentences import Sentences
from piiloom.execution.asking import Fault, Lost
from piiloom.execution.call_channel import CallPolicy
from piiloom.foundation.seeding import digest
from piiloom.providers.protocol import Provider, SamplingSettings

NAME: Final = "capid"
TEMPLATE: Final = "detect_capid"
SCORE: Final = 0.75  # how sure a model's finding is, that gives no score itself
_LEAST_TOKENS: Final = 1024
_CUT: Final = "truncated"  # the code of a reply that reached the token limit


class CapidDetector(AskingDetector):
    """See ``findings.ModelDetector``. A text of which a piece got no usable answer has failed: to say nothing of it would be a lie."""

    name = NAME
    templates = (TEMPLATE,)
    instructions = ("extract", "extract_relevant")

    def __init__(
        self,
        model: ModelSettings,
        *,
        chunk_chars: int,
        threshold: float = 0.0,
        provider: Provider | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        super().__init__(model, provider=provider, policy=policy)
        self._chunk_chars, self._threshold = chunk_chars, threshold

    async def examine_async(self, text: str, locale: str, question: str | None = None, *, item_id: str = "") -> Findings:
        """Ask for the personal values of *text*. Raises errors of the provider that would hit every other text, and ``BudgetReached``."""
        session = self.session()
        item_id = item_id or digest(locale, text)[:16]
        pieces = [one for one in cut_text(text, Sentences(text).ends, (), self._chunk_chars) if not text[slice(*one)].isspace()]
        session.channel.items(1)
        try:
            answers = await all_of(self._ask(text, piece, question, item_id) for piece in pieces)
        finally:
            session.channel.items(-1)
        listed: list[Mention] = []
        set_aside: list[SetAside] = []
        for piece, answer in zip(pieces, answers, strict=True):
            if isinstance(answer, Lost):
                return Findings(spans=(), failed=why_lost(answer))
            placed = place(text, piece, answer.entries)
            listed += placed.mentions
            set_aside += [*answer.refused, *placed.set_aside]
            if answer.cut_off:
                set_aside.append(SetAside(phase=PHASE, reason="cut_off", start=piece[0], end=piece[1]))
        found = everywhere(text, listed)
        return Findings(spans=self._spans(found.mentions), set_aside=[*set_aside, *found.set_aside])

    async def _ask(self, text: str, piece: Range, question: str | None, item_id: str) -> Listed | Lost:
        start, end = piece
        relevance = question is not None

        def read(reply: str) -> Listed:
            return read_entries(reply, relevance=relevance)

        answer = await self.session().asker.ask(
            TEMPLATE,
            {"instruction": extracting(relevance=relevance), "message": message(text[start:end], question)},
            item_id=f"{item_id} {start}",
            read=read,
            schema=None,
            settings=SamplingSettings(max_output_tokens=_LEAST_TOKENS + end - start),
        )
        return _whole_entries(answer, relevance=relevance) if isinstance(answer, Lost) else answer

    def _spans(self, mentions: list[Mention]) -> list[ScoredSpan]:
        if self._threshold > SCORE:
            return []
        return [
            ScoredSpan(
                start=one.start,
                end=one.end,
                entity_type=one.entry.entity_type,
                subtype=None,
                score=SCORE,
                detector=NAME,
                relevance=one.entry.relevance,
            )
            for one in mentions
        ]


def _whole_entries(lost: Lost, *, relevance: bool) -> Listed | Lost:
    """The entries that are whole in a reply that reached the token limit at every attempt, if there are any."""
    if lost.code != _CUT or lost.last_reply is None:
        return lost
    try:
        return read_entries(lost.last_reply, relevance=relevance)._replace(cut_off=True)
    except Fault:
        return lost


def why_lost(lost: Lost) -> str:
    """Return why a document failed."""
    return f"no usable answer came ({lost.code}, attempts: {lost.attempts}): {lost.message}"


def make(settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> CapidDetector:
    """See ``registry.Make``."""
    assert settings.model is not None  # noqa: S101 - checked when the settings were made
    return CapidDetector(settings.model, chunk_chars=settings.chunk_chars, threshold=settings.threshold, provider=provider, policy=policy)
