"""Spans as people are compared on them: without ids, as offsets of one text; and those of many documents as NumPy columns.

A Python loop over a hundred thousand spans would take seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from piiloom.annotation_app.documents.document import Mark
from piiloom.annotation_app.documents.realigning import realigned_through
from piiloom.annotation_app.documents.text_edits import edits_between

Integers = NDArray[np.int64]
RELEVANCES = ("high", "low")
NOT_JUDGED = -1


class Placed(NamedTuple):
    """A span reduced to what is compared: offsets, type and relevance, without ids."""

    start: int
    end: int
    entity_type: str
    relevance: str | None


def placed(marks: Sequence[Mark]) -> tuple[Placed, ...]:
    """Convert the marks of a document."""
    return tuple(Placed(mark.start, mark.end, mark.entity_type, mark.relevance) for mark in marks)


def carried(spans: Sequence[Placed], context: str, target: str) -> tuple[Placed, ...]:
    """Map *spans* of *context* to offsets of *target*.

    Spans whose text is not in *target* are kept as one-character spans beyond its end, after all others. So they count as spans
    that nobody else has.
    """
    marks = [Mark(id=str(number), start=s.start, end=s.end, entity_type=s.entity_type) for number, s in enumerate(spans)]
    moved = {int(mark.id): mark for mark in realigned_through(marks, edits_between(context, target))}
    kept = [spans[number]._replace(start=mark.start, end=mark.end) for number, mark in moved.items()]
    lost = [span for number, span in enumerate(spans) if number not in moved]
    beyond = len(target) + 1
    return tuple(kept) + tuple(span._replace(start=beyond + 2 * n, end=beyond + 2 * n + 1) for n, span in enumerate(lost))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpansTable:
    """The spans of numbered documents, sorted by document and then in text order.

    ``document``, ``start``, ``end``, ``type`` (an index into ``types``) and ``relevance`` (an index into ``RELEVANCES``, or
    ``NOT_JUDGED``) have one row per span. ``first`` has the row of each document's first span, followed by the number of spans
    (shape: documents + 1).
    """

    types: tuple[str, ...]
    document: Integers
    start: Integers
    end: Integers
    type: Integers
    relevance: Integers
    first: Integers

    @property
    def count(self) -> Integers:
        """The number of spans of each document."""
        return np.diff(self.first)


def spans_table(documents: Sequence[Sequence[Placed]]) -> SpansTable:
    """Build the table of *documents*. Documents that are the same object, which is common, are converted only once."""
    types = tuple(sorted({span.entity_type for spans in {id(spans): spans for spans in documents}.values() for span in spans}))
    places = {name: place for place, name in enumerate(types)}
    known: dict[int, Integers] = {}
    pieces = []
    for spans in documents:
        piece = known.get(id(spans))
        if piece is None:
            piece = known[id(spans)] = _columns(spans, places)
        pieces.append(piece)
    columns = np.concatenate(pieces, axis=1) if pieces else np.zeros((4, 0), dtype=np.int64)
    count = np.array([piece.shape[1] for piece in pieces], dtype=np.int64)
    return SpansTable(
        types=types,
        document=np.repeat(np.arange(len(pieces)), count),
        start=columns[0],
        end=columns[1],
        type=columns[2],
        relevance=columns[3],
        first=np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
    )


def ranges(starts: Integers, counts: Integers) -> Integers:
    """Return the concatenated ranges ``[s, s+1, … s+c-1]`` for each start s and count c."""
    total = int(counts.sum())
    offsets = np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(starts, counts) + np.arange(total) - offsets


def _columns(spans: Iterable[Placed], places: dict[str, int]) -> Integers:
    rows = [(s.start, s.end, places[s.entity_type], RELEVANCES.index(s.relevance) if s.relevance else NOT_JUDGED) for s in spans]
    return np.array(rows, dtype=np.int64).reshape(-1, 4).T
