"""Counts of mentions that were paired one to one, by type; shared by ``capid`` and ``capid-strict``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from math import fsum
from operator import attrgetter

from piiloom.evaluation.inputs.documents import AnnotatedMention
from piiloom.evaluation.schemes.base import OVERALL, type_key

# A gold mention, the predicted one that answers it, and how alike they are: over 0, up to 1.
MentionPair = tuple[AnnotatedMention, AnnotatedMention, float]
# Sums of two, so that every figure is a ratio of two columns.
_SUMS = {
    "mentions": ("gold", "found"),
    "mentions_matched": ("gold_matched", "found_matched"),
    "mentions_exact": ("gold_exact", "found_exact"),
    "judged": ("low", "high"),
    "judged_matched": ("low_matched", "high_matched"),
    "judged_right": ("low_right", "high_right"),
}


@dataclass(slots=True)
class _TypeCounts:
    """The counts of one type in one document.

    ``gold`` to ``high_right`` are of gold mentions of the type, ``found`` to ``found_exact`` of predicted ones that say the type.
    ``…_exact``: of the same place; ``similarity``: the sum over matched ones; ``…_right``: matched and equal; ``low`` and ``high``: gold
    mentions of that relevance; ``relevance_right``: of any.
    """

    samples: int = 1
    malformed: int = 0
    gold_malformed: int = 0
    gold: int = 0
    gold_matched: int = 0
    gold_exact: int = 0
    similarity: float = 0
    type_right: int = 0
    relevance_right: int = 0
    low: int = 0
    low_matched: int = 0
    low_right: int = 0
    high: int = 0
    high_matched: int = 0
    high_right: int = 0
    found: int = 0
    found_matched: int = 0
    found_exact: int = 0


_FIELDS = tuple(field.name for field in fields(_TypeCounts))
_values = attrgetter(*_FIELDS)
_MALFORMED, _GOLD_MALFORMED = _FIELDS.index("malformed"), _FIELDS.index("gold_malformed")
_SUMMED = tuple((_FIELDS.index(one), _FIELDS.index(other)) for one, other in _SUMS.values())
PAIR_COUNTS: tuple[str, ...] = (*_FIELDS, *_SUMS)


def count_pairs(
    gold: Iterable[AnnotatedMention],
    found: Iterable[AnnotatedMention],
    pairs: Iterable[MentionPair],
    *,
    malformed: tuple[int, int] = (0, 0),
    relevance_of: Callable[[AnnotatedMention], str | None] = attrgetter("relevance"),
) -> dict[str, list[float]]:
    """Return the counts, in the order of ``PAIR_COUNTS``, by type and over all types.

    *malformed*: how many entries of the gold and of the predicted document are no mention. A type or a relevance that the prediction does
    not state is never right. *relevance_of* returns "high", "low", another word that counts as neither, or None.
    """
    types: dict[str, _TypeCounts] = {}
    for mention in gold:
        row = _row(types, mention)
        row.gold += 1
        said = relevance_of(mention)
        row.low += said == "low"
        row.high += said == "high"
    for mention in found:
        _row(types, mention).found += 1
    for one, other, similarity in pairs:
        exact = one.place is not None and one.place == other.place
        row, answer = _row(types, one), _row(types, other)
        row.gold_matched += 1
        answer.found_matched += 1
        row.gold_exact += exact
        answer.found_exact += exact
        row.similarity += similarity
        row.type_right += other.entity_type is not None and other.entity_type == one.entity_type
        said = relevance_of(one)
        right = said is not None and said == relevance_of(other)
        row.relevance_right += right
        if said == "low":
            row.low_matched += 1
            row.low_right += right
        elif said == "high":
            row.high_matched += 1
            row.high_right += right
    counts = {name: _listed(row) for name, row in types.items()}
    return {OVERALL: _overall(counts.values(), malformed), **counts}


def _row(types: dict[str, _TypeCounts], mention: AnnotatedMention) -> _TypeCounts:
    key = type_key(mention)
    if key not in types:
        types[key] = _TypeCounts()
    return types[key]


def _listed(row: _TypeCounts) -> list[float]:
    values: list[float] = list(_values(row))
    return values + [values[one] + values[other] for one, other in _SUMMED]


def _overall(rows: Iterable[list[float]], malformed: tuple[int, int]) -> list[float]:
    total = list(map(fsum, zip(*rows, strict=True))) or [0.0] * len(PAIR_COUNTS)
    total[0] = 1
    total[_GOLD_MALFORMED], total[_MALFORMED] = malformed
    return total
