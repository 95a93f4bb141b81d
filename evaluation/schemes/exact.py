"""``exact``: a mention is found if one of the same place and type is predicted. Each is found once at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from piiloom.evaluation.inputs.documents import Document
from piiloom.evaluation.schemes.base import OVERALL, Needs, SchemeOptions, type_key
from piiloom.evaluation.schemes.precision_recall import COUNTS, precision_recall

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ExactScheme:
    """The scheme; see the module docstring. A predicted mention without a place is a false positive."""

    name = "exact"
    needs: Needs = "places"
    columns = COUNTS
    headline = ("precision", "recall", "f1")

    def __init__(self, options: SchemeOptions) -> None:
        self._beta = options.beta

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type."""
        wanted, given = _places(gold, "gold"), _places(found, "found")
        counts: dict[str, list[float]] = {OVERALL: [0, 0, 0]}
        for key in wanted.keys() | given.keys():
            hits = min(wanted[key], given[key])
            for row in (counts[OVERALL], counts.setdefault(key[0], [0, 0, 0])):
                row[0] += hits
                row[1] += given[key] - hits
                row[2] += wanted[key] - hits
        return counts

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return tp, fp, fn, precision, recall and F."""
        return precision_recall(totals, self._beta)


def _places(document: Document, side: str) -> Counter[tuple[str, object]]:
    # Without a place, a mention is equal to no other.
    return Counter((type_key(one), one.place or (side, number)) for number, one in enumerate(document.mentions))
