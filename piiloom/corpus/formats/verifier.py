"""Training sets for verifiers of findings, write only: a folder with ``verifier_1.jsonl``, ``verifier_2.jsonl`` and ``counts.json``.

Each span gives two chat rows in either file, one with a right and one with a wrong candidate. A wrong candidate is one of these; which, is
drawn from the record's id and revision, so equal records give equal candidates:

- *no span* (30%): a stretch of whole words that touches no span and shares no content word with any value, under the span's type.
- *boundary* (30%): the span with one content word too many or too few at one end.
- *other type* (40%): the span itself under a type that it is not. Two types of which both can be true of one value (``_BOTH_HOLD``) are
  never exchanged, own types neither.

If the text has no candidate of the kind that was drawn, the kinds are tried in this order; so the true shares differ from the above, and
``counts.json`` has the number of rows, and that of wrong ones by kind. A span without a wrong candidate has no rows and is in the loss
report. A finding of a detector is a candidate, too (``found_candidates``), of the same kinds.

The user's message is the type with its definition, the question, and the text with the candidate between two marks, ``<candidate>`` and
``</candidate>``, escaped as in ``piiloom.corpus.markers``. Of a text of more than 2,000 characters before or behind the candidate the rest
is cut, with an ellipsis, since a text is repeated for each of its candidates.

The answer is ``T`` or ``F`` in verifier I, and ``{"reasoning": …, "answer": "T"}`` in verifier II. A reasoning names, in one to three
sentences, the words around the candidate, whose value it is, its subtype, the value that is meant, and, if the record has it, what the
value changes in the answer to the question. The wording varies with the record.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from piiloom.corpus.formats.base import LOST_FIELDS_WITHOUT_ID, Json, LossEntry, LossReport, WriteOptions
from piiloom.corpus.formats.instruction_tuning import chat_row, message, verifying
from piiloom.corpus.formats.native_rows import row_line
from piiloom.corpus.markers import marked_text
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.record import Record, Span
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import STOP_WORDS
from piiloom.taxonomy.entity_types import Taxonomy, shipped_taxonomy

FILES = ("verifier_1.jsonl", "verifier_2.jsonl")
COUNTS = "counts.json"
# Relevance, subtype, subject and rationale are in the reasonings only.
_LOST_FIELDS = (*LOST_FIELDS_WITHOUT_ID, "relevance", "which spans a text has")

NO_TWIN = "no wrong candidate could be made beside it: it has no rows"
BLANK = "blank value: it has no rows"
CUT = "the text is cut around each candidate"

MOST_BESIDE: Final = 2000
_MARKED: Final = "candidate"
DecoyKind = Literal["span", "other type", "no span", "boundary"]
_SHARES: dict[DecoyKind, int] = {"no span": 30, "boundary": 30, "other type": 40}
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

_SHOWN = 80  # characters of a value in a reasoning
_AROUND = 45  # characters on each side of it
_MOST_VALUES = 3
_BLANKS = re.compile(r"\s+")
_WORDINGS: dict[DecoyKind | Literal["too long"], tuple[str, ...]] = {
    "span": (
        "{around} states {what}: {value} is {whose}.",
        "{value} tells {what} of {person}, as in {around}.",
        "In {around}, {value} is {what}, and it is {whose}.",
    ),
    "other type": (
        "{value} tells {what} of {person}, not {asked}.",
        "In {around}, {value} is {what} and says nothing of {asked}.",
        "This is personal, but it is {what}: {value} is {whose}, and no {asked}.",
    ),
    "no span": (
        "{stretch} in {around} tells nothing personal.",
        "{stretch} states no {asked} of anybody; it stands in {around}.",
        "{around}: {stretch} is part of what is told there, but no personal value.",
    ),
    "boundary": (
        "{stretch} leaves out {missing}. The whole mention of {what} is {value}.",
        "The value is {value}, {what}; the marked stretch lacks {missing}.",
    ),
    "too long": (
        "{stretch} is {size}: {extra} does not belong to the value. The mention of {what} is {value}.",
        "The value is {value}, {what}; the marked stretch takes in {extra} as well.",
    ),
}


class VerifierFormat:
    """The format of the verifiers; see the module docstring."""

    name = "verifier"
    suffix = ""

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write both sets to the new folder *path*, in one pass."""
        entries: list[LossEntry] = []
        kinds: Counter[str] = Counter()
        path.mkdir()
        first, second = (path / name for name in FILES)
        with first.open("wb") as labels, second.open("wb") as reasons:
            for record in records:
                for candidate in chosen_candidates(record, entries):
                    kinds[candidate.kind] += 1
                    asked, answer = asked_of(record, candidate, options.taxonomy), "T" if candidate.right else "F"
                    labels.write(row_line(chat_row(verifying(options.taxonomy, reasoned=False), asked, answer)))
                    said = json.dumps({"reasoning": reasoning(record, candidate, options.taxonomy), "answer": answer}, ensure_ascii=False)
                    reasons.write(row_line(chat_row(verifying(options.taxonomy, reasoned=True), asked, said)))
        (path / COUNTS).write_text(json.dumps(counts_of(kinds), indent=2) + "\n", encoding="utf-8", newline="\n")
        return LossReport(fields=_LOST_FIELDS, entries=tuple(entries))


