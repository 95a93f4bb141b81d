"""Which letters to type after `/` so that a new span begins at its first word with the fewest presses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from piiloom.annotation_app.documents.document import SpanMark

WORD = re.compile(r"\w+(?:['’.,]\w+)*")


@dataclass(frozen=True)
class Search:
    """Letters to type; the match wanted is number ``place`` of ``count``; ``presses`` are all until the span has its ends."""

    letters: str
    place: int
    count: int
    presses: int

    def steps(self, shown: int) -> int:
        """How often to press the arrow down (up if negative) when match number *shown* is the current one."""
        down = (self.place - shown) % self.count
        return down if down <= self.count - down else down - self.count


def cheapest_search(context: str, wanted: SpanMark, begin: int) -> Search | None:
    """The cheapest of all beginnings of the value, where the search begins at *begin*; None when the value begins within a word."""
    if wanted.start and context[wanted.start - 1].isalnum():
        return None
    value = context[wanted.start : wanted.end]
    searches = [_search(context, wanted.start, begin, value, length) for length in range(1, len(value) + 1)]
    return min((one for one in searches if one is not None), key=lambda one: one.presses, default=None)


def _search(context: str, start: int, begin: int, value: str, length: int) -> Search | None:
    letters = value[:length].lower()
    pattern = re.compile(r"\s+".join(map(re.escape, re.split(r"\s+", letters))), re.IGNORECASE)
    places = [match.start() for match in pattern.finditer(context)]
    if letters != letters.rstrip() or start not in places:
        return None
    first = next((i for i, place in enumerate(places) if place >= begin), 0)
    found = Search(letters, places.index(start), len(places), 0)
    grown = len(WORD.findall(value)) - len(WORD.findall(value[:length]))
    return Search(letters, found.place, found.count, 2 + length + abs(found.steps(first)) + grown)
