"""Mentions as types and places: which are the same on both sides, and what is left of each side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from piiloom.evaluation.inputs.documents import Document
from piiloom.evaluation.schemes.base import OVERALL, type_key

# The key of the type, start, end.
Placed = tuple[str, int, int]
# Instead of the place of a mention that has none: it overlaps nothing, not even itself.
_NOWHERE = (-1, -1)


def compared(gold: Document, found: Document) -> tuple[list[Placed], list[Placed], list[Placed]]:
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


def add_by_type(counts: dict[str, list[float]], column: int, types: Iterable[str], columns: int) -> None:
    """Add 1 in *column* to the counts of each of *types* and to those over all."""
    overall = counts[OVERALL]
    for name in types:
        overall[column] += 1
        if name not in counts:
            counts[name] = [0] * columns
        counts[name][column] += 1


def types_of(mentions: Sequence[Placed]) -> Iterable[str]:
    """Return the type of each of *mentions*."""
    return (name for name, _, _ in mentions)


def _placed(document: Document) -> tuple[list[Placed], list[Placed]]:
    """Return the mentions with a place, and those without."""
    placed: list[Placed] = []
    without: list[Placed] = []
    for one in document.mentions:
        if one.start is None or one.end is None:
            without.append((type_key(one), *_NOWHERE))
        else:
            placed.append((type_key(one), one.start, one.end))
    return placed, without
