"""Mentions by their places: those of the same type and place on both sides, and pairs of those that overlap, one to one.

Counts of mentions that were paired, by type, are shared by ``capid`` and ``capid-strict``.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import fsum, lcm
from operator import attrgetter
from typing import TypeVar

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention
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


# What is counted of one type in one document. The first three are of the document; ``gold`` to ``high_right`` are of gold mentions of the
# type, ``found`` to ``found_exact`` of predicted ones that say the type. ``…_exact``: of the same place; ``similarity``: the sum over
# matched ones; ``…_right``: matched and equal; ``low`` and ``high``: gold mentions of that relevance; ``relevance_right``: of any.
_FIELDS = (
    *("samples", "malformed", "gold_malformed"),
    *("gold", "gold_matched", "gold_exact", "similarity", "type_right", "relevance_right"),
    *("low", "low_matched", "low_right", "high", "high_matched", "high_right"),
    *("found", "found_matched", "found_exact"),
)
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
    types: defaultdict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(_FIELDS, 0.0) | {"samples": 1.0})
    for mention in gold:
        row = types[type_key(mention)]
        row["gold"] += 1
        said = relevance_of(mention)
        if said in ("low", "high"):
            row[said] += 1
    for mention in found:
        types[type_key(mention)]["found"] += 1
    for one, other, similarity in pairs:
        exact = one.place is not None and one.place == other.place
        row, answer = types[type_key(one)], types[type_key(other)]
        row["gold_matched"] += 1
        answer["found_matched"] += 1
        row["gold_exact"] += exact
        answer["found_exact"] += exact
        row["similarity"] += similarity
        row["type_right"] += other.entity_type is not None and other.entity_type == one.entity_type
        said = relevance_of(one)
        right = said is not None and said == relevance_of(other)
        row["relevance_right"] += right
        if said in ("low", "high"):
            row[f"{said}_matched"] += 1
            row[f"{said}_right"] += right
    counts = {name: [*row.values(), *(row[one] + row[other] for one, other in _SUMS.values())] for name, row in types.items()}
    total = dict.fromkeys(PAIR_COUNTS, 0.0) | dict(zip(PAIR_COUNTS, map(fsum, zip(*counts.values(), strict=True)), strict=False))
    total |= {"samples": 1, "malformed": malformed[1], "gold_malformed": malformed[0]}
    return {OVERALL: list(total.values()), **counts}


# The key of the type, start, end.
Placed = tuple[str, int, int]
# Instead of the place of a mention that has none: it overlaps nothing, not even itself.
_NOWHERE = (-1, -1)
_NONE = -1
T = TypeVar("T")
# Index of a gold mention, index of a found one, weight of the pair.
Edge = tuple[int, int, int]
# A mention, its start and its end.
_Placed = tuple[AnnotatedMention, int, int]


def compared(gold: AnnotatedDocument, found: AnnotatedDocument) -> tuple[list[Placed], list[Placed], list[Placed]]:
    """Return the mentions of the same type and place on both sides, those of *gold* alone, and those of *found* alone.

    Each mention counts once, and repeated ones as often as they are there. What has no place is equal to no other.
    """
    wanted, lost = _placed(gold)
    given, idle = _placed(found)
    same, missed, spurious = in_common(wanted, given)
    return same, missed + lost, spurious + idle


def in_common(gold: Iterable[Placed], found: Iterable[Placed]) -> tuple[list[Placed], list[Placed], list[Placed]]:
    """Return the intersection of two multisets, the rest of *gold*, and the rest of *found*."""
    free: dict[Placed, int] = {}
    for one in gold:
        free[one] = free.get(one, 0) + 1
    same, spurious = [], []
    for one in found:
        left = free.get(one, 0)
        if left:
            free[one] = left - 1
            same.append(one)
        else:
            spurious.append(one)
    return same, [one for one, left in free.items() for _ in range(left)], spurious


def count_types(groups: Sequence[Sequence[Placed]], columns: int) -> dict[str, list[float]]:
    """Return counts by type and over all, of so many *columns*; the first ones have the numbers of mentions of *groups*."""
    counts: dict[str, list[float]] = {OVERALL: [0] * columns}
    overall = counts[OVERALL]
    for column, mentions in enumerate(groups):
        for name, _, _ in mentions:
            overall[column] += 1
            if name not in counts:
                counts[name] = [0] * columns
            counts[name][column] += 1
    return counts


def _placed(document: AnnotatedDocument) -> tuple[list[Placed], list[Placed]]:
    """Return the mentions with a place, and those without."""
    placed: list[Placed] = []
    without: list[Placed] = []
    for one in document.mentions:
        if one.start is None or one.end is None:
            without.append((type_key(one), *_NOWHERE))
        else:
            placed.append((type_key(one), one.start, one.end))
    return placed, without


def best_assignment(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the (row, column) pairs, by row, of a one-to-one assignment whose sum of weights is greatest. Pairs of weight 0 are left out.

    *weights* has the shape (rows, columns), at least one of each, and no negative number. The same weights always give the same pairs.
    This is the Hungarian algorithm: O(n²m) steps for n ≤ m rows and columns, or columns and rows. Where many mentions
    overlap one another and weights differ, it is up to 8 times as fast as ``overlaps.greatest_weight``.
    """
    if len(weights) > len(weights[0]):
        return sorted((row, column) for column, row in best_assignment(list(zip(*weights, strict=True))))
    row_of = [_NONE] * len(weights[0])
    row_prices, column_prices = [0] * len(weights), [0] * len(weights[0])
    for row in range(len(weights)):
        _add_row(row, weights, row_of, row_prices, column_prices)
    return sorted((row, column) for column, row in enumerate(row_of) if row != _NONE and weights[row][column])