def chosen_candidates(record: Record, entries: list[LossEntry]) -> Iterator[Candidate]:
    """Yield the candidates of *record* that get rows, and append to *entries* what is lost."""
    spans = record.spans
    if spans and (spans[-1].start > MOST_BESIDE or len(record.context) - spans[0].end > MOST_BESIDE):
        entries.append(LossEntry(record_id=record.id, value=None, reason=CUT))
    for right, wrong in candidates(record):
        value = right.span.text_in(record.context)
        if wrong is None or not value.strip():
            entries.append(LossEntry(record_id=record.id, value=value, reason=NO_TWIN if value.strip() else BLANK))
            continue
        yield right
        yield wrong


def asked_of(record: Record, candidate: Candidate, taxonomy: Taxonomy) -> str:
    """Return the user's message."""
    return verifier_message(record.context, record.question, candidate.start, candidate.end, candidate.entity_type, taxonomy)


def counts_of(kinds: Counter[str]) -> Json:
    """Return what ``counts.json`` tells."""
    wrong = {kind: count for kind, count in sorted(kinds.items()) if kind != "span"}
    return {"rows": kinds.total(), "T": kinds["span"], "F": sum(wrong.values()), "F by kind": wrong}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stretch of the context and the type that it is said to be; ``span`` is the span that it is, was made from, or touches.

    ``found``: it is a detector's finding; without a span that it touches, ``span`` is the finding.
    """

    kind: DecoyKind
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
    text = _RecordText(record)
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
        kind: DecoyKind = "other type" if span.entity_type != one.entity_type else "boundary" if _range(span) != _range(one) else "span"
        kind = kind if touched else "no span"
        yield Candidate(kind=kind, start=one.start, end=one.end, entity_type=one.entity_type, span=span, found=True)


def _range(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _shared(one: Span, other: Span) -> int:
    return min(one.end, other.end) - max(one.start, other.start)


def _wrong(text: _RecordText, number: int, rng: random.Random) -> Candidate | None:
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


class _RecordText:
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
    """Return the start of the word that ends one space before *start*, or None (also if it is longer than 60 characters)."""
    if context[start - 1 : start] != " ":
        return None
    begin = max(start - 1 - _LONGEST_WORD, 0)
    found = next((found for found in _WORD.finditer(context, begin, start - 1) if found.end() == start - 1), None)
    return None if found is None or found.start() == begin > 0 else found.start()


def verifier_message(context: str, question: str | None, start: int, end: int, entity_type: str, taxonomy: Taxonomy) -> str:
    """Return the user's message, which asks whether ``context[start:end]`` is an *entity_type*."""
    known = taxonomy.types.get(entity_type)
    asked = f"Type: {entity_type}" + (f" ({known.described()})" if known else "")
    return f"{asked}\n{message(_marked(context, start, end), question)}"


def _marked(context: str, start: int, end: int) -> str:
    """Return *context*, cut as the module docstring says, with the candidate marked."""
    begin, stop = 0, len(context)
    if start > MOST_BESIDE:
        begin = start - MOST_BESIDE
        begin = max(begin, context.find(" ", begin, start) + 1)
    if stop - end > MOST_BESIDE:
        stop = end + MOST_BESIDE
        blank = context.rfind(" ", end, stop)
        stop = stop if blank < 0 else blank
    span = Span(id=_MARKED, start=start - begin, end=end - begin, entity_type=_MARKED)
    marked = marked_text(context[begin:stop], [span])
    return ("…" if begin else "") + marked + ("…" if stop < len(context) else "")


