"""The baseline of Ngong et al. (2025), as the CAPID paper compares it: personal details, divided by what the question needs.

A model names the details that serve the intent of a question (``related_context``) and all others (``not_related_context``). The spans of
the first have high relevance, those of the second low. The method states no types, so the spans have the type ``untyped``.

``ReformulatingStandIn`` is a rule in the place of the model. It carries that name wherever it has spans, since its figures say nothing of
the method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Self

from piiloom.corpus.record import Relevance
from piiloom.detection.capid.capid_detector import LEAST_TOKENS, CapidDetector
from piiloom.detection.capid.entries import PHASE, ListedEntries, ListedEntry
from piiloom.detection.chunking import Sentences
from piiloom.detection.detector import Findings, ScoredSpan, SetAside, TextDetector
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.families import REFORMULATING, STAND_IN
from piiloom.detection.hybrid.hybrid_detectors import OfflineDetector
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.calls import Fault, Lost
from piiloom.foundation.lenient_json import read_leniently
from piiloom.foundation.words import Range, content_words
from piiloom.providers.protocol import JsonSchema, Provider, SamplingSettings
from piiloom.taxonomy.own_types import UNTYPED

TEMPLATE: Final = "detect_reformulating"
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
    templates = (TEMPLATE,)
    instructions = ()

    async def _ask(self, text: str, piece: Range, question: str | None, item_id: str) -> ListedEntries | Lost:
        start, end = piece
        return await self.session().asker.ask(
            TEMPLATE,
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
