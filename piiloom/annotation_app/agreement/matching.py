"""Match the spans of two documents, and count how alike they are.

Pairs of overlapping spans are one-to-one; the largest intersection over union is matched first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from piiloom.annotation_app.agreement.spans import NOT_JUDGED, Integers, SpansTable, ranges

Floats = NDArray[np.float64]
# ``left`` and ``right``: number of spans in each document. The others are over pairs of matched spans: ``overlap``: all pairs;
# ``exact``: same ends; ``shared``: sum of intersection over union; ``typed``: same type; ``judged``: both sides have a relevance;
# ``related``: of these, the same relevance; ``whole``: same ends, type and relevance.
COUNTS = ("left", "right", "exact", "overlap", "shared", "typed", "judged", "related", "whole")
AT = {name: place for place, name in enumerate(COUNTS)}


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


def spans_of(table: SpansTable, documents: Integers) -> tuple[Integers, Integers]:
    """Return, for all spans of *documents* in order, the position in *documents* and the row of *table*."""
    counts = table.count[documents]
    return np.repeat(np.arange(len(documents)), counts), ranges(table.first[documents], counts)


def mention_of(table: SpansTable, matches: Matches) -> Integers:
    """Return the mention of each span: spans linked by pairs, directly or through others, get the row of the first of them.

    These are the connected components of the graph of pairs.
    """
    label = np.arange(len(table.document))
    while True:  # each round passes the smallest number on to directly paired spans
        smallest = np.minimum(label[matches.left], label[matches.right])
        further = label.copy()
        np.minimum.at(further, matches.left, smallest)
        np.minimum.at(further, matches.right, smallest)
        if np.array_equal(further, label):
            return label
        label = further


def likeness(table: SpansTable, left: Sequence[int], right: Sequence[int], matches: Matches, owners: Integers, size: int) -> Floats:
    """Return ``COUNTS`` by owner and type, shape (*size*, types, counts).

    Comparison ``i`` is between documents ``left[i]`` and ``right[i]`` and is counted for ``owners[i]`` (0 to *size* - 1). A pair of
    spans counts one half for the type of each side, so that the sum over types is the number of pairs.
    """
    kinds = len(table.types)
    found = np.zeros((size * kinds, len(COUNTS)))
    for column, documents in (("left", np.asarray(left)), ("right", np.asarray(right))):
        counts = table.count[documents] if len(documents) else np.zeros(0, dtype=np.int64)
        rows = ranges(table.first[documents], counts) if len(documents) else counts
        cells = np.repeat(owners, counts) * kinds + table.type[rows]
        found[:, AT[column]] = np.bincount(cells, minlength=size * kinds)
    gains = pair_gains(table, matches)
    owner = owners[matches.comparison] * kinds
    for side in (matches.left, matches.right):
        cells = owner + table.type[side]
        for name, gained in gains.items():
            found[:, AT[name]] += np.bincount(cells, weights=gained / 2, minlength=size * kinds)
    return found.reshape(size, kinds, len(COUNTS))


def pair_gains(table: SpansTable, matches: Matches) -> dict[str, Floats]:
    """Return what each pair of *matches* adds to each of the pair counts, by name of the count."""
    a, b = matches.left, matches.right
    exact = (table.start[a] == table.start[b]) & (table.end[a] == table.end[b])
    typed = table.type[a] == table.type[b]
    judged = (table.relevance[a] != NOT_JUDGED) & (table.relevance[b] != NOT_JUDGED)
    same = table.relevance[a] == table.relevance[b]
    return {
        "exact": exact.astype(float),
        "overlap": np.ones(len(a)),
        "shared": matches.shared,
        "typed": typed.astype(float),
        "judged": judged.astype(float),
        "related": (judged & same).astype(float),
        "whole": (exact & typed & same).astype(float),
    }


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
