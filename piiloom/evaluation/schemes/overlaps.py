"""Pairs of overlapping mentions of two sides, each in one pair at most: as many as there can be, in whatever order they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TypeVar

from piiloom.evaluation.schemes.places import Placed

T = TypeVar("T")
# Index of a gold mention, index of a found one, weight of the pair.
Edge = tuple[int, int, int]


def overlap_groups(
    gold: Sequence[tuple[T, int, int]], found: Sequence[tuple[T, int, int]]
) -> Iterator[tuple[list[tuple[T, int, int]], list[tuple[T, int, int]]]]:
    """Yield the gold and found mentions of each stretch of text that is covered without a gap, if both sides have some there.

    *gold*, *found*: whatever is at a place, its start and its end. Both come in text order, those of one place in the order given.
    """
    if not gold or not found:
        return
    group: tuple[list[tuple[T, int, int]], list[tuple[T, int, int]]] = ([], [])
    reach = 0
    for one, side in sorted([(one, 0) for one in gold] + [(one, 1) for one in found], key=_place):
        if one[1] >= reach:
            if group[0] and group[1]:
                yield group
            group = ([], [])
        group[side].append(one)
        reach = max(reach, one[2])
    if group[0] and group[1]:
        yield group


def _place(entry: tuple[tuple[T, int, int], int]) -> tuple[int, int]:
    (_, start, end), _ = entry
    return start, end


def overlap_edges(gold: Sequence[Placed], found: Sequence[Placed], percent: float = 0) -> list[Edge]:
    """Return all pairs that have a character in common, and at least *percent* of the gold mention; each is worth 1."""
    edges = []
    for row, (_, start, end) in enumerate(gold):
        for column, (_, other_start, other_end) in enumerate(found):
            shared = min(end, other_end) - max(start, other_start)
            if shared > 0 and shared * 100 >= percent * (end - start):
                edges.append((row, column, 1))
    return edges


def greatest_weight(edges: Sequence[Edge]) -> int:
    """Return the greatest sum of weights of pairs among *edges* of which no two share a mention. All weights are positive.

    For edges of equal weight this is up to 50 times as fast as ``assignment.best_assignment``, which is for weights that all differ, and
    says which pairs they are.
    """
    if not edges:
        return 0
    rows, columns = {row for row, _, _ in edges}, {column for _, column, _ in edges}
    if len(rows) == 1 or len(columns) == 1:
        return max(weight for _, _, weight in edges)
    weights: dict[int, dict[int, int]] = {}
    for row, column, weight in edges:
        side, other = (row, column) if len(rows) <= len(columns) else (column, row)  # there are as many rounds as on the smaller side
        weights.setdefault(side, {})[other] = weight
    partners: dict[int, int] = {}  # of the second side
    gain = max(weight for _, _, weight in edges)
    while gain:
        gain = _improve(weights, partners, gain)
    return sum(weights[one][other] for other, one in partners.items())


def _improve(weights: dict[int, dict[int, int]], partners: dict[int, int], most: int) -> int:
    """Add a pair along the path that gains most, changing other pairs on the way; return the gain, 0 if there is none.

    This is the method of successive augmenting paths: *partners* is worth most among the choices of as many pairs, before and after, and
    no path gains more than the one before it did: *most*.
    """
    paired = {one: other for other, one in partners.items()}
    gains = {one: 0 for one in weights if one not in paired}  # what there is to gain by giving this one another partner
    reached: dict[int, int] = {}
    came_from: dict[int, int] = {}
    last, best = None, 0
    waiting = deque(gains)
    while waiting and best < most:
        one = waiting.popleft()
        for other, weight in weights[one].items():
            gain = gains[one] + weight
            if paired.get(one) == other or gain <= reached.get(other, gain - 1):
                continue
            reached[other], came_from[other] = gain, one
            rival = partners.get(other)
            if rival is None:
                if gain > best:
                    last, best = other, gain
            elif (left := gain - weights[rival][other]) > gains.get(rival, left - 1):
                gains[rival] = left
                waiting.append(rival)
    while last is not None:
        one = came_from[last]
        partners[last] = one
        last = paired.get(one)
    return best