def reasoning(record: Record, candidate: Candidate, taxonomy: Taxonomy) -> str:
    """Return why *candidate* is a right or wrong finding in *record*, in one to three sentences."""
    rng = derive_rng("verifier reasoning", record.id, record.revision, candidate.span.id, candidate.kind)
    span, context, asked = candidate.span, record.context, candidate.entity_type
    extra = context[candidate.start : span.start] + context[span.end : candidate.end]
    missing = context[span.start : candidate.start] + context[candidate.end : span.end]
    longer = candidate.start < span.start or candidate.end > span.end
    known = taxonomy.types.get(asked)
    if candidate.kind == "span":
        after = _bearing(record, span)
    elif candidate.kind == "other type":
        after = f"{asked.capitalize()} would be: {known.definition}" if known else ""
    else:
        after = _values_of(record, asked) if candidate.kind == "no span" else ""
    wording = rng.choice(_WORDINGS["too long" if candidate.kind == "boundary" and longer else candidate.kind]).format(
        around=_around(record, candidate),
        value=_quote(span.text_in(context)),
        what=f"{span.entity_type} ({span.subtype.replace('_', ' ')})" if span.subtype else span.entity_type,
        person={None: "a person", "self": "the writer"}.get(span.subject, "somebody other than the writer"),
        whose={None: "that of a person", "self": "the writer's own"}.get(span.subject, "that of somebody other than the writer"),
        stretch=_quote(context[candidate.start : candidate.end]),
        asked=asked,
        size="a word too long" if not candidate.found or len(extra.split()) < 2 else "too long",
        extra=_quote(extra),
        missing=_quote(missing),
    )
    return f"{wording} {after}" if after else wording


def _values_of(record: Record, entity_type: str) -> str:
    values = dict.fromkeys(span.text_in(record.context) for span in record.spans if span.entity_type == entity_type)
    shown = ", ".join(_quote(value) for value in list(values)[:_MOST_VALUES])
    return f"What the text tells of {entity_type} is {shown}{' and more' if len(values) > _MOST_VALUES else ''}." if values else ""


def _bearing(record: Record, span: Span) -> str:
    """Return what *span* has to do with the question, if the record has it."""
    if record.question is None or span.relevance is None:
        return ""
    if span.relevance == "low":
        return f"The answer to {_quote(record.question)} would be the same without it."
    reason = _reason(record, span)
    return f"It matters to {_quote(record.question)}" + (f": {reason}." if reason else ", whose answer would be another one without it.")


def _reason(record: Record, span: Span) -> str | None:
    """Return the reason that the plan has for this value; reasons are separated by semicolons: ``value (type): …`` or ``type: …``."""
    rationale = record.plan.rationale if record.plan else None
    if not rationale:
        return None
    heads = {head for other in record.spans for head in _heads(record, other)}
    starts = "|".join(re.escape(head) for head in sorted(heads))
    for reason in re.split(f"; (?={starts})", rationale, flags=re.IGNORECASE):
        for head in _heads(record, span):
            if reason.casefold().startswith(head.casefold()):
                return reason[len(head) :].strip().rstrip(".") or None
    return None


def _heads(record: Record, span: Span) -> tuple[str, str]:
    return f"{span.text_in(record.context)} ({span.entity_type}): ", f"{span.entity_type}: "


def _around(record: Record, candidate: Candidate) -> str:
    """Return the candidate with some words before and after it, on its line."""
    before = record.context[max(candidate.start - _AROUND, 0) : candidate.start]
    after = record.context[candidate.end : candidate.end + _AROUND]
    if candidate.start > _AROUND:
        before = "…" + before.partition(" ")[2]
    if candidate.end + _AROUND < len(record.context):
        after = after.rpartition(" ")[0] + "…"
    before, after = before.rpartition("\n")[2], after.partition("\n")[0]
    return f"“{_plain(before + _short(record.context[candidate.start : candidate.end]) + after)}”"


def _quote(text: str) -> str:
    return f"“{_short(_plain(text))}”"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()
