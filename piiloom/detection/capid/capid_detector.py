"""The detector "capid": one language model lists what is personal, and says of each mention whether it matters to the question.

It asks in a form in which exports train (``corpus.formats.instruction_tuning``), for plain text: a tuned model answers with what it
learnt, and a schema would be another form. The form "list" is that of the exports alpaca and chat; "capid" is that of the export
capid-alpaca and of the published CAPID models, whose answer is an object that names each value once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Self

from piiloom.corpus.formats.instruction_tuning import extracting, extracting_values, message, values_message
from piiloom.corpus.record import Relevance
from piiloom.detection.asking import MODEL_SCORE, AskingDetector, all_of, why_lost
from piiloom.detection.capid.entries import (
    KEYED,
    LISTED,
    PHASE,
    ListedEntries,
    ListedEntry,
    ListedMention,
    everywhere,
    place_entries,
    read_entries,
)
from piiloom.detection.chunking import Sentences, sentence_pieces
from piiloom.detection.detector import DetectorText, Findings, ScoredSpan, SetAside, TextDetector
from piiloom.detection.detector_settings import DetectorSettings, ModelSettings
from piiloom.detection.families import CAPID, REFORMULATING, STAND_IN
from piiloom.detection.hybrid.hybrid_detectors import OfflineDetector
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.calls import Fault, Lost
from piiloom.foundation.lenient_json import read_leniently
from piiloom.foundation.words import Range, content_words
from piiloom.providers.protocol import JsonSchema, Provider, SamplingSettings
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import UNTYPED

TEMPLATE: Final = "detect_capid"
LEAST_TOKENS: Final = 1024
_CUT: Final = "truncated"  # the code of a reply that reached the token limit
_MOST_HALVINGS: Final = 2

_Read = tuple[Range, ListedEntries]  # what was listed of a piece


class CapidDetector(AskingDetector):
    """A model lists what is personal. A text of which a piece got no usable answer has failed: to say nothing of it would be a lie."""

    name = CAPID
    templates: tuple[str, ...] = (TEMPLATE,)
    instructions: tuple[str, ...] = ("extract", "extract_relevant")

    def __init__(
        self,
        model: ModelSettings,
        *,
        taxonomy: Taxonomy,
        chunk_chars: int,
        threshold: float = 0.0,
        form: Literal["list", "capid"] = "list",
        provider: Provider | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        super().__init__(model, provider=provider, policy=policy)
        self._taxonomy, self._chunk_chars, self._threshold = taxonomy, chunk_chars, threshold
        self._keyed = form == CAPID
        if self._keyed:
            self.instructions = ("extract_values",)

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:
        """See ``registry.make_detector``."""
        assert settings.asked is not None  # noqa: S101 - checked when the settings were made
        return cls(
            settings.asked,
            taxonomy=settings.taxonomy,
            chunk_chars=settings.chunk_chars,
            threshold=settings.threshold,
            form=settings.form,
            provider=provider,
            policy=policy,
        )

    async def _examined(self, one: DetectorText, item_id: str, group_keys: Sequence[str]) -> Findings:  # noqa: ARG002 - it is shown no examples
        text, question = one.text, one.question
        pieces = sentence_pieces(text, self._chunk_chars)
        answers = await all_of(self._read(text, piece, question, item_id) for piece in pieces)
        listed: list[ListedMention] = []
        set_aside: list[SetAside] = []
        for answer in answers:
            if isinstance(answer, Lost):
                return Findings(spans=(), failed=why_lost(answer))
            for piece, told in answer:
                placed = place_entries(text, piece, told.entries)
                listed += placed.mentions
                set_aside += [*told.refused, *placed.set_aside]
                if told.cut_off:
                    set_aside.append(SetAside(phase=PHASE, reason="cut_off", start=piece[0], end=piece[1]))
        found = everywhere(text, listed, once=self._keyed)
        return Findings(spans=self._spans(found.mentions), set_aside=[*set_aside, *found.set_aside])

    async def _read(self, text: str, piece: Range, question: str | None, item_id: str, halvings: int = 0) -> list[_Read] | Lost:
        """Ask about *piece*; if its list is too long for an answer, about its halves, and theirs. What is whole in the last one counts."""
        answer = await self._ask(text, piece, question, item_id)
        if not isinstance(answer, Lost):
            return [(piece, answer)]
        if answer.code != _CUT:
            return answer
        parts = sentence_pieces(text, (piece[1] - piece[0] + 1) // 2, piece) if halvings < _MOST_HALVINGS else []
        reads = await all_of(self._read(text, part, question, item_id, halvings + 1) for part in parts if len(parts) > 1)
        lost = next((one for one in reads if isinstance(one, Lost)), None)
        if reads and lost is None:
            return [one for read in reads if not isinstance(read, Lost) for one in read]
        if lost is not None and lost.code != _CUT:
            return lost
        try:  # entries that are whole in a reply that reached the token limit at every attempt
            return [(piece, self._entries(answer.last_reply or "", question)._replace(cut_off=True))]
        except Fault:
            return answer

    async def _ask(self, text: str, piece: Range, question: str | None, item_id: str) -> ListedEntries | Lost:
        start, end = piece
        instruction, asked = (
            (extracting_values(self._taxonomy), values_message(text[start:end], question))
            if self._keyed
            else (extracting(self._taxonomy, relevance=question is not None), message(text[start:end], question))
        )
        return await self.session().asker.ask(
            TEMPLATE,
            {"instruction": instruction, "message": asked},
            item_id=f"{item_id} {start}",
            read=lambda reply: self._entries(reply, question),
            schema=None,
            settings=SamplingSettings(max_output_tokens=LEAST_TOKENS + end - start),
            hopeless=(_CUT,),
        )

    def _entries(self, reply: str, question: str | None) -> ListedEntries:
        """Return the entries of *reply*. Raises ``Fault`` if there is no list."""
        return read_entries(reply, self._taxonomy, relevance=question is not None, wanted=KEYED if self._keyed else LISTED)

    def _spans(self, mentions: list[ListedMention]) -> list[ScoredSpan]:
        if self._threshold > MODEL_SCORE:
            return []
        return [
            ScoredSpan(
                start=one.start,
                end=one.end,
                entity_type=one.entry.entity_type,
                subtype=None,
                score=MODEL_SCORE,
                detector=self.name,
                relevance=one.entry.relevance,
            )
            for one in mentions
        ]


REFORMULATING_TEMPLATE: Final = "detect_reformulating"
_PARTS: Final[dict[str, Relevance]] = {"related_context": "high", "not_related_context": "low"}
_DETAILS: Final = {"type": "array", "items": {"type": "string"}}
_SCHEMA: Final[JsonSchema] = {
    "type": "object",
    "properties": {"intent": {"type": "string"}, **dict.fromkeys(_PARTS, _DETAILS)},
    "required": ["intent", *_PARTS],
    "additionalProperties": False,
}


class ReformulatingDetector(CapidDetector):
    """A model divides personal details. A text without a question has no intent, and its spans have no relevance."""

    name = REFORMULATING
    templates = (REFORMULATING_TEMPLATE,)
    instructions = ()

    async def _ask(self, text: str, piece: Range, question: str | None, item_id: str) -> ListedEntries | Lost:
        start, end = piece
        return await self.session().asker.ask(
            REFORMULATING_TEMPLATE,
            {"text": text[start:end], "question": question or ""},
            item_id=f"{item_id} {start}",
            read=lambda data: _listed(data, question),
            schema=_SCHEMA,
            settings=SamplingSettings(max_output_tokens=LEAST_TOKENS + end - start),
            hopeless=("truncated",),
        )

    def _entries(self, reply: str, question: str | None) -> ListedEntries:
        return _listed(next(iter(read_leniently(reply).values), None), question)


def _listed(data: Any, question: str | None) -> ListedEntries:
    """Return the details of both parts. Raises ``Fault`` if neither part has a list.

    Set aside: "empty", and "in_both", a detail of both parts, which counts as related.
    """
    parts = {name: data.get(name) for name in _PARTS} if isinstance(data, dict) else {}
    if not any(isinstance(one, list) for one in parts.values()):
        raise Fault("no_list", "it has no JSON object with the lists related_context and not_related_context")
    entries: dict[str, ListedEntry] = {}
    refused: list[SetAside] = []
    for name, details in parts.items():
        for value in dict.fromkeys(one for one in details or () if isinstance(one, str)):
            reason = "empty" if not value.strip() else "in_both" if value in entries else None
            if reason is None:
                entries[value] = ListedEntry(value, UNTYPED.name, _PARTS[name] if question is not None else None)
            else:
                refused.append(SetAside(phase=PHASE, reason=reason, value=value))
    return ListedEntries(list(entries.values()), refused, cut_off=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReformulatingStandIn(TextDetector):
    """A rule in the place of the model: a sentence that shares a content word with the question is related context.

    The personal details in the sentences are those that the rules of ``hybrid-offline`` find.
    """

    details: OfflineDetector
    name: str = STAND_IN

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:
        """See ``registry.make_detector``."""
        return cls(details=OfflineDetector.made(settings, provider, policy))

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """As ``detect``, with what was set aside."""
        found, sentences, asked = self.details.examine(text, locale), Sentences(text), content_words(question or "")

        def judged(span: ScoredSpan) -> ScoredSpan:
            related = asked & content_words(text[slice(*sentences.around(span.start, span.end))])
            relevance: Relevance | None = None if question is None else "high" if related else "low"
            return replace(span, entity_type=UNTYPED.name, subtype=None, candidates=(), detector=self.name, relevance=relevance)

        return replace(found, spans=[judged(span) for span in found.spans])
