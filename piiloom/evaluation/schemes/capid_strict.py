"""``capid-strict``: what ``capid`` measures, on places in the text and with the best pairing, so that one sees what that hides.

Similarities are exact, and relevance has one meaning however a file spells it.

Gold and predicted mentions are paired one to one with the greatest total similarity of their places (``place_pairs``). ``span_…`` are of
the pairs whose places are equal, ``overlap_…`` of all pairs, ``coverage`` is their mean similarity. Accuracies are over pairs; those
that end in ``_of_gold`` are over all gold mentions, so that one that was not found counts as wrong. Relevance is judged where the gold
states it.

Figures are of all mentions of the set; ``macro_…`` are plain means over samples, as those of ``capid``. By type both are of all mentions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from piiloom.evaluation.inputs.documents import Document, Needs
from piiloom.evaluation.schemes.base import SchemeSettings
from piiloom.evaluation.schemes.pair_counts import PAIR_COUNTS, pair_counts
from piiloom.evaluation.schemes.place_pairs import place_pairs
from piiloom.evaluation.schemes.sample_means import SampleMeans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATIOS = {
    "span_precision": ("found_exact", "found"),
    "span_recall": ("gold_exact", "gold"),
    "span_f1": ("mentions_exact", "mentions"),
    "overlap_precision": ("found_matched", "found"),
    "overlap_recall": ("gold_matched", "gold"),
    "overlap_f1": ("mentions_matched", "mentions"),
    "coverage": ("similarity", "gold_matched"),
    "type_accuracy": ("type_right", "gold_matched"),
    "relevance_accuracy": ("judged_right", "judged_matched"),
    "low_accuracy": ("low_right", "low_matched"),
    "high_accuracy": ("high_right", "high_matched"),
    "type_accuracy_of_gold": ("type_right", "gold"),
    "relevance_accuracy_of_gold": ("judged_right", "judged"),
    "low_accuracy_of_gold": ("low_right", "low"),
    "high_accuracy_of_gold": ("high_right", "high"),
}
_COUNTS = {"samples": "samples", "gold": "gold", "predicted": "found", "exact": "gold_exact", "matched": "gold_matched"}
_MALFORMED = ("malformed", "gold_malformed")


class CapidStrictScheme:
    """The scheme; see the module docstring. A mention without a place matches nothing."""

    name = "capid-strict"
    needs: Needs = "places"
    headline = tuple(RATIOS)

    def __init__(self, options: SchemeSettings) -> None:
        self._means = SampleMeans(PAIR_COUNTS, RATIOS, options.undefined)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what is counted."""
        return self._means.columns

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return the counts and figures of one sample, and counts by type."""
        pairs = place_pairs(gold.mentions, found.mentions)
        return self._means.rows(pair_counts(gold.mentions, found.mentions, pairs, malformed=(gold.malformed, found.malformed)))

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the figures of all mentions, the means over samples, and the numbers of samples, mentions, pairs and malformed entries."""
        macro = {f"macro_{name}": value for name, value in self._means.means(totals).items()}
        counts = {name: self._means.count(totals, count) for name, count in _COUNTS.items()}
        return {**self._means.ratios(totals), **macro, **counts, **{name: self._means.count(totals, name) for name in _MALFORMED}}
