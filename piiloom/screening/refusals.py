"""Refusal gate: text in which the model talks about its task instead of doing it, and leftovers of a template.

The patterns match only wording that does not occur in a forum post: "as an AI", a refusal of *this request*, an introduction
such as "Here is the rewritten text" at the very start, mention marks, unfilled slots and placeholders. "I cannot help my sister
with her rent" passes.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from piiloom.corpus.alignment import BROKEN_MARK
from piiloom.corpus.record import Record
from piiloom.screening.gates import Expectations, GateVerdict

_ASSISTANT = re.compile(
    r"\bas an? (?:ai|artificial intelligence|(?:large )?language model|(?:ai |virtual )assistant)\b"
    r"|\bi(?:'m| am) (?:just |only )?an? (?:ai|(?:large )?language model|ai assistant|virtual assistant)\b"
    r"|\bmy (?:knowledge cutoff|training data)\b|\b(?:against|violates?) my (?:guidelines|programming)\b"
)
_CANNOT = r"(?:cannot|can't|can not|won't|will not|am unable to|'m unable to|am not able to|'m not able to)"
_REFUSAL = re.compile(
    rf"\bi ?{_CANNOT} (?:help|assist)(?: you)?(?:$| ?[.!]| with (?:that|this|your)\b)"
    rf"|\bi ?{_CANNOT} (?:fulfil+|comply with|complete|process) (?:that|this|your|the|such an?) (?:\w+ )?"
    r"(?:request|task|prompt|instruction)s?\b"
    rf"|\bi ?{_CANNOT} (?:generate|create|produce|provide|write|rewrite|share) (?:\w+ ){{0,4}}?"
    r"(?:content|text|texts|information about real people|personal data|personal information|pii|personally identifiable)\b"
)
# Introductions of the output, matched only at the very start and only before such nouns: people write "Here is the thing".
_META = re.compile(
    r"\W*(?:(?:sure|certainly|of course|absolutely|okay|ok)[,!.:]? )?"
    r"(?:here(?:'s| is| are| you go)[,:]? (?:the |an? |your |one )?(?:\w+ ){0,3}?"
    r"(?:version|paraphrase|rewrite|rewriting|text|context|paragraph|passage|output|response|json)\b"
    r"|(?:rewritten|paraphrased|revised|final|abstracted) (?:\w+ )?(?:text|version|context|question|post)\b ?:"
    r"|(?:context|question|output|answer|response|situation|text) ?:)"
)
# Each slow pattern matches only if the text contains one of its hints; testing for them with "in" is fifty times cheaper.
_ASSISTANT_HINTS = ("model", " ai", "assistant", "intelligence", "knowledge cutoff", "training data", "my guidelines", "my programming")
_CANNOT_HINTS = ("cannot", "can't", "can not", "won't", "will not", "able to")
_LEFTOVER_HINTS = ("{", "}", "<", "[", "]", "`", "|", "PLACEHOLDER", "REDACTED", "TODO", "orem ipsum", "XXXX", "xxxx")
_LEFTOVER = re.compile(
    r"\{\{|\}\}|\{%|\{[A-Za-z_][\w:. ]*\}"  # template slots
    r"|<[^<>|\n]*\|[^<>\n]*>"  # grammar alternatives, special tokens
    r"|[\[<]/?[A-Z][A-Z_ ]+(?:[_-]?\d+)?[\]>]"  # [NAME], <PERSON_1>
    r"|\[(?:insert|your|redacted|name|city|date|age|company|value|placeholder)\b[^\[\]]*\]"
    r"|```|\b(?:PLACEHOLDER|REDACTED|TODO|[Ll]orem ipsum)\b|\b[Xx]{4,}\b|\bv\d+\|"
)


class RefusalsGate:
    """Refuses records whose context or question talks about the task or contains leftovers of it."""

    name = "refusal"
    codes = MappingProxyType(
        {
            "refusal.assistant": "the text speaks as an AI model",
            "refusal.declined": "the text declines the task",
            "refusal.meta": "the text begins by introducing itself",
            "refusal.mark": "a mention mark, or a part of one, is left",
            "refusal.leftover": "a slot, a placeholder or markup of the template is left",
        }
    )

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:  # noqa: ARG002  the protocol's signature
        """Check the context, then the question."""
        for part, text in (("context", record.context), ("question", record.question or "")):
            code = _fault(text)
            if code:
                return GateVerdict(code=f"refusal.{code}", detail=f"in the {part}")
        return None


def _fault(text: str) -> str | None:
    if _has(text, _LEFTOVER_HINTS):
        if BROKEN_MARK.search(text):
            return "mark"
        if _LEFTOVER.search(text):
            return "leftover"
    lowered = text.lower().replace("’", "'")
    if _META.match(lowered):
        return "meta"
    if _has(lowered, _ASSISTANT_HINTS) and _ASSISTANT.search(lowered):
        return "assistant"
    return "declined" if _has(lowered, _CANNOT_HINTS) and _REFUSAL.search(lowered) else None


def _has(text: str, hints: tuple[str, ...]) -> bool:
    return any(hint in text for hint in hints)
