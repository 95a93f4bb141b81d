"""Masking: the one definition of which mentions are masked (for all but ``tab``), the scheme ``privacy``, and contrast groups.

A mention is covered if each of its letters and digits lies in a masked range, so that blanks, hyphens and brackets may stay. If it has
neither letters nor digits, what counts is all that is not blank. Several ranges may cover it together, and of whatever type.

``privacy``: a gold mention is **found** if it is covered by what is predicted, of whatever type; otherwise it leaks. It is **masked** if it
is covered by what a masker takes out: predictions of low relevance, and those that state none.

- ``leak_rate``: of the documents with a direct identifier, the share in which one leaks; ``leak_rate_all``: of all documents.
- ``recall``: the share of mentions found; ``weighted_recall``: the same by the weight of their types (``taxonomy.identifying``).
- ``recall_self``, ``recall_others``, ``recall_unstated``: of what the writer says of themselves, of others, and what names no subject.
  ``recall_self_minus_others`` is 0 if one of the two has no mention.
- ``over_masking``: the share of highly relevant mentions that are masked (utility lost); ``under_masking``: the share of those of low
  relevance that are not (privacy not kept).

Mentions that need no masking (``identifier`` "none") count nowhere. By type, a document counts if it has a mention of this type.

**Contrast groups** are the records of one text with different questions: does a masker change its mind with the question? A gold mention
**changes** if its relevance is high for one question of the group and low for another. It is **consistent** if in each record of the group
it is masked where it is of low relevance, and not where it is of high relevance. A group is consistent if all of its changing mentions are;
a group in which nothing changes does not count.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.record import CONTRAST_GROUP
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Needs, Pair
from piiloom.evaluation.schemes.base import OVERALL, SchemeSettings
from piiloom.evaluation.schemes.precision_recall import by_column, ratio
from piiloom.taxonomy.identifying import Identifying, identifying_table

TextRange = tuple[int, int]
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
# Where they are in a row. After each of these from _SELF on comes the part of them that is found, or wrongly masked or not.
_DOCUMENTS, _WITH_DIRECT, _LEAKING, _MENTIONS, _FOUND, _WEIGHT, _WEIGHT_FOUND = range(7)
_SELF, _OTHERS, _UNSTATED, _HIGH, _LOW = range(7, len(_COLUMNS), 2)
SELF = "self"  # the subject of what a writer says of themselves
# What is known of a mention so far: bits.
_IS_HIGH, _IS_LOW, _WRONG = 1, 2, 4
_CHANGES = _IS_HIGH | _IS_LOW


class Ranges:
    """Half-open ranges of a text, in any order; they may overlap and repeat."""

    __slots__ = ("_reach", "_starts")

    def __init__(self, places: Iterable[TextRange]) -> None:
        ordered = sorted(places)
        self._starts = [start for start, _ in ordered]
        # The furthest end of all ranges up to here.
        self._reach = list(accumulate((end for _, end in ordered), max))

    def hold(self, start: int, end: int) -> bool:
        """Return whether one of the ranges has all of [start, end) in it."""
        before = bisect_right(self._starts, start)
        return before > 0 and self._reach[before - 1] >= end

    def uncovered(self, start: int, positions: Iterable[int]) -> list[int]:
        """Return those of *positions*, counted from *start*, that are in none of the ranges."""
        left = []
        for position in positions:
            before = bisect_right(self._starts, start + position)
            if before == 0 or self._reach[before - 1] <= start + position:
                left.append(position)
        return left


def counting(text: str) -> list[int]:
    """Return the positions in *text* that have to be masked."""
    return (
        [at for at, letter in enumerate(text) if letter.isalnum()]
        or [at for at, letter in enumerate(text) if not letter.isspace()]
        or list(range(len(text)))
    )


def masked_ranges(document: AnnotatedDocument) -> Ranges:
    """Return what a masker takes out that masks what is not relevant: predicted mentions, but for those of high relevance.

    Predictions that state no relevance are all masked.
    """
    return Ranges(one.place for one in document.mentions if one.place is not None and one.relevance != "high")


def found_ranges(document: AnnotatedDocument) -> Ranges:
    """Return all that is predicted."""
    return Ranges(one.place for one in document.mentions if one.place is not None)


def is_covered(mention: AnnotatedMention, ranges: Ranges) -> bool:
    """Return whether *mention* is covered; what has no place is not."""
    start, text = mention.start, mention.text
    if start is None:
        return False
    return ranges.hold(start, start + len(text)) or not ranges.uncovered(start, counting(text))


class PrivacyScheme:
    """The scheme; see the module docstring. A gold mention without a place is neither found nor masked."""

    name = "privacy"
    needs: Needs = "places"
    columns = _COLUMNS
    headline = ("leak_rate", "weighted_recall", "over_masking", "under_masking")

    def __init__(self, options: SchemeSettings) -> None:
        """Read the file of weights if *options* name one; raises ``ConfigError`` if it is malformed."""
        self._identifying = identifying_table(options.weights)

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
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
        of = by_column(self.columns, totals)
        own, others = ratio(of["self_found"], of["self"]), ratio(of["others_found"], of["others"])
        return {
            "leak_rate": ratio(of["documents_leaking"], of["documents_with_direct"]),
            "leak_rate_all": ratio(of["documents_leaking"], of["documents"]),
            "recall": ratio(of["found"], of["mentions"]),
            "weighted_recall": ratio(of["weight_found"], of["weight"]),
            "recall_self": own,
            "recall_others": others,
            "recall_unstated": ratio(of["unstated_found"], of["unstated"]),
            "recall_self_minus_others": (own - others) * (of["self"] > 0) * (of["others"] > 0),
            "over_masking": ratio(of["high_masked"], of["high"]),
            "under_masking": ratio(of["low_unmasked"], of["low"]),
        }


def _row() -> list[float]:
    row = [0.0] * len(_COLUMNS)
    row[_DOCUMENTS] = 1.0
    return row


def _order(mention: AnnotatedMention) -> tuple[str, str]:
    return mention.entity_type or "", mention.subtype or ""


def _add(row: list[float], mention: AnnotatedMention, kind: Identifying, *, is_found: bool, is_masked: bool) -> None:
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


class ContrastGroups:
    """A ``Collector`` of groups, whose records may stand anywhere in the file. It keeps a number a mention of a group, and no text."""

    columns = ("groups", "consistent_groups", "mentions", "consistent_mentions")
    headline = ("contrast_consistency", "contrast_consistency_mentions")

    def __init__(self) -> None:
        self._groups: dict[str, dict[tuple[int, int], int]] = {}

    def add(self, pair: Pair) -> None:
        """Take note of a record, if it is one of a group."""
        group = next((key for key in pair.gold.group_keys if key.startswith(CONTRAST_GROUP)), None)
        if group is None:
            return
        seen = self._groups.setdefault(group, {})
        masked = masked_ranges(pair.found)
        for mention in pair.gold.mentions:
            if mention.place is not None and mention.relevance is not None:
                is_low = mention.relevance == "low"
                bits = (_IS_LOW if is_low else _IS_HIGH) | (0 if is_covered(mention, masked) == is_low else _WRONG)
                seen[mention.place] = seen.get(mention.place, 0) | bits

    @property
    def rows(self) -> NDArray[np.float64]:
        """The counts of each group in which something changes, of shape (groups, columns), sorted by the name of the group."""
        found = []
        for _, seen in sorted(self._groups.items()):
            changing = [bits for bits in seen.values() if bits & _CHANGES == _CHANGES]
            consistent = sum(not bits & _WRONG for bits in changing)
            if changing:
                found.append((1, consistent == len(changing), len(changing), consistent))
        return np.asarray(found, dtype=float).reshape(-1, len(self.columns))

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the shares of sums of ``rows``, of shape (…, columns). 0/0 counts as 0."""
        of = by_column(self.columns, totals)
        return {
            "contrast_consistency": ratio(of["consistent_groups"], of["groups"]),
            "contrast_consistency_mentions": ratio(of["consistent_mentions"], of["mentions"]),
        }
