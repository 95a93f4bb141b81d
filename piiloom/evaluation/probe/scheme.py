"""The scheme behind the probe's figures. All definitions are those of the shared probe tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from piiloom.evaluation.inputs.documents import Document, Mention, Needs
from piiloom.evaluation.probe.matching import pairs_in_order
from piiloom.evaluation.schemes.pair_counts import PAIR_COUNTS, pair_counts
from piiloom.evaluation.schemes.precision_recall import share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The annotator of relevance, which is judged at the places of the gold mentions; all other mentions are the detector's.
JUDGE = "judge"
# What is counted of spans, as named here and in ``PAIR_COUNTS``, and of relevances.
_SPANS = {
    "gold": "gold",
    "gold_exact": "gold_exact",
    "gold_overlap": "gold_matched",
    "found": "found",
    "found_exact": "found_exact",
    "found_overlap": "found_matched",
    "type_right": "type_right",
}
_RELEVANCES = {"high": "high_matched", "high_right": "high_right", "low": "low_matched", "low_right": "low_right"}
SPAN_COLUMNS = tuple(_SPANS)
_SPANS_AT = [PAIR_COUNTS.index(name) for name in _SPANS.values()]
_RELEVANCES_AT = [PAIR_COUNTS.index(name) for name in _RELEVANCES.values()]


class ProbeScheme:
    """Spans are paired by ``pairs_in_order`` and compared by extents only; the relevance of gold mentions is as judged, found or not.

    ``type_acc`` is the share of overlapping pairs with the right type.
    """

    name = "probe"
    needs: Needs = "places"
    columns = (*_SPANS, *_RELEVANCES)
    headline = ("span_f1_exact", "span_f1_overlap", "rel_balanced")

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return the counts of one record by type."""
        spans = [one for one in found.mentions if one.annotator != JUDGE]
        judged = [one for one in found.mentions if one.annotator == JUDGE]
        pairs = pairs_in_order(_places(gold.mentions), _places(spans))
        of_spans = _counts(gold, spans, [(gold.mentions[one], spans[other]) for one, other in pairs])
        at_place = {one.place: one for one in gold.mentions}
        of_relevances = _counts(gold, judged, [(at_place[one.place], one) for one in judged])
        return {
            name: [*(row[at] for at in _SPANS_AT), *(of_relevances[name][at] if name in of_relevances else 0.0 for at in _RELEVANCES_AT)]
            for name, row in of_spans.items()
        }

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the five figures."""
        at = {name: totals[..., number] for number, name in enumerate(self.columns)}
        return {
            "span_f1_exact": share(2 * at["gold_exact"], at["found"] + at["gold"]),
            "span_f1_overlap": share(2 * at["gold_overlap"], at["found"] + at["gold"]),
            "type_acc": share(at["type_right"], at["gold_overlap"]),
            "rel_acc": share(at["high_right"] + at["low_right"], at["high"] + at["low"]),
            "rel_balanced": (share(at["high_right"], at["high"]) + share(at["low_right"], at["low"])) / 2,
        }


def _places(mentions: Sequence[Mention]) -> list[tuple[int, int]]:
    return [one.place for one in mentions if one.place is not None]


def _counts(gold: Document, found: Sequence[Mention], pairs: Sequence[tuple[Mention, Mention]]) -> dict[str, list[float]]:
    alike = [(one, other, 1.0) for one, other in pairs]
    return pair_counts(gold.mentions, found, alike)
