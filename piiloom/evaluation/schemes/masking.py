"""Which of a text is masked, and whether a mention is: the one definition for all figures about masking.

A mention is covered if each of its letters and digits lies in a masked range, so that blanks, hyphens and brackets may stay. If it has
neither letters nor digits, what counts is all that is not blank. Several ranges may cover it together, and of whatever type.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from piiloom.evaluation.inputs.documents import Document, Mention

Place = tuple[int, int]


class Ranges:
    """Half-open ranges of a text, in any order; they may overlap and repeat."""

    __slots__ = ("_reach", "_starts")

    def __init__(self, places: Iterable[Place]) -> None:
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


def masked_ranges(document: Document) -> Ranges:
    """Return what a masker takes out that masks what is not relevant: predicted mentions, but for those of high relevance.

    Predictions that state no relevance are all masked.
    """
    return Ranges(one.place for one in document.mentions if one.place is not None and one.relevance != "high")


def found_ranges(document: Document) -> Ranges:
    """Return all that is predicted."""
    return Ranges(one.place for one in document.mentions if one.place is not None)


def is_covered(mention: Mention, ranges: Ranges) -> bool:
    """Return whether *mention* is covered; what has no place is not."""
    start, text = mention.start, mention.text
    if start is None:
        return False
    return ranges.hold(start, start + len(text)) or not ranges.uncovered(start, counting(text))
