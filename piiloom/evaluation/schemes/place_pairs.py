"""Pair gold and predicted mentions by their places, one to one, so that the pairs are as alike as they can be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import lcm

from piiloom.evaluation.inputs.documents import Mention
from piiloom.evaluation.schemes.assignment import best_assignment
from piiloom.evaluation.schemes.overlaps import overlap_groups
from piiloom.evaluation.schemes.pair_counts import MentionPair

# A mention, its start and its end.
_Placed = tuple[Mention, int, int]


def place_pairs(gold: Iterable[Mention], found: Iterable[Mention]) -> list[MentionPair]:
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


def _sorted(mentions: Iterable[Mention]) -> list[_Placed]:
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
