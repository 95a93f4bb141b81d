"""The interface of a gate, its input (``Expectations``) and its result (``GateVerdict``).

A gate judges a finished record by the record and the expectations alone; it does not use provider or stage results. Reason
codes are stable strings, ``<gate>.<fault>``; they are used in rejects, in statistics and in the prompt of a retry. A
verdict's detail names ids, types and offsets and never quotes the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from piiloom.corpus.marks import BROKEN_MARK
from piiloom.corpus.mention_search import SearchableText
from piiloom.corpus.record import Record, Relevance
from piiloom.foundation.words import content_words


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValue:
    """A value that the context must mention. ``text`` is the final spelling: a repaired one replaces the one first drawn."""

    id: str
    text: str
    entity_type: str
    relevance: Relevance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What was requested of a record.

    ``pair`` are the two entity types of the record. ``min_words`` and ``max_words`` bound the context (counted by
    ``piiloom.foundation.words``; None: no upper bound). ``language`` is an ISO 639-1 code. Each of ``high_types`` must have a
    high-relevance span; None means both types of ``pair``, () means none. ``lookalikes`` are case-folded texts that need no span.
    """

    pair: tuple[str, ...]
    values: tuple[ExpectedValue, ...] = ()
    min_words: int = 1
    max_words: int | None = None
    language: str = "en"
    high_types: tuple[str, ...] | None = None
    lookalikes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """Why a record is refused: a reason code of the gate and a detail."""

    code: str
    detail: str


@runtime_checkable
class Gate(Protocol):
    """Interface of a gate: a check for one kind of fault. ``codes`` explains every reason code that it can give."""

    @property
    def name(self) -> str:
        """The part before the dot in the gate's reason codes."""

    @property
    def codes(self) -> Mapping[str, str]:
        """Explanation of each reason code."""

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Return why *record* is refused, or None if it passes."""


@runtime_checkable
class MemoryGate(Gate, Protocol):
    """A stateful gate that compares each record with the earlier ones."""

    def prime(self, record: Record) -> None:
        """Store *record*, which was accepted before, without checking it."""


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


_POSSESSIVE = re.compile(r"['’]s?$")
_PLURAL = re.compile(r"(?<=[sxz])es$|(?<=[cs]h)es$|(?<![su])s$")
_TENSE = re.compile(r"(?<!e)(?:ing|ed)$")
_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return the stem of one word (any case). Words that differ only in number, tense or accents have the same stem."""
    plain = _POSSESSIVE.sub("", _without_accents(word.casefold()))
    if len(plain) <= 3 or any(c.isdigit() for c in plain):
        return plain
    if plain.endswith(("ies", "ied")) and len(plain) > 4:
        return plain[:-3] + "y"
    shorter = _PLURAL.sub("", plain)
    root = _TENSE.sub("", shorter)
    if root != shorter and len(root) >= 3 and _VOWEL.search(root):
        shorter = _DOUBLED.sub(r"\1", root)
    return shorter[:-1] if shorter.endswith("e") and len(shorter) > 3 else shorter


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of *text*; function words are left out."""
    return frozenset(stem(word) for word in content_words(text))


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


# Stems of units of time and small numbers, which reveal nothing: "How much is that over half a year?" for "$450 a month".
ANYBODYS = content_stems(
    "second minute hour day week weekday weekend month year half quarter third once twice one two three four five six seven eight nine ten "
    "weekly monthly yearly daily hourly first second last next"
)


def telling_words(value: str, common_words: frozenset[str] = ANYBODYS) -> list[str]:
    """Return the content words of *value* that a question must not contain in any form, sorted; stems in *common_words* may occur."""
    return sorted(word for word in content_words(value) if stem(word) not in common_words)


class QuestionLeaksGate:
    """Refuses questions that reveal what the context discloses.

    *type_words* maps an entity type to the words that name it. A question may share the stems *common_words* with a
    high-relevance value. With *whole_values*, only whole values are looked for: type words and stems are those of our languages.
    """

    name = "question"
    codes = MappingProxyType(
        {
            "question.missing": "there is no question",
            "question.value": "the question holds a whole value",
            "question.type_word": "the question names a type of the pair",
            "question.content_word": "the question shares a content word with a high-relevance value",
        }
    )

    def __init__(
        self, type_words: Mapping[str, Iterable[str]], *, common_words: frozenset[str] = frozenset(), whole_values: bool = False
    ) -> None:
        self._common, self._whole_values = common_words, whole_values
        self._type_words = {name: tuple(sorted({word.casefold() for word in (*words, name)})) for name, words in type_words.items()}

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Look for values, type words and content words in the question."""
        if not record.question or not record.question.strip():
            return GateVerdict(code="question.missing", detail="the record has no question")
        searchable = SearchableText(record.question)
        stems = content_stems(record.question) - self._common
        for name, text, high in _values(record, expected):
            if any(place is not None for place in searchable.occurrences(text)):
                return GateVerdict(code="question.value", detail=f"value {name} stands in the question")
            if high and not self._whole_values and not stems.isdisjoint(content_stems(text)):
                return GateVerdict(code="question.content_word", detail=f"the question shares a content word with value {name}")
        folded = searchable.folded.text
        for entity_type in () if self._whole_values else expected.pair:
            if _any_word(self._type_words.get(entity_type, (entity_type,))).search(folded):
                return GateVerdict(code="question.type_word", detail=f"the question names the type {entity_type}")
        return None


def _values(record: Record, expected: Expectations) -> Iterator[tuple[str, str, bool]]:
    """Yield (name, spelling, whether relevance is high) of each expected value and each span."""
    seen: set[tuple[str, bool]] = set()
    for value in expected.values:
        seen.add((value.text, value.relevance == "high"))
        yield f"{value.id} ({value.entity_type})", value.text, value.relevance == "high"
    for span in record.spans:
        surface = (span.text_in(record.context), span.relevance == "high")
        if surface not in seen:
            seen.add(surface)
            yield f"{span.value_id} ({span.entity_type})", *surface


@lru_cache(maxsize=64)
def _any_word(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(word) for word in words)})(?!\w)")
