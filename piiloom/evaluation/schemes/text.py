"""``text``: a mention is found if the same string of the same type is predicted in the same document, as often as it is there.

It needs no places. Strings are compared as they stand, case, blanks and all. The sums over all types are those of the types: a string
that is predicted under another type is a false positive of that type and a false negative of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from piiloom.evaluation.inputs.documents import Document, Needs
from piiloom.evaluation.schemes.base import OVERALL, type_key
from piiloom.evaluation.schemes.precision_recall import PrecisionRecall


class TextScheme(PrecisionRecall):
    """The scheme; see the module docstring. Mentions without a type are a type of their own (``NO_TYPE``)."""

    name = "text"
    needs: Needs = "mentions"
    headline = ("precision", "recall", "f1", "f5")

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type."""
        wanted, given = _strings(gold), _strings(found)
        overall = [0.0, 0.0, 0.0]
        counts: dict[str, list[float]] = {OVERALL: overall}
        for key in wanted.keys() | given.keys():
            there, predicted = wanted.get(key, 0), given.get(key, 0)
            hits = min(there, predicted)
            for row in (overall, counts.setdefault(key[0], [0.0, 0.0, 0.0])):
                row[0] += hits
                row[1] += predicted - hits
                row[2] += there - hits
        return counts


def _strings(document: Document) -> Counter[tuple[str, str]]:
    return Counter((type_key(one), one.text) for one in document.mentions)
