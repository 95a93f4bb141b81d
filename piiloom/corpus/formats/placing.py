"""Find the mentions of values in a context, and choose among overlapping mentions.

A value is mentioned wherever it is a whole word. A value that is no whole word anywhere has an exact place all the same if it is one
side of a seam, where a digit and a letter meet (``29`` and ``F`` in ``29F``), and there is just one such place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.corpus.mention_search import Range, ends_at_seams, exact_mentions, occurrences, without_overlaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Mentions as (range, index of the value).

    ``kept`` are disjoint and sorted; ``dropped`` has the others, each with the range of the kept mention that it overlaps.
    """

    kept: tuple[tuple[Range, int], ...]
    dropped: tuple[tuple[Range, int, Range], ...]


def keep_disjoint(mentions: Iterable[tuple[Range, int]]) -> Placed:
    """Of overlapping mentions keep the longest, of equally long ones the earliest (of equal ranges the first value)."""
    longest_first = sorted(mentions, key=lambda m: (m[0][0] - m[0][1], m[0][0], m[1]))
    kept, dropped = without_overlaps(longest_first, lambda m: m[0])
    return Placed(kept=tuple(kept), dropped=tuple(sorted((*lost, winner) for lost, (winner, _) in dropped)))


def find_values(context: str, values: Sequence[str]) -> list[list[Range]]:
    """Return for each value its exact mentions in *context*: whole words (``mention_search``), or else its place at a seam."""
    return [exact_mentions(context, value) or _at_seam(context, value) for value in values]


def _at_seam(context: str, value: str) -> list[Range]:
    """Return the only place of *value* that begins and ends at an edge of a word or at a seam; none if there are several."""
    found = [place for place in occurrences(context, value) if ends_at_seams(context, *place)]
    return found if len(found) == 1 else []


def place_values(context: str, values: Sequence[str]) -> Placed:
    """Return the disjoint mentions of *values* in *context*."""
    found = find_values(context, values)
    return keep_disjoint((place, number) for number, places in enumerate(found) for place in places)
