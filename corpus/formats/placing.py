"""Putting mentions into a context: where values are, and which of overlapping mentions stay."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.corpus.mention_search import exact_mentions

Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Mentions as (range, number of the value): ``kept`` are disjoint and sorted; ``dropped`` pairs each other mention with its winner."""

    kept: tuple[tuple[Range, int], ...]
    dropped: tuple[tuple[Range, int, Range], ...]


def keep_disjoint(mentions: Iterable[tuple[Range, int]]) -> Placed:
    """Of overlapping mentions keep the longest, of equally long ones the earliest (of equal ranges the first value)."""
    kept: list[tuple[Range, int]] = []
    dropped: list[tuple[Range, int, Range]] = []
    for (start, end), value in sorted(mentions, key=lambda m: (m[0][0] - m[0][1], m[0][0], m[1])):
        at = bisect_left(kept, ((start, end), -1))  # kept is sorted and disjoint: only the neighbours can overlap
        winner = next((other for other, _ in kept[max(at - 1, 0) : at + 1] if start < other[1] and other[0] < end), None)
        if winner is None:
            kept.insert(at, ((start, end), value))
        else:
            dropped.append(((start, end), value, winner))
    return Placed(kept=tuple(kept), dropped=tuple(sorted(dropped)))


def find_values(context: str, values: Sequence[str]) -> list[list[Range]]:
    """For each value its whole-word mentions in *context*, exactly as spelt (``piiloom.corpus.word_edges`` says what whole is)."""
    return [exact_mentions(context, value) for value in values]


def place_values(context: str, values: Sequence[str]) -> Placed:
    """The disjoint mentions of *values* in *context*."""
    found = find_values(context, values)
    return keep_disjoint((place, number) for number, places in enumerate(found) for place in places)
