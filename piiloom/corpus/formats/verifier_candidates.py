"""Candidates for verifiers: each span as it is (right), and beside it one candidate that is wrong.

A wrong candidate is one of these; which, is drawn from the record's id and revision, so equal records give equal candidates:

- *no span* (30%): a stretch of whole words that touches no span and shares no content word with any value, under the span's type.
- *boundary* (30%): the span with one content word too many or too few at one end.
- *other type* (40%): the span itself under a type that it is not. Two types of which both can be true of one value (``_BOTH_HOLD``) are
  never exchanged, own types neither.

If the text has no candidate of the kind that was drawn, the kinds are tried in this order; so the true shares differ from the above, and
the format counts them.

A finding of a detector is a candidate, too (``found_candidates``), of the same kinds.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.record import Record, Span
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import STOP_WORDS
from piiloom.taxonomy.entity_types import shipped_taxonomy

Kind = Literal["span", "other type", "no span", "boundary"]
_SHARES: dict[Kind, int] = {"no span": 30, "boundary": 30, "other type": 40}

# Parts joined by a hyphen are one word.
_WORD = re.compile(r"\w+(?:['’\-‐‑]\w+)*")
_CLITIC = re.compile(r"['’]\w+$")
_TRIES = 20
_LONGEST_STRETCH = 5  # words
_LONGEST_WORD = 60

# What one value can be at once: "retired" tells age and occupation, "Harvard" an organization, an education and a place.
_BOTH_HOLD = {
    "age": "appearance datetime demographic education occupation relationship",
    "appearance": "demographic health",
    "belief": "demographic education health occupation organization",
    "code": "datetime finance location name",
    "datetime": "education health",
    "demographic": "finance health location occupation relationship sexual_orientation",
    "education": "finance location occupation organization",
    "finance": "health occupation organization relationship",
    "health": "organization",
    "location": "organization",
    "name": "organization relationship",
    "occupation": "organization",
    "relationship": "sexual_orientation",
}
_PAIRS = frozenset(frozenset((one, other.replace("_", " "))) for one, others in _BOTH_HOLD.items() for other in others.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stretch of the context and the type that it is said to be; ``span`` is the span that it is, was made from, or touches.

    ``found``: it is a detector's finding; without a span that it touches, ``span`` is the finding.
    """

    kind: Kind
    start: int
    end: int
    entity_type: str
    span: Span
    found: bool = False

    @property
    def place(self) -> tuple[int, int, str]:
        """Range and type."""
        return self.start, self.end, self.entity_type

    @property
    def right(self) -> bool:
        """Whether it is a span of the record, under its type."""
        return self.kind == "span"


def candidates(record: Record) -> Iterator[tuple[Candidate, Candidate | None]]:
    """Yield for each span of *record* the candidate that is right, and one that is wrong, or None if the text has no such."""
    rng = derive_rng("verifier", record.id, record.revision)
    text = _Text(record)
    for number, span in enumerate(record.spans):
        right = Candidate(kind="span", start=span.start, end=span.end, entity_type=span.entity_type, span=span)
        yield right, _wrong(text, number, rng)


def found_candidates(record: Record, findings: Iterable[Span]) -> Iterator[Candidate]:
    """Yield a candidate for each of *findings*, which is right if *record* has a span of exactly its range and type.

    Of the spans that a wrong one touches, its own is one of the same type, if any, with the most characters in common.
    """
    for one in findings:
        touched = [span for span in record.spans if span.start < one.end and one.start < span.end]
        span = max(touched, key=lambda span: (span.entity_type == one.entity_type, _shared(span, one)), default=one)
        kind: Kind = "other type" if span.entity_type != one.entity_type else "boundary" if _range(span) != _range(one) else "span"
        kind = kind if touched else "no span"
        yield Candidate(kind=kind, start=one.start, end=one.end, entity_type=one.entity_type, span=span, found=True)


