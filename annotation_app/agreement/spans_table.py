"""The spans of many documents as NumPy columns, since a Python loop over a hundred thousand spans would take seconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from piiloom.annotation_app.agreement.pairing import Placed

Integers = NDArray[np.int64]
RELEVANCES = ("high", "low")
NOT_JUDGED = -1


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
