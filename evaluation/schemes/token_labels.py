r"""``token``: each token has the types of the mentions that cover it, and each type of a token is found or not.

Tokens are ``\w+|[^\w\s]``. A token that a mention covers in part has its type, too; one that mentions of several types cover has
all of these types. Counts are of (token, type): tokens without a type on either side are in none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from piiloom.evaluation.inputs.documents import Document
from piiloom.evaluation.schemes.base import OVERALL, Needs, SchemeOptions
from piiloom.evaluation.schemes.places import add_by_type
from piiloom.evaluation.schemes.precision_recall import COUNTS, precision_recall
from piiloom.evaluation.schemes.tokens import Cover, token_count, token_cover

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TokenScheme:
    """The scheme; see the module docstring. A mention without a place counts with the tokens of its value, none of which is found."""

    name = "token"
    needs: Needs = "places"
    columns = COUNTS
    headline = ("precision", "recall", "f1")

    def __init__(self, options: SchemeOptions) -> None:
        self._beta = options.beta

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type."""
        cover = token_cover(gold, found)
        wanted, lost = _labels(gold, cover)
        given, idle = _labels(found, cover)
        counts: dict[str, list[float]] = {OVERALL: [0, 0, 0]}
        for column, labels in enumerate((wanted & given, given - wanted, wanted - given)):
            add_by_type(counts, column, (name for name, _ in labels), 3)
        add_by_type(counts, 1, idle, 3)
        add_by_type(counts, 2, lost, 3)
        return counts

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return tp, fp, fn, precision, recall and F."""
        return precision_recall(totals, self._beta)


def _labels(document: Document, cover: Cover) -> tuple[set[tuple[str, int]], list[str]]:
    """Return (type, start of a token), and the type of each token of a mention without a place."""
    labels: set[tuple[str, int]] = set()
    without: list[str] = []
    for one in document.mentions:
        name = one.entity_type or ""
        if one.start is None or one.end is None:
            without += [name] * token_count(one.text)
        else:
            labels.update((name, token) for token in cover(one.start, one.end))
    return labels, without