def _range(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _shared(one: Span, other: Span) -> int:
    return min(one.end, other.end) - max(one.start, other.start)


def _wrong(text: _Text, number: int, rng: random.Random) -> Candidate | None:
    drawn = rng.choices(list(_SHARES), weights=list(_SHARES.values()))[0]
    span = text.record.spans[number]
    for kind in dict.fromkeys((drawn, *_SHARES)):
        start, end, entity_type = span.start, span.end, span.entity_type
        if kind == "other type":
            others = text.other_types(span)
            if not others:
                continue
            told = [other for other in others if other in text.types]
            entity_type = rng.choice(told if told and rng.random() < 0.5 else others)
        else:
            place = text.moved_boundary(number, rng) if kind == "boundary" else text.other_stretch(span, rng)
            if place is None:
                continue
            start, end = place
        return Candidate(kind=kind, start=start, end=end, entity_type=entity_type, span=span)
    return None


class _Text:
    """The words of a record, and what in it is no candidate."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.types = {span.entity_type for span in record.spans}
        lost = record.source.lost if record.source else ()
        self._held: dict[str, set[str]] = {}  # value, case-folded → its types; with what an import had to leave out
        for value, entity_type in (
            *((span.text_in(record.context), span.entity_type) for span in record.spans),
            *((one.text, one.entity_type) for one in lost),
        ):
            self._held.setdefault(value.casefold(), set()).add(entity_type)

    @cached_property
    def _words(self) -> list[tuple[int, int]]:
        return [found.span() for found in _WORD.finditer(self.record.context)]

    @cached_property
    def _free(self) -> list[tuple[int, int]]:
        """The words that touch no span."""
        free: list[tuple[int, int]] = []
        spans = self.record.spans
        at = 0
        for start, end in self._words:
            while at < len(spans) and spans[at].end < start:
                at += 1
            if at == len(spans) or end < spans[at].start:
                free.append((start, end))
        return free

    @cached_property
    def _value_words(self) -> frozenset[str]:
        return frozenset(word for value in self._held for word in _WORD.findall(value) if _has_content(word))

    def other_types(self, span: Span) -> list[str]:
        """The types that cannot be true of *span*."""
        types = shipped_taxonomy().types
        held = {span.entity_type} | self._held[span.text_in(self.record.context).casefold()]
        if not held <= types.keys():
            return []
        return [name for name in types if name not in held and not any(frozenset((name, one)) in _PAIRS for one in held)]

    def other_stretch(self, span: Span, rng: random.Random) -> tuple[int, int] | None:
        """A stretch of words that is no mention of anything, about as long as *span*."""
        free, context = self._free, self.record.context
        if not free:
            return None
        size = min(max(len(_WORD.findall(span.text_in(context))), 1), _LONGEST_STRETCH)
        for _ in range(_TRIES):
            first = rng.randrange(len(free))
            stretch = free[first : first + max(size + rng.choice((-1, 0, 0, 1)), 1)]
            start, end = stretch[0][0], stretch[-1][1]
            words = [context[a:b].casefold() for a, b in stretch]
            if (
                context[start:end].casefold() == " ".join(words)
                and _has_content(words[0])
                and _has_content(words[-1])
                and self._value_words.isdisjoint(words)
                and stands_alone(context, start, end)
            ):
                return start, end
        return None

    def moved_boundary(self, number: int, rng: random.Random) -> tuple[int, int] | None:
        """The span number *number* with one content word more or less at one end."""
        context, spans = self.record.context, self.record.spans
        span = spans[number]
        after = spans[number - 1].end if number else -1
        before = spans[number + 1].start if number + 1 < len(spans) else len(context) + 1
        places: list[tuple[int, int]] = []
        words = [found.span() for found in _WORD.finditer(context, span.start, span.end)]
        inside = [(start, end) for start, end in words if _has_content(context[start:end])]
        if len(inside) > 1:  # nothing but one content word, and what joins it to the others
            places += [(inside[1][0], span.end)] * (inside[0] == words[0])
            places += [(span.start, inside[-2][1])] * (inside[-1] == words[-1])
        word = _word_before(context, span.start)
        if word is not None and word > after and _has_content(context[word : span.start - 1]):
            places.append((word, span.end))
        found = _WORD.match(context, span.end + 1) if context[span.end : span.end + 1] == " " else None
        if found is not None and found.end() < before and _has_content(found.group()):
            places.append((span.start, found.end()))
        places = [(a, b) for a, b in places if context[a:b].casefold() not in self._held and stands_alone(context, a, b)]
        return rng.choice(places) if places else None


def _has_content(word: str) -> bool:
    """Whether *word* is no function word, nor one with a clitic ("it's")."""
    return _CLITIC.sub("", word.casefold()) not in STOP_WORDS


def _word_before(context: str, start: int) -> int | None:
    """Where the word begins that ends one blank before *start*; None if there is none, or only one of more than 60 characters."""
    if context[start - 1 : start] != " ":
        return None
    begin = max(start - 1 - _LONGEST_WORD, 0)
    found = next((found for found in _WORD.finditer(context, begin, start - 1) if found.end() == start - 1), None)
    return None if found is None or found.start() == begin > 0 else found.start()
