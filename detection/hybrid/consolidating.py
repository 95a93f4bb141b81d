"""Phase III, first part: of candidates that lie within one another or overlap, keep one."""

from __future__ import annotations

from collections.abc import Iterable

from piiloom.detection.hybrid.candidates import Candidate, surest


def consolidated(candidates: Iterable[Candidate], threshold: float) -> list[Candidate]:
    """Return those of *candidates* that reach *threshold* and do not overlap, in text order.

    Of two of which one contains the other, the one stays that begins first; of those that begin together, the one of the higher priority,
    then the longer one. Of those that overlap only in part, the surer one stays. The order of *candidates* does not matter.
    """
    kept: list[Candidate] = []
    for one in sorted((one for one in candidates if one.score >= threshold), key=_order):
        # All that are kept begin before it or with it, and the last of them ends last.
        if not kept or (kept[-1].end < one.end and kept[-1].start < one.start):
            kept.append(one)
    return surest(kept, threshold)


def _order(one: Candidate) -> tuple[object, ...]:
    return (one.start, -one.entity.priority, -one.end, *one.rank)
