"""``privacy``: what leaks, whose data it is, and what masking by relevance costs.

A gold mention is **found** if it is covered by what is predicted, of whatever type; otherwise it leaks. It is **masked** if it is
covered by what a masker takes out: predictions of low relevance, and those that state none (``masking`` has both definitions).

- ``leak_rate``: of the documents with a direct identifier, the share in which one leaks; ``leak_rate_all``: of all documents.
- ``recall``: the share of mentions found; ``weighted_recall``: the same by the weight of their types (``taxonomy.identifying``).
- ``recall_self``, ``recall_others``, ``recall_unstated``: of what the writer says of themselves, of others, and what names no subject.
  ``recall_self_minus_others`` is 0 if one of the two has no mention.
- ``over_masking``: the share of highly relevant mentions that are masked (utility lost); ``under_masking``: the share of those of low
  relevance that are not (privacy not kept).

Mentions that need no masking (``identifier`` "none") count nowhere. By type, a document counts if it has a mention of this type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from piiloom.evaluation.inputs.documents import Document, Mention, Needs
from piiloom.evaluation.schemes.base import OVERALL, SchemeSettings
from piiloom.evaluation.schemes.masking import found_ranges, is_covered, masked_ranges
from piiloom.evaluation.schemes.precision_recall import share
from piiloom.taxonomy.identifying import Identifying, identifying_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COLUMNS = (
    "documents",
    "documents_with_direct",
    "documents_leaking",
    "mentions",
    "found",
    "weight",
    "weight_found",
    "self",
    "self_found",
    "others",
    "others_found",
    "unstated",
    "unstated_found",
    "high",
    "high_masked",
    "low",
    "low_unmasked",
)
_AT = {name: at for at, name in enumerate(_COLUMNS)}
# Where they are in a row. After each of these from _SELF on comes the part of them that is found, or wrongly masked or not.
_DOCUMENTS, _WITH_DIRECT, _LEAKING, _MENTIONS, _FOUND, _WEIGHT, _WEIGHT_FOUND = range(7)
_SELF, _OTHERS, _UNSTATED, _HIGH, _LOW = range(7, len(_COLUMNS), 2)
SELF = "self"  # the subject of what a writer says of themselves


class PrivacyScheme:
    """The scheme; see the module docstring. A gold mention without a place is neither found nor masked."""

    name = "privacy"
    needs: Needs = "places"
    columns = _COLUMNS
    headline = ("leak_rate", "weighted_recall", "over_masking", "under_masking")

    def __init__(self, options: SchemeSettings) -> None:
        """Read the file of weights if *options* name one; raises ``ConfigError`` if it is malformed."""
        self._identifying = identifying_table(options.weights)

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return the counts by type."""
        predicted, masked = found_ranges(found), masked_ranges(found)
        counts: dict[str, list[float]] = {OVERALL: _row()}
        for mention in sorted(gold.mentions, key=_order):  # sums of weights do not depend on the order
            if mention.identifier == "none":
                continue
            kind = self._identifying.of(mention.entity_type, mention.subtype)
            is_found, is_masked = is_covered(mention, predicted), is_covered(mention, masked)
            _add(counts[OVERALL], mention, kind, is_found=is_found, is_masked=is_masked)
            if mention.entity_type:
                row = counts.setdefault(mention.entity_type, _row())
                _add(row, mention, kind, is_found=is_found, is_masked=is_masked)
        return counts

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the figures of the module docstring."""
        of = {name: totals[..., at].astype(float) for name, at in _AT.items()}
        own, others = share(of["self_found"], of["self"]), share(of["others_found"], of["others"])
        return {
            "leak_rate": share(of["documents_leaking"], of["documents_with_direct"]),
            "leak_rate_all": share(of["documents_leaking"], of["documents"]),
            "recall": share(of["found"], of["mentions"]),
            "weighted_recall": share(of["weight_found"], of["weight"]),
            "recall_self": own,
            "recall_others": others,
            "recall_unstated": share(of["unstated_found"], of["unstated"]),
            "recall_self_minus_others": (own - others) * (of["self"] > 0) * (of["others"] > 0),
            "over_masking": share(of["high_masked"], of["high"]),
            "under_masking": share(of["low_unmasked"], of["low"]),
        }


def _row() -> list[float]:
    row = [0.0] * len(_COLUMNS)
    row[_DOCUMENTS] = 1.0
    return row


def _order(mention: Mention) -> tuple[str, str]:
    return mention.entity_type or "", mention.subtype or ""


def _add(row: list[float], mention: Mention, kind: Identifying, *, is_found: bool, is_masked: bool) -> None:
    row[_MENTIONS] += 1
    row[_FOUND] += is_found
    row[_WEIGHT] += kind.weight
    row[_WEIGHT_FOUND] += kind.weight * is_found
    subject = _UNSTATED if mention.subject is None else _SELF if mention.subject == SELF else _OTHERS
    row[subject] += 1
    row[subject + 1] += is_found
    if mention.relevance == "high":
        row[_HIGH] += 1
        row[_HIGH + 1] += is_masked
    elif mention.relevance == "low":
        row[_LOW] += 1
        row[_LOW + 1] += not is_masked
    if (mention.identifier or kind.identifier) == "direct":
        row[_WITH_DIRECT] = 1
        if not is_found:
            row[_LEAKING] = 1
