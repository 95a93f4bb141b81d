"""``exact``: a mention is found if one of the same place and type is predicted. Each is found once at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from piiloom.evaluation.inputs.documents import Document, Needs
from piiloom.evaluation.schemes.base import OVERALL
from piiloom.evaluation.schemes.places import add_by_type, compared, types_of
from piiloom.evaluation.schemes.precision_recall import PrecisionRecall


class ExactScheme(PrecisionRecall):
    """The scheme; see the module docstring. A predicted mention without a place is a false positive."""

    name = "exact"
    needs: Needs = "places"

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type."""
        same, missed, spurious = compared(gold, found)
        counts: dict[str, list[float]] = {OVERALL: [0, 0, 0]}
        for column, mentions in enumerate((same, spurious, missed)):
            add_by_type(counts, column, types_of(mentions), 3)
        return counts
