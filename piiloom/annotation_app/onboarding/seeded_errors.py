"""Plant errors into a correct record: move a boundary, drop a span, or change its type or relevance.

The errors resemble those of models: boundaries move by whole words, types change to one that is easily confused.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, get_args

from piiloom.corpus.record import Record, Span

ErrorKind = Literal["boundary", "dropped", "type", "relevance"]
ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)
# Unlike in ``piiloom.foundation.words``, parts joined by a hyphen are one word, as in the guidelines.
_WORD = re.compile(r"\w+(?:['’\-‐‑]\w+)*")
_CONFUSED = {
    "age": ("datetime", "appearance"),
    "appearance": ("health", "demographic"),
    "belief": ("organization", "demographic"),
    "code": ("finance", "name"),
    "datetime": ("age", "code"),
    "demographic": ("location", "belief"),
    "education": ("occupation", "organization"),
    "finance": ("code", "occupation"),
    "health": ("appearance", "belief"),
    "location": ("organization", "demographic"),
    "name": ("organization", "relationship"),
    "occupation": ("education", "organization"),
    "organization": ("location", "education"),
    "relationship": ("name", "demographic"),
    "sexual orientation": ("relationship", "demographic"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A record with one planted error; ``span_id`` is the id, in the correct record, of the span that is now wrong."""

    record: Record
    kind: ErrorKind
    span_id: str


def plant(record: Record, kind: ErrorKind, rng: random.Random, besides: Collection[str] = ()) -> Planted | None:
    """Plant an error of *kind* in a random span of *record*, except those with ids in *besides*; None if no span can have it."""
    spans = [span for span in record.spans if span.id not in besides]
    rng.shuffle(spans)
    for span in spans:
        wrong = _wrong(record, span, kind, rng)
        if wrong is not span:
            changed = ((wrong if other is span else other) for other in record.spans)
            kept = tuple(other for other in changed if other is not None)
            return Planted(record=replace(record, spans=kept), kind=kind, span_id=span.id)
    return None


def plant_several(record: Record, count: int, rng: random.Random) -> tuple[Record, tuple[Planted, ...]]:
    """Plant up to *count* errors in different spans of *record*, with the kinds taking turns.

    Returns the changed record and the planted errors.
    """
    kinds = list(ERROR_KINDS)
    rng.shuffle(kinds)
    planted: list[Planted] = []
    for number in range(count):
        done = [one.span_id for one in planted]
        tries = (plant(record, kinds[(number + turn) % len(kinds)], rng, done) for turn in range(len(kinds)))
        found = next((one for one in tries if one is not None), None)
        if found is None:
            break
        planted.append(found)
        record = found.record
    return record, tuple(planted)


def _wrong(record: Record, span: Span, kind: ErrorKind, rng: random.Random) -> Span | None:
    """Return the span with the error, None if it is dropped, or *span* itself if it cannot have that error."""
    if kind == "dropped":
        return None
    if kind == "type":
        others = _CONFUSED.get(span.entity_type, ())
        return replace(span, entity_type=rng.choice(others), subtype=None) if others else span
    if kind == "relevance":
        if span.relevance is None:
            return span
        return replace(span, relevance="low" if span.relevance == "high" else "high")
    places = moved_boundaries(record, span)
    if not places:
        return span
    start, end = rng.choice(places)
    return replace(span, start=start, end=end)


def moved_boundaries(record: Record, span: Span) -> list[tuple[int, int]]:
    """Return possible (start, end) of *span* with one word more or less at one end.

    A word is added only if nothing but blanks lies between it and the span, and no other span covers it.
    """
    words = [found.span() for found in _WORD.finditer(record.context)]
    inside = [place for place in words if place[0] >= span.start and place[1] <= span.end]
    before = max((place for place in words if place[1] <= span.start), default=None)
    after = min((place for place in words if place[0] >= span.end), default=None)
    places: list[tuple[int, int]] = []
    if len(inside) > 1:
        places += [(inside[1][0], span.end), (span.start, inside[-2][1])]
    if before and _blank(record.context[before[1] : span.start]) and _free(record, span, before):
        places.append((before[0], span.end))
    if after and _blank(record.context[span.end : after[0]]) and _free(record, span, after):
        places.append((span.start, after[1]))
    return [place for place in places if place != (span.start, span.end)]


def _blank(between: str) -> bool:
    return bool(between) and not between.strip(" \u00a0")


def _free(record: Record, span: Span, place: tuple[int, int]) -> bool:
    return all(other is span or other.end <= place[0] or other.start >= place[1] for other in record.spans)
