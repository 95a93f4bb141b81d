"""The interface of a gate, its input (``Expectations``) and its result (``GateVerdict``); the gates of questions, refusals, unlisted PII.

A gate judges a finished record by the record and the expectations alone; it does not use provider or stage results. Reason
codes are stable strings, ``<gate>.<fault>``; they are used in rejects, in statistics and in the prompt of a retry. A
verdict's detail names ids, types and offsets and never quotes the text.

The question gate, which refuses questions that reveal values of the context, and its light stemmer for English.

A question is refused if it contains a whole value of any relevance, in any case and typography. So is a question with a word that
names a type of the pair ("health" for health: the taxonomy's ``type_words``). So is one with a content word of a high-relevance value,
also in another number or tense. The expected spelling and the one in the context are both checked.

Rules of the stemmer, in order, on a case-folded word: remove a possessive; replace "ies" and "ied" by "y"; remove a plural "s" (not in
"ss" or "us"), with the "e" before it after s, x, z, ch, sh; remove "ing" and "ed" (not in "eed") if at least three letters with a
vowel remain, and then the second of a doubled consonant; remove a final "e". Words of up to three letters and words with a
digit stay unchanged. Derived nouns ("teacher" from "teach") are not reduced.

Refusal gate: text in which the model talks about its task instead of doing it, and leftovers of a template.

The patterns match only wording that does not occur in a forum post: "as an AI", a refusal of *this request*, an introduction
such as "Here is the rewritten text" at the very start, mention marks, unfilled slots and placeholders. "I cannot help my sister
with her rent" passes.

Unlisted gate: identifiers that a pattern finds in the text must be covered by spans; so must the findings of a trained detector.

A match is covered if it lies in a span, or in neighboring spans with only punctuation or spaces between them. A match that is
outside of spans, or extends beyond its span, is unmarked personal information, unless it is public: the mailbox of an office
(``support@…``) or a toll-free number. The question must contain only public ones.

A detector trained by ``piiloom probe --out`` finds values without a form, which no pattern describes ("my girlfriend", "a nurse"), but
nothing beyond its training; what it finds in the context must overlap a span. It errs more often than a pattern; ``docs/probe.md`` gives
the rate by threshold.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, runtime_checkable

from piiloom.corpus.alignment import BROKEN_MARK
from piiloom.corpus.mention_search import SearchableText
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.foundation.words import content_words
from piiloom.screening.identifiers import find_identifiers
from piiloom.tagging.model import TaggedSpan, TaggingModel
from piiloom.tagging.model_folder import FAMILY, load_tagging_model, model_digest


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


OPTION: Final = "--screen-model"
THRESHOLD: Final = 0.9


@dataclass(slots=True, kw_only=True)
class TrainedDetector:
    """Looks for unlisted values with at least *threshold* as score. Questions are not looked at: it has learnt from contexts."""

    model: TaggingModel = field(repr=False)
    name: str
    threshold: float
    _last: tuple[str, tuple[TaggedSpan, ...]] = field(default=("", ()), repr=False)

    def unlisted(self, record: Record) -> list[TaggedSpan]:
        """Return what it finds in the context of *record* and no span overlaps, in text order."""
        if self._last[0] != record.context:  # records of one text come one after the other
            self._last = record.context, tuple(self.model.tag(record.context, threshold=self.threshold))
        return [one for one in self._last[1] if not any(span.start < one.end and one.start < span.end for span in record.spans)]

    def told(self, found: TaggedSpan) -> str:
        """Say where and how sure, and nothing of the text."""
        return f"{found.entity_type} in the context at [{found.start}, {found.end}), found by {FAMILY} {self.name}, score {found.score:.2f}"


def trained_detector(folder: Path, *, threshold: float | None = None) -> TrainedDetector:
    """Return the detector in *folder*; *threshold* None: ``THRESHOLD``.

    Raises ``UsageError`` and ``DataError`` for a folder that has none.
    """
    least = THRESHOLD if threshold is None else threshold
    return TrainedDetector(model=load_tagging_model(folder, option=OPTION), name=folder.name, threshold=least)


def detector_digest(folder: Path, *, threshold: float | None = None) -> tuple[str, float]:
    """Return the digest of the model in *folder* and the threshold in use: both shape the findings. Raises ``UsageError`` without one."""
    return model_digest(folder, option=OPTION), THRESHOLD if threshold is None else threshold


# Mailboxes of offices (RFC 2142 and what else is usual), and toll-free numbers of North America.
_PUBLIC: Final = {
    "email": re.compile(
        r"(?:(?:no|do-?not)[-._]?reply|info|contact|support|help|help-?desk|service|customer[-._]?(?:service|care|support)|care|office|"
        r"hello|mail|team|feedback|sales|orders?|bookings?|reservations?|tickets?|billing|accounts|payments?|returns|claims|hr|jobs|"
        r"careers|payroll|benefits|admissions?|registrar|enrollment|news(?:letter)?|notifications?|alerts?|updates|security|abuse|"
        r"privacy|legal|press|media|marketing|events?|webmaster|postmaster|hostmaster|admin|members(?:hip)?|donations?|volunteer)@",
        re.IGNORECASE,
    ),
    "phone": re.compile(r"(?:\+?1[-. ]?)?\(?8(?:00|33|44|55|66|77|88)\)?[-. ]"),
}


class UnlistedGate:
    """Refuses records with an e-mail or IP address, URL, phone, card, account or social security number outside of spans.

    And, with a *detector*, records with what that finds.
    """

    name = "unlisted"
    codes = MappingProxyType(
        {
            "unlisted.email": "an e-mail address is no span",
            "unlisted.url": "a web address is no span",
            "unlisted.card": "a payment card number is no span",
            "unlisted.iban": "a bank account number (IBAN) is no span",
            "unlisted.ssn": "a US social security number is no span",
            "unlisted.ip": "an IP address is no span",
            "unlisted.phone": "a telephone number is no span",
            "unlisted.detected": "a trained detector finds personal information that is no span",
        }
    )

    def __init__(self, detector: TrainedDetector | None = None) -> None:
        self._detector = detector

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Check the context, then the question; look-alikes that the story intends are not refused."""
        region = record.locale.partition("_")[2] or None
        for part, text, spans in (("context", record.context, record.spans), ("question", record.question or "", ())):
            for kind, (start, end) in find_identifiers(text, region):
                intended = any(text[start:end].casefold() in known for known in expected.lookalikes)
                public = kind in _PUBLIC and _PUBLIC[kind].match(text, start, end)
                if not intended and not public and not _is_covered(text, start, end, spans):
                    return GateVerdict(code=f"unlisted.{kind}", detail=f"in the {part} at [{start}, {end})")
        if self._detector is not None and (found := self._detector.unlisted(record)):
            return GateVerdict(code="unlisted.detected", detail=self._detector.told(found[0]))
        return None


def _is_covered(text: str, start: int, end: int, spans: Sequence[Span]) -> bool:
    """Whether every letter and digit of ``text[start:end]`` lies in a span."""
    position = start
    for span in spans:
        if span.end <= position or span.start >= end:
            continue
        if any(c.isalnum() for c in text[position : max(position, span.start)]):
            return False
        position = min(span.end, end)
    return not any(c.isalnum() for c in text[position:end])
