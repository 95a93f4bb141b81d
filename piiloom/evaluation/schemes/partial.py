"""``partial``: like ``exact``, but a mention found with other boundaries counts half (partial matches of MUC-5 and SemEval-2013 task 9).

Mentions of one type that share a character are paired, each once at most, as many as can be; the same place goes first. A pair is
worth 1 if its places are the same, else 1/2 as found, 1/2 as a false positive and 1/2 as a false negative. So precision is
(correct + partial / 2) / predicted, and recall (correct + partial / 2) / gold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from piiloom.evaluation.inputs.documents import Document, Needs
from piiloom.evaluation.schemes.base import OVERALL
from piiloom.evaluation.schemes.overlaps import greatest_weight, overlap_edges, overlap_groups
from piiloom.evaluation.schemes.places import Placed, add_by_type, compared, types_of
from piiloom.evaluation.schemes.precision_recall import PrecisionRecall

_PARTIAL = (0.5, -0.5, -0.5)  # what a partial pair adds to tp, fp, and fn, where both its mentions are in the latter two


class PartialScheme(PrecisionRecall):
    """The scheme; see the module docstring. A mention without a place is never found."""

    name = "partial"
    needs: Needs = "places"

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


def _partial_pairs(gold: Sequence[Placed], found: Sequence[Placed]) -> dict[str, int]:
    """Return the number of pairs by type."""
    pairs: dict[str, int] = {}
    for wanted, given in overlap_groups(gold, found):
        for name in set(types_of(wanted)).intersection(types_of(given)):
            edges = overlap_edges([one for one in wanted if one[0] == name], [one for one in given if one[0] == name])
            pairs[name] = pairs.get(name, 0) + greatest_weight(edges)
    return pairs