def _add_row(row: int, weights: Sequence[Sequence[int]], row_of: list[int], row_prices: list[int], column_prices: list[int]) -> None:
    """Give *row* a column, moving earlier rows to other columns where that is worth more.

    A pair costs minus its weight. Prices keep ``cost >= row price + column price``, with equality for assigned pairs, so that Dijkstra's
    search along what a pair costs more than its prices finds the cheapest way to a free column.
    """
    waiting = set(range(len(row_of)))
    distance: dict[int, int] = {}
    before: dict[int, int] = {}
    current, last, reached = row, _NONE, 0
    while current != _NONE:
        for column in waiting:
            this = reached - weights[current][column] - row_prices[current] - column_prices[column]
            if column not in distance or this < distance[column]:
                distance[column], before[column] = this, last
        last = min(waiting, key=lambda column: (distance[column], column))
        reached = distance[last]
        waiting.remove(last)
        current = row_of[last]
    row_prices[row] += reached
    for column in before.keys() - waiting - {last}:
        row_prices[row_of[column]] += reached - distance[column]
        column_prices[column] -= reached - distance[column]
    while last != _NONE:
        row_of[last] = row if before[last] == _NONE else row_of[before[last]]
        last = before[last]


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


def place_pairs(gold: Iterable[AnnotatedMention], found: Iterable[AnnotatedMention]) -> list[MentionPair]:
    """Return the pairs with the greatest total similarity: characters in common / characters of both together.

    Each mention is in one pair at most; what does not overlap is in none. Among equal totals those with more pairs win, then more equal
    types, then more equal relevances, then those that come first in the order of places, types and relevances. So the order of the
    mentions does not matter.

    Mentions of the same place are paired first; since 1 - similarity is a metric (Jaccard's), that is always part of a best choice. The
    rest falls apart into groups that overlap, in most texts of two or three mentions. A group of n and m ≥ n takes O(n²m) steps.
    """
    wanted, given = _sorted(gold), _sorted(found)
    same = _same_places(wanted, given)
    pairs = [(wanted[one][0], given[other][0], 1.0) for one, other in same]
    for golds, founds in overlap_groups(_without(wanted, {one for one, _ in same}), _without(given, {other for _, other in same})):
        pairs.extend(_best(golds, founds))
    return pairs


def _sorted(mentions: Iterable[AnnotatedMention]) -> list[_Placed]:
    placed = [(one, *one.place) for one in mentions if one.place]
    return sorted(placed, key=_key)


def _key(one: _Placed) -> tuple[int, int, str, str]:
    mention, start, end = one
    return start, end, mention.entity_type or "", mention.relevance or ""


def _without(mentions: Sequence[_Placed], taken: set[int]) -> list[_Placed]:
    return [one for at, one in enumerate(mentions) if at not in taken]


def _same_places(golds: Sequence[_Placed], founds: Sequence[_Placed]) -> list[tuple[int, int]]:
    """Pair (by index) mentions of the same place: those of the same type and relevance first, then those of the same type."""
    pairs: list[tuple[int, int]] = []
    gold_keys, found_keys = dict(enumerate(map(_key, golds))), dict(enumerate(map(_key, founds)))
    for compared in (4, 3, 2):
        waiting: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for at in reversed(found_keys):
            waiting[found_keys[at][:compared]].append(at)
        same = [(at, waiting[key[:compared]].pop()) for at, key in gold_keys.items() if waiting.get(key[:compared])]
        for gold, found in same:
            del gold_keys[gold], found_keys[found]
        pairs.extend(same)
    return pairs


def _best(golds: Sequence[_Placed], founds: Sequence[_Placed]) -> Iterator[MentionPair]:
    shared = [[max(0, min(one[2], other[2]) - max(one[1], other[1])) for other in founds] for one in golds]
    unions = [
        [one[2] - one[1] + other[2] - other[1] - common for other, common in zip(founds, row, strict=True)]
        for one, row in zip(golds, shared, strict=True)
    ]
    if len(golds) == len(founds) == 1:
        chosen = [(0, 0)] if shared[0][0] else []
    else:
        chosen = best_assignment(_weights(golds, founds, shared, unions))
    for row, column in chosen:
        yield golds[row][0], founds[column][0], shared[row][column] / unions[row][column]


def _weights(
    golds: Sequence[_Placed], founds: Sequence[_Placed], shared: Sequence[Sequence[int]], unions: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Return integers that are ordered as (similarity, pairs, equal types, equal relevances), and whose sums are, too.

    *shared*, *unions*: characters in common, and of both together, of the shape (gold, found).
    """
    overlapping = [union for row, counts in zip(unions, shared, strict=True) for union, common in zip(row, counts, strict=True) if common]
    whole = lcm(*overlapping)
    base = min(len(golds), len(founds)) + 1
    return [
        [
            ((common * (whole // union) * base + 1) * base + _same(one.entity_type, other.entity_type)) * base
            + _same(one.relevance, other.relevance)
            if common
            else 0
            for (other, _, _), common, union in zip(founds, counts, row, strict=True)
        ]
        for (one, _, _), counts, row in zip(golds, shared, unions, strict=True)
    ]


def _same(gold: str | None, found: str | None) -> bool:
    return gold is not None and gold == found
