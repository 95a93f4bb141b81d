"""Phase III, first part: of candidates that lie within one another or overlap, keep one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from piiloom.detection.hybrid.candidates import EntityCandidate
from piiloom.patterns.resolving import SURER, disjoint

_HAS_PARTS: Final = "location"


def consolidated(candidates: Iterable[EntityCandidate], threshold: float) -> list[EntityCandidate]:
    """Return those of *candidates* that reach *threshold* and do not overlap, in text order.

    Of two of which one contains the other, the one stays that begins first; of those that begin together, the one of the higher priority,
    then the longer one. But what contains a structured value (a number, a code) of a higher priority that is at least as sure (if it is
    structured itself, clearly surer) goes first of all, unless it is a location: addresses have parts. Of two that overlap only in part,
    the surer one stays. The order of *candidates* does not matter.
    """
    sure = sorted((one for one in candidates if one.score >= threshold), key=_order)
    starts = [one.start for one in sure]
    kept: list[EntityCandidate] = []
    for one in sure:
        # All that are kept begin before it or with it, and the last of them ends last.
        if (not kept or (kept[-1].end < one.end and kept[-1].start < one.start)) and not _around_something_surer(one, sure, starts):
            kept.append(one)
    return disjoint(kept, threshold=threshold)


def _order(one: EntityCandidate) -> tuple[object, ...]:
    return (one.start, -one.entity.priority, -one.end, *one.rank)


def _around_something_surer(one: EntityCandidate, sure: Sequence[EntityCandidate], starts: Sequence[int]) -> bool:
    if one.entity.entity_type == _HAS_PARTS:
        return False
    least = one.score + (SURER if one.entity.structured else 0.0)
    for other in sure[bisect_left(starts, one.start) : bisect_left(starts, one.end)]:
        if other.end <= one.end and other.entity.structured and other.score >= least and other.entity.priority > one.entity.priority:
            return True
    return False
