"""Find the mentions of values in a context, and choose among overlapping mentions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.corpus.mention_search import exact_mentions

Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Mentions as (range, index of the value).

    ``kept`` are disjoint and sorted; ``dropped`` has the others, each with the range of the kept mention that it overlaps.
    """

    kept: tuple[tuple[Range, int], ...]
    dropped: tuple[tuple[Range, int, Range], ...]


def keep_disjoint(mentions: Iterable[tuple[Range, int]]) -> Placed:
    """Of overlapping mentions keep the longest, of equally long ones the earliest (of equal ranges the first value)."""
    kept: list[tuple[Range, int]] = []
    dropped: list[tuple[Range, int, Range]] = []
    for (start, end), value in sorted(mentions, key=lambda m: (m[0][0] - m[0][1], m[0][0], m[1])):
        at = bisect_left(kept, ((start, end), -1))  # kept is sorted and disjoint, so only the two neighbors can overlap
        winner = next((other for other, _ in kept[max(at - 1, 0) : at + 1] if start < other[1] and other[0] < end), None)
        if winner is None:
            kept.insert(at, ((start, end), value))
        else:
            dropped.append(((start, end), value, winner))
    return Placed(kept=tuple(kept), dropped=tuple(sorted(dropped)))


def find_values(context: str, values: Sequence[str]) -> list[list[Range]]:
    """Return for each value its exact whole-word mentions in *context* (``piiloom.corpus.word_edges`` defines whole words)."""
    return [exact_mentions(context, value) for value in values]


def place_values(context: str, values: Sequence[str]) -> Placed:
    """Return the disjoint mentions of *values* in *context*."""
    found = find_values(context, values)
    return keep_disjoint((place, number) for number, places in enumerate(found) for place in places)
