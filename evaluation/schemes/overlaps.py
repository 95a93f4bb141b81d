"""Pairs of overlapping mentions of two sides, each in one pair at most: as many as there can be, in whatever order they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from piiloom.evaluation.schemes.places import Placed

# Index of a gold mention, index of a found one, worth of the pair.
Link = tuple[int, int, int]


def clusters(gold: Sequence[Placed], found: Sequence[Placed]) -> Iterator[tuple[list[Placed], list[Placed]]]:
    """Yield the gold and found mentions of each stretch of text that is covered without a gap, if both sides have some there."""
    if not gold or not found:
        return
    places = [(start, end, name, 0) for name, start, end in gold] + [(start, end, name, 1) for name, start, end in found]
    places.sort()
    cluster: tuple[list[Placed], list[Placed]] = ([], [])
    reach = places[0][0]
    for start, end, name, side in places:
        if start >= reach:
            if cluster[0] and cluster[1]:
                yield cluster
            cluster = ([], [])
        cluster[side].append((name, start, end))
        reach = max(reach, end)
    if cluster[0] and cluster[1]:
        yield cluster


def links(gold: Sequence[Placed], found: Sequence[Placed], percent: float = 0) -> list[Link]:
    """Return all pairs that have a character in common, and at least *percent* of the gold mention; each is worth 1."""
    linked = []
    for row, (_, start, end) in enumerate(gold):
        for column, (_, other_start, other_end) in enumerate(found):
            shared = min(end, other_end) - max(start, other_start)
            if shared > 0 and shared * 100 >= percent * (end - start):
                linked.append((row, column, 1))
    return linked


def greatest_worth(linked: Sequence[Link]) -> int:
    """Return the greatest sum of worths of pairs among *linked* of which no two share a mention. All worths are positive."""
    if not linked:
        return 0
    rows, columns = {row for row, _, _ in linked}, {column for _, column, _ in linked}
    if len(rows) == 1 or len(columns) == 1:
        return max(worth for _, _, worth in linked)
    worths: dict[int, dict[int, int]] = {}
    for row, column, worth in linked:
        side, other = (row, column) if len(rows) <= len(columns) else (column, row)  # there are as many rounds as on the smaller side
        worths.setdefault(side, {})[other] = worth
    partners: dict[int, int] = {}  # of the second side
    gain = max(worth for _, _, worth in linked)
    while gain:
        gain = _improve(worths, partners, gain)
    return sum(worths[one][other] for other, one in partners.items())


def _improve(worths: dict[int, dict[int, int]], partners: dict[int, int], most: int) -> int:
    """Add a pair along the path that gains most, changing other pairs on the way; return the gain, 0 if there is none.

    This is the method of successive augmenting paths: *partners* is worth most among the choices of as many pairs, before and after, and
    no path gains more than the one before it did: *most*.
    """
    paired = {one: other for other, one in partners.items()}
    gains = {one: 0 for one in worths if one not in paired}  # what there is to gain by giving this one another partner
    reached: dict[int, int] = {}
    came_from: dict[int, int] = {}
    last, best = None, 0
    waiting = deque(gains)
    while waiting and best < most:
        one = waiting.popleft()
        for other, worth in worths[one].items():
            gain = gains[one] + worth
            if paired.get(one) == other or gain <= reached.get(other, gain - 1):
                continue
            reached[other], came_from[other] = gain, one
            rival = partners.get(other)
            if rival is None:
                if gain > best:
                    last, best = other, gain
            elif (left := gain - worths[rival][other]) > gains.get(rival, left - 1):
                gains[rival] = left
                waiting.append(rival)
    while last is not None:
        one = came_from[last]
        partners[last] = one
        last = paired.get(one)
    return best
