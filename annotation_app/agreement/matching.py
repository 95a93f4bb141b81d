"""Match the spans of two documents: greedy one-to-one pairs of overlapping spans, largest intersection over union first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from piiloom.annotation_app.agreement.pairing import Placed
from piiloom.annotation_app.agreement.spans_table import Integers, SpansTable, ranges, spans_table

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Pairs of spans, as parallel arrays.

    ``comparison`` is the index of the pair of documents, ``left`` and ``right`` are rows of the span table, ``shared`` is the
    intersection over union in code points.
    """

    comparison: Integers
    left: Integers
    right: Integers
    shared: Floats


def match(table: SpansTable, left: Sequence[int] | Integers, right: Sequence[int] | Integers) -> Matches:
    """Match the spans of document ``left[i]`` with those of document ``right[i]``, for each ``i``; pairs are in text order.

    On equal overlap, the pair with the earlier left span wins, then that with the earlier right span.
    """
    comparison, a, b = _overlapping(table, np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64))
    common = np.minimum(table.end[a], table.end[b]) - np.maximum(table.start[a], table.start[b])
    shared = common / (np.maximum(table.end[a], table.end[b]) - np.minimum(table.start[a], table.start[b]))
    kept = _each_once(comparison, a, b, shared, len(table.document))
    return Matches(comparison=comparison[kept], left=a[kept], right=b[kept], shared=shared[kept])


def pair_up(left: Sequence[Placed], right: Sequence[Placed]) -> list[tuple[int, int]]:
    """Match the spans of two documents; returns pairs of positions in *left* and *right*."""
    found = match(spans_table([left, right]), [0], [1])
    return [(int(i), int(j) - len(left)) for i, j in zip(found.left, found.right, strict=True)]


def spans_of(table: SpansTable, documents: Integers) -> tuple[Integers, Integers]:
    """Return, for all spans of *documents* in order, the position in *documents* and the row of *table*."""
    counts = table.count[documents]
    return np.repeat(np.arange(len(documents)), counts), ranges(table.first[documents], counts)


def _overlapping(table: SpansTable, left: Integers, right: Integers) -> tuple[Integers, Integers, Integers]:
    """Return (comparison, left row, right row) of all pairs that share a character.

    The spans of a document are disjoint, so those that overlap a given span are consecutive and found by binary search.
    """
    counts = table.count[left]
    comparison = np.repeat(np.arange(len(left)), counts)
    a = ranges(table.first[left], counts)
    # Shift the offsets of each document so that all documents share one number line without overlaps.
    far = int(table.end.max(initial=0)) + 1
    base = right[comparison] * far
    from_ = np.searchsorted(table.document * far + table.end, base + table.start[a], side="right")
    until = np.searchsorted(table.document * far + table.start, base + table.end[a], side="left")
    meeting = np.maximum(until - from_, 0)
    return np.repeat(comparison, meeting), np.repeat(a, meeting), ranges(from_, meeting)


def _each_once(comparison: Integers, a: Integers, b: Integers, shared: Floats, spans: int) -> Integers:
    """Return the rows to keep so that no span is in two pairs of one comparison (greedy, highest *shared* first)."""
    by_left, by_right = comparison * spans + a, comparison * spans + b
    _, left_at, left_times = np.unique(by_left, return_inverse=True, return_counts=True)
    _, right_at, right_times = np.unique(by_right, return_inverse=True, return_counts=True)
    alone = (left_times[left_at] == 1) & (right_times[right_at] == 1)
    rivals = np.flatnonzero(~alone)
    rivals = rivals[np.lexsort((b[rivals], a[rivals], -shared[rivals], comparison[rivals]))]
    taken: set[tuple[str, int]] = set()
    kept = []
    for row in rivals:  # few: most spans overlap with only one other
        ends = ("left", int(by_left[row])), ("right", int(by_right[row]))
        if taken.isdisjoint(ends):
            taken.update(ends)
            kept.append(int(row))
    return np.sort(np.concatenate([np.flatnonzero(alone), np.array(kept, dtype=np.int64)]))
