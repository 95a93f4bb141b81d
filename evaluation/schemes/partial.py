"""``partial``: like ``exact``, but a mention found with other boundaries counts half (partial matches of MUC-5 and SemEval-2013 task 9).

Mentions of one type that share a character are paired, each once at most, as many as can be; the same place goes first. A pair is
worth 1 if its places are the same, else 1/2 as found, 1/2 as a false positive and 1/2 as a false negative. So precision is
(correct + partial / 2) / predicted, and recall (correct + partial / 2) / gold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from piiloom.evaluation.inputs.documents import Document, Needs
from piiloom.evaluation.schemes.base import OVERALL, SchemeOptions
from piiloom.evaluation.schemes.overlaps import greatest_weight, overlap_edges, overlap_groups
from piiloom.evaluation.schemes.places import Placed, add_by_type, compared, types_of
from piiloom.evaluation.schemes.precision_recall import COUNTS, precision_recall

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PARTIAL = (0.5, -0.5, -0.5)  # what a partial pair adds to tp, fp, and fn, where both its mentions are in the latter two


class PartialScheme:
    """The scheme; see the module docstring. A mention without a place is never found."""

    name = "partial"
    needs: Needs = "places"
    columns = COUNTS
    headline = ("precision", "recall", "f1")

    def __init__(self, options: SchemeOptions) -> None:
        self._beta = options.beta

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type, in halves."""
        same, missed, spurious = compared(gold, found)
        counts: dict[str, list[float]] = {OVERALL: [0, 0, 0]}
        for column, mentions in enumerate((same, spurious, missed)):
            add_by_type(counts, column, types_of(mentions), 3)
        for name, pairs in _partial_pairs(missed, spurious).items():
            for row in (counts[OVERALL], counts[name]):
                for column, worth in enumerate(_PARTIAL):
                    row[column] += pairs * worth
        return counts

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return tp, fp, fn, precision, recall and F."""
        return precision_recall(totals, self._beta)


def _partial_pairs(gold: Sequence[Placed], found: Sequence[Placed]) -> dict[str, int]:
    """Return the number of pairs by type."""
    pairs: dict[str, int] = {}
    for wanted, given in overlap_groups(gold, found):
        for name in set(types_of(wanted)).intersection(types_of(given)):
            edges = overlap_edges([one for one in wanted if one[0] == name], [one for one in given if one[0] == name])
            pairs[name] = pairs.get(name, 0) + greatest_weight(edges)
    return pairs
