"""``nervaluate``: the four modes of SemEval-2013 task 9, as the library of that name counts them, in whatever order mentions come.

Each gold mention is paired with one predicted mention at most. Pairs overlap by 1% of the gold mention at least, as is the library's
default. In each mode as many pairs as can be are *correct*, and of the rest as many as can be are pairs at all: *incorrect*, or *partial*
in the mode ``partial``. A gold mention in no pair is *missed*, a predicted one *spurious*. Correct are pairs

- of the same place and type in ``strict``,
- of the same place in ``exact`` and ``partial``, whatever their types,
- of the same type in ``type``; those with the same place as well go first.

The library takes the predictions in their order, and each takes the best gold mention that is left. These counts are what it gives in an
order that is best for the prediction; so they are the library's wherever its own do not depend on the order. By type, only mentions of
that type are looked at on either side. What is counted here are sums of which the counts of all modes follow (``MODES``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from piiloom.evaluation.inputs.documents import AnnotatedDocument, Needs
from piiloom.evaluation.schemes.base import OVERALL, SchemeSettings
from piiloom.evaluation.schemes.precision_recall import precision_recall
from piiloom.evaluation.schemes.span_pairs import (
    Placed,
    add_by_type,
    compared,
    greatest_weight,
    in_common,
    overlap_edges,
    overlap_groups,
    types_at,
)

_LEAST_PERCENT = 1
_COLUMNS = (
    "same",  # pairs of the same type and place
    "other_gold",  # mentions that are in none of these
    "other_found",
    "overlapping",  # pairs of the others
    "same_place",  # pairs of the others of the same place
    "moved",  # pairs of what those two leave
    "same_type",  # pairs of the others, if as many as can be are of the same type
    "other_type",  # pairs of different types besides these
)
# The mode, and which sums its correct and its other pairs are.
MODES = {
    "strict": (("same",), "overlapping"),
    "exact": (("same", "same_place"), "moved"),
    "partial": (("same", "same_place"), "moved"),
    "type": (("same", "same_type"), "other_type"),
}


class NervaluateScheme:
    """The scheme; see the module docstring. A mention without a place is missed or spurious."""

    name = "nervaluate"
    needs: Needs = "places"
    columns = _COLUMNS
    headline = ("precision", "recall", "f1", "exact_f1", "partial_f1", "type_f1")

    def __init__(self, options: SchemeSettings) -> None:
        self._beta = options.beta

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return the sums by type."""
        width = len(_COLUMNS)
        counts: dict[str, list[float]] = {OVERALL: [0] * width}
        groups = compared(gold, found)
        for column, mentions in enumerate(groups):
            add_by_type(counts, column, types_at(mentions), width)
        for wanted, given in overlap_groups(*groups[1:]):
            self._count_overlaps(counts, wanted, given)
        return counts

    def _count_overlaps(self, counts: dict[str, list[float]], gold: list[Placed], found: list[Placed]) -> None:
        """Add the pairs of one group."""
        edges = overlap_edges(gold, found, _LEAST_PERCENT)
        if not edges:
            return
        pairs = greatest_weight(edges)
        alike = [edge for edge in edges if gold[edge[0]][0] == found[edge[1]][0]]
        same_type = 0
        for name in {gold[row][0] for row, _, _ in alike}:
            of_type = greatest_weight([edge for edge in alike if gold[edge[0]][0] == name])
            same_type += of_type
            for column in (3, 5, 6):  # among mentions of one type, all three are the same pairs
                counts[name][column] += of_type
        same_place, moved = _places_first(gold, found, pairs)
        other_type = _other_type(edges, set(alike), pairs, same_type)
        overall = counts[OVERALL]
        for column, value in enumerate((pairs, same_place, moved, same_type, other_type), start=3):
            overall[column] += value

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return tp, fp, fn, precision, recall, F and the five counts of ``strict``, and as ``exact_tp`` and so on those of the others."""
        sums = dict(zip(_COLUMNS, np.moveaxis(np.asarray(totals, dtype=float), -1, 0), strict=True))
        figures: dict[str, NDArray[np.float64]] = {}
        for mode in MODES:
            prefix = "" if mode == "strict" else f"{mode}_"
            figures |= {f"{prefix}{name}": value for name, value in _mode_figures(mode, sums, self._beta).items()}
        return figures


def _mode_figures(mode: str, sums: Mapping[str, NDArray[np.float64]], beta: Sequence[float]) -> dict[str, NDArray[np.float64]]:
    """Return the figures of one mode. Incorrect pairs are both false positives and false negatives, partial ones half of each."""
    names, other = MODES[mode]
    correct, pairs = np.add.reduce([sums[name] for name in names]), sums[other]
    gold, found = sums["same"] + sums["other_gold"], sums["same"] + sums["other_found"]
    none = np.zeros_like(pairs)
    incorrect, partial = (none, pairs) if mode == "partial" else (pairs, none)
    tp = correct + partial / 2
    return {
        **precision_recall(np.stack([tp, found - tp, gold - tp], axis=-1), beta),
        "correct": correct,
        "incorrect": incorrect,
        "partial": partial,
        "missed": gold - correct - pairs,
        "spurious": found - correct - pairs,
    }


def _places_first(gold: list[Placed], found: list[Placed], pairs: int) -> tuple[int, int]:
    """Return the number of pairs of the same place, whatever the types, and that of pairs of the others."""
    same, wanted, given = in_common([("", *one[1:]) for one in gold], [("", *one[1:]) for one in found])
    return len(same), greatest_weight(overlap_edges(wanted, given, _LEAST_PERCENT)) if same else pairs


def _other_type(edges: Sequence[tuple[int, int, int]], alike: set[tuple[int, int, int]], pairs: int, same_type: int) -> int:
    """Return how many pairs of different types there can be besides *same_type* pairs of the same one."""
    if not alike or same_type == pairs:
        return pairs - same_type
    above_all = len(edges) + 1  # one pair of the same type is worth more than any number of others
    best = greatest_weight([(row, column, above_all if (row, column, weight) in alike else weight) for row, column, weight in edges])
    return best - same_type * above_all
