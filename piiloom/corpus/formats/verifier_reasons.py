"""Say why a candidate for a verifier is right or wrong, in one to three sentences.

They say what the record shows and knows: the words around the candidate, whose value it is, its subtype, the value that is meant, and,
where the record tells it, what the value changes in the answer to the question. The wording varies with the record.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from piiloom.corpus.formats.verifier_candidates import Candidate, Kind
from piiloom.corpus.record import Record, Span
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.entity_types import Taxonomy

_SHOWN = 80  # characters of a value
_AROUND = 45  # characters on each side of it
_MOST_VALUES = 3
_BLANKS = re.compile(r"\s+")


def reasoning(record: Record, candidate: Candidate, taxonomy: Taxonomy) -> str:
    """Return why *candidate* is a right or wrong finding in *record*."""
    rng = derive_rng("verifier reasoning", record.id, record.revision, candidate.span.id, candidate.kind)
    if candidate.kind == "other type":
        return _other_type(record, candidate, taxonomy, rng)
    return _SAYING[candidate.kind](record, candidate, rng)


def _right(record: Record, candidate: Candidate, rng: random.Random) -> str:
    span = candidate.span
    value, what, whose = _quote(span.text_in(record.context)), _what(span), _whose(span)
    stated = rng.choice(
        (
            f"{_around(record, candidate)} states {what}: {value} is {whose}.",
            f"{value} tells {what} of {_person(span)}, as in {_around(record, candidate)}.",
            f"In {_around(record, candidate)}, {value} is {what}, and it is {whose}.",
        )
    )
    return " ".join(part for part in (stated, _bearing(record, span)) if part)


def _other_type(record: Record, candidate: Candidate, taxonomy: Taxonomy, rng: random.Random) -> str:
    span = candidate.span
    value, what, asked = _quote(span.text_in(record.context)), _what(span), candidate.entity_type
    found = taxonomy.types.get(asked)
    meaning = f" {asked.capitalize()} would be: {found.definition}" if found else ""
    first = rng.choice(
        (
            f"{value} tells {what} of {_person(span)}, not {asked}.",
            f"In {_around(record, candidate)}, {value} is {what} and says nothing of {asked}.",
            f"This is personal, but it is {what}: {value} is {_whose(span)}, and no {asked}.",
        )
    )
    return first + meaning


def _no_span(record: Record, candidate: Candidate, rng: random.Random) -> str:
    stretch, asked = _quote(record.context[candidate.start : candidate.end]), candidate.entity_type
    first = rng.choice(
        (
            f"{stretch} in {_around(record, candidate)} tells nothing personal.",
            f"{stretch} states no {asked} of anybody; it stands in {_around(record, candidate)}.",
            f"{_around(record, candidate)}: {stretch} is part of what is told there, but no personal value.",
        )
    )
    values = dict.fromkeys(s.text_in(record.context) for s in record.spans if s.entity_type == asked)
    shown = ", ".join(_quote(value) for value in list(values)[:_MOST_VALUES])
    if not values:
        return first
    return f"{first} What the text tells of {asked} is {shown}{' and more' if len(values) > _MOST_VALUES else ''}."


def _boundary(record: Record, candidate: Candidate, rng: random.Random) -> str:
    span, context = candidate.span, record.context
    stretch, whole, what = _quote(context[candidate.start : candidate.end]), _quote(span.text_in(context)), _what(span)
    if candidate.start < span.start or candidate.end > span.end:
        extra = context[candidate.start : span.start] + context[span.end : candidate.end]
        size = "a word too long" if not candidate.found or len(extra.split()) < 2 else "too long"
        return rng.choice(
            (
                f"{stretch} is {size}: {_quote(extra)} does not belong to the value. The mention of {what} is {whole}.",
                f"The value is {whole}, {what}; the marked stretch takes in {_quote(extra)} as well.",
            )
        )
    missing = context[span.start : candidate.start] + context[candidate.end : span.end]
    return rng.choice(
        (
            f"{stretch} leaves out {_quote(missing)}. The whole mention of {what} is {whole}.",
            f"The value is {whole}, {what}; the marked stretch lacks {_quote(missing)}.",
        )
    )


_SAYING: dict[Kind, Callable[[Record, Candidate, random.Random], str]] = {
    "span": _right,
    "no span": _no_span,
    "boundary": _boundary,
}


def _bearing(record: Record, span: Span) -> str:
    """What *span* has to do with the question, if the record tells it."""
    if record.question is None or span.relevance is None:
        return ""
    if span.relevance == "low":
        return f"The answer to {_quote(record.question)} would be the same without it."
    reason = _reason(record, span)
    return f"It matters to {_quote(record.question)}" + (f": {reason}." if reason else ", whose answer would be another one without it.")


def _reason(record: Record, span: Span) -> str | None:
    """What the plan says of this value; its reasons are separated by semicolons: ``value (type): reason`` or ``type: reason``."""
    rationale = record.plan.rationale if record.plan else None
    if not rationale:
        return None
    heads = {f"{other.text_in(record.context)} ({other.entity_type}): " for other in record.spans}
    heads |= {f"{other.entity_type}: " for other in record.spans}
    starts = "|".join(re.escape(head) for head in sorted(heads))
    for reason in re.split(f"; (?={starts})", rationale, flags=re.IGNORECASE):
        for head in (f"{span.text_in(record.context)} ({span.entity_type}): ", f"{span.entity_type}: "):
            if reason.casefold().startswith(head.casefold()):
                return reason[len(head) :].strip().rstrip(".") or None
    return None


def _what(span: Span) -> str:
    return f"{span.entity_type} ({span.subtype.replace('_', ' ')})" if span.subtype else span.entity_type


def _person(span: Span) -> str:
    return {None: "a person", "self": "the writer"}.get(span.subject, "somebody other than the writer")


def _whose(span: Span) -> str:
    return {None: "that of a person", "self": "the writer's own"}.get(span.subject, "that of somebody other than the writer")


def _around(record: Record, candidate: Candidate) -> str:
    """The candidate with some words before and after it, on its line."""
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
