"""Choose among matches that overlap."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from piiloom.patterns.engine import Match

THRESHOLD: Final = 0.5
_PER_CHARACTER: Final = 0.01  # of a long and a short match of about equal scores the long one is meant


def disjoint(matches: Iterable[Match], *, threshold: float = THRESHOLD) -> list[Match]:
    """Return matches with a score of at least *threshold* that do not overlap, in text order.

    The surest is chosen first, where each code point counts as 0.01; then the one with the higher priority, then the earlier one.
    """
    ranked = sorted(
        (one for one in matches if one.score >= threshold),
        key=lambda one: (-one.score - _PER_CHARACTER * (one.end - one.start), -one.entity.priority, one.start, one.entity.id),
    )
    chosen: list[Match] = []
    for match in ranked:
        if all(match.end <= other.start or other.end <= match.start for other in chosen):
            chosen.append(match)
    return sorted(chosen, key=lambda one: one.start)
