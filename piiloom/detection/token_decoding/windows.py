"""Windows over the tokens of a text that is longer than a model reads at once.

Windows overlap; each token is judged in the window where it has more around it. They begin where a word does, unless a word is longer than
a window. A text that fits is one window.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class TokenWindow(NamedTuple):
    """The model reads the tokens ``[first, last)``; what it says of ``[own_first, own_last)`` counts. Own ranges cover a text once."""

    first: int
    last: int
    own_first: int
    own_last: int


def windows_of(count: int, limit: int, overlap: int, word_starts: Sequence[int]) -> list[TokenWindow]:
    """Return the windows over *count* tokens, at most *limit* each, about *overlap* of them shared with the next one.

    *word_starts* are the numbers of tokens that begin a word, ascending.
    """
    if not 0 <= overlap < limit:
        raise ValueError("the overlap must be smaller than a window")
    ranges: list[tuple[int, int]] = []
    first = 0
    while True:
        last = min(first + limit, count)
        if last > first:
            ranges.append((first, last))
        if last >= count:
            break
        first = _next_start(first, last - overlap, word_starts)
    middles = [(later[0] + earlier[1]) // 2 for earlier, later in pairwise(ranges)]
    borders = [0, *middles, count]
    return [TokenWindow(*one, borders[number], borders[number + 1]) for number, one in enumerate(ranges)]


def _next_start(first: int, latest: int, word_starts: Sequence[int]) -> int:
    """The last beginning of a word in ``(first, latest]``, or *latest* if there is none."""
    at = bisect_right(word_starts, latest) - 1
    return word_starts[at] if at >= 0 and word_starts[at] > first else max(latest, first + 1)
