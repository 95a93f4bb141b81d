"""Counts over all documents: mentions by kind of error, type, length, place, locale and subject, and which types are confused."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from piiloom.evaluation.gallery.errors import BOUNDARY, Kind, Row
from piiloom.evaluation.inputs.documents import Mention, Pair

Dimension = Literal["type", "characters", "words", "position", "locale", "subject"]
DIMENSIONS: tuple[Dimension, ...] = ("type", "characters", "words", "position", "locale", "subject")

NO_TYPE = "no type"
NOT_STATED = "not stated"
NO_PLACE = "no place"
MISSED, SPURIOUS = "missed", "spurious"
TENTHS = 10
# The first length of each bin; the last is open.
_CHARACTERS = (1, 5, 10, 15, 20, 30, 50)
_WORDS = (1, 2, 3, 4, 5, 8)


class ErrorCounts:
    """Counts of mentions: each gold mention counts once, by the kind of its row, and each predicted one that no gold mention goes with.

    ``kinds`` are their sums; ``by`` has them by dimension, (label, kind) → mentions; ``confusion`` is (gold type, predicted type) →
    mentions, where None stands for no mention on that side. Of a split mention, the matrix has the gold type with that type among the
    predicted ones, or with the one that was aligned.
    """

    def __init__(self) -> None:
        self.documents = 0
        self.with_errors = 0
        self.gold = 0
        self.found = 0
        self.kinds = Counter[Kind]()
        self.by: dict[Dimension, Counter[tuple[str, Kind]]] = {name: Counter() for name in DIMENSIONS}
        self.confusion = Counter[tuple[str | None, str | None]]()

    def add(self, pair: Pair, rows: Sequence[Row]) -> None:
        """Count the *rows* of *pair*."""
        text = pair.gold.text if pair.gold.text is not None else pair.found.text
        locale = pair.gold.locale or pair.found.locale or NOT_STATED
        self.documents += 1
        self.with_errors += any(row.kind != "correct" for row in rows)
        self.gold += len(pair.gold.mentions)
        self.found += len(pair.found.mentions)
        for row in rows:
            for mention in row.counted:
                self.kinds[row.kind] += 1
                self.by["type"][type_name(mention), row.kind] += 1
                self.by["characters"][bin_label(len(mention.text), _CHARACTERS), row.kind] += 1
                self.by["words"][bin_label(len(mention.text.split()), _WORDS), row.kind] += 1
                self.by["position"][_tenth(mention, text), row.kind] += 1
                self.by["locale"][locale, row.kind] += 1
                self.by["subject"][mention.subject or NOT_STATED, row.kind] += 1
                self.confusion[_confused(mention, row)] += 1

    def labels(self, dimension: Dimension) -> list[str]:
        """Return the labels that occur: bins in their order, others by mentions (most first) and name."""
        totals = Counter[str]()
        for (label, _), number in self.by[dimension].items():
            totals[label] += number
        order = _ORDER.get(dimension)
        return sorted(totals, key=lambda label: (order.index(label) if order else -totals[label], label))

    def of(self, dimension: Dimension, label: str, kinds: Sequence[Kind]) -> int:
        """Return the mentions with *label* whose kind is among *kinds*."""
        return sum(self.by[dimension][label, kind] for kind in kinds)


# Kinds in four classes, as charts show them.
CLASSES: dict[str, tuple[Kind, ...]] = {
    "correct": ("correct",),
    "wrong type, boundary or relevance": ("wrong type", *BOUNDARY, "wrong relevance"),
    MISSED: ("missed",),
    SPURIOUS: ("spurious", "not in the text"),
}


def type_name(mention: Mention) -> str:
    """Return the type, or a name for having none."""
    return NO_TYPE if mention.entity_type is None else mention.entity_type


def bin_label(number: int, edges: Sequence[int]) -> str:
    """Return ``5–9``, or ``50+`` for the last bin; what is below the first is in it."""
    place = max(0, bisect_right(edges, number) - 1)
    if place == len(edges) - 1:
        return f"{edges[place]}+"
    last = edges[place + 1] - 1
    return f"{edges[place]}" if edges[place] == last else f"{edges[place]}–{last}"


def _tenth(mention: Mention, text: str | None) -> str:
    if mention.start is None or mention.end is None or not text:
        return NO_PLACE
    return str(min(TENTHS - 1, TENTHS * mention.start // len(text)) + 1)


def _confused(mention: Mention, row: Row) -> tuple[str | None, str | None]:
    if not row.gold:
        return None, type_name(mention)
    if not row.found:
        return type_name(mention), None
    given = [type_name(one) for one in row.found]
    return type_name(mention), type_name(mention) if type_name(mention) in given else given[0]


_ORDER: dict[Dimension, list[str]] = {
    "characters": [bin_label(edge, _CHARACTERS) for edge in _CHARACTERS],
    "words": [bin_label(edge, _WORDS) for edge in _WORDS],
    "position": [*(str(tenth) for tenth in range(1, TENTHS + 1)), NO_PLACE],
}
