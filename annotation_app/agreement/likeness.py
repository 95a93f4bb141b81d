"""Similarity of the spans of two documents, as counts that can be summed over comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from piiloom.annotation_app.agreement.matching import Floats, Matches
from piiloom.annotation_app.agreement.spans_table import NOT_JUDGED, Integers, SpansTable, ranges

# ``left`` and ``right``: number of spans in each document. The others are over pairs of matched spans: ``overlap``: all pairs;
# ``exact``: same ends; ``shared``: sum of intersection over union; ``typed``: same type; ``judged``: both sides have a relevance;
# ``related``: of these, the same relevance; ``whole``: same ends, type and relevance.
COUNTS = ("left", "right", "exact", "overlap", "shared", "typed", "judged", "related", "whole")
AT = {name: place for place, name in enumerate(COUNTS)}


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
