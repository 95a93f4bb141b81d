"""How alike the spans of two documents are, as counts that can be summed over comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from piiloom.annotation_app.agreement.matching import Floats, Matches
from piiloom.annotation_app.agreement.spans_table import NOT_JUDGED, Integers, SpansTable, ranges

# What is counted. ``left`` and ``right`` are the spans of either document; ``overlap`` are those paired, ``exact`` those paired
# with the same ends, ``shared`` the sum of what pairs have in common of both together; ``typed``, ``judged``, ``related`` and
# ``whole`` are pairs of one type, with a relevance on both sides, with the same one, and equal in all.
COUNTS = ("left", "right", "exact", "overlap", "shared", "typed", "judged", "related", "whole")
AT = {name: place for place, name in enumerate(COUNTS)}


def likeness(table: SpansTable, left: Sequence[int], right: Sequence[int], matches: Matches, owners: Integers, size: int) -> Floats:
    """Counts by owner and type, shape (*size*, types, counts); comparison ``i`` belongs to ``owners[i]``.

    A pair of spans gives half of itself to the type of either side, so that the sum over types is that of the documents.
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
    """What each pair adds to the counts of pairs."""
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
