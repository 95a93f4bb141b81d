"""Which markers of an answer belong together, and which say nothing that can be used.

A pair counts if no other marker stands within it: the instruction forbids that, and where it happens some marker is lost or astray. So
the innermost of nested pairs is kept. Everything else is told with a reason:

- ``unknown_type``: a pair that names no type;
- ``empty_mark``: there is nothing between the markers;
- ``closed_as_other_type``: what was opened is closed as another type;
- ``nested``, ``doubled``, ``crossing``: around other markers; around the same mark once more; across the ends of another pair, or with
  a marker of another type, which has no counterpart, right at one end: either may be where it should not be;
- ``unclosed``, ``unopened``: a marker without its counterpart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from piiloom.corpus.record import Relevance
from piiloom.detection.marking.marker_sites import Marker
from piiloom.foundation.words import trimmed


@dataclass(frozen=True, slots=True)
class Mark:
    """A pair of markers says that ``text[start:end]`` of the answer, without its markers, is *entity_type*."""

    start: int
    end: int
    entity_type: str
    relevance: Relevance | None
    misspelt: bool


@dataclass(frozen=True, slots=True)
class LostMark:
    """A pair or a single marker that gives no mark. ``end`` equals ``start`` for a single one; ``name`` is what it calls its type."""

    start: int
    end: int
    name: str
    reason: str


@dataclass(slots=True)
class _Open:
    marker: Marker
    place: int
    number: int
    crossed: bool = False

    @property
    def called(self) -> str:
        return self.marker.entity_type or self.marker.name


class _Pairing:
    """Takes the markers of *text*, in order."""

    def __init__(self, text: str) -> None:
        self.marks: list[Mark] = []
        self.lost: list[LostMark] = []
        self._text = text
        self._open: list[_Open] = []
        self._names: Counter[str] = Counter()  # of what is open

    def take(self, number: int, marker: Marker, place: int) -> None:
        if not marker.closes:
            self._open.append(_Open(marker, place, number))
            self._names[self._open[-1].called] += 1
            return
        called = marker.entity_type or marker.name
        known = called == "" or self._names[called] > 0
        at = next((n for n in range(len(self._open) - 1, -1, -1) if called in {"", self._open[n].called}), None) if known else None
        last = self._open[-1] if self._open else None
        adjacent = last is not None and last.number == number - 1
        if at is None:
            if last is not None and adjacent:
                self._names[self._open.pop().called] -= 1
                self._lose(last, place, "closed_as_other_type")
            self.lost.append(LostMark(place, place, called, "unopened"))
            return
        opened = self._open.pop(at)
        self._names[opened.called] -= 1
        for one in self._open[at:]:
            one.crossed = True
        if adjacent and opened is last:
            self._close(opened, marker, place)
        else:
            self._lose(opened, place, self._around(opened, place, crossing=opened.crossed or opened is not last))

    def end(self) -> None:
        self.lost += (LostMark(one.place, one.place, one.called, "unclosed") for one in self._open)
        self._part_from_others()

    def _part_from_others(self) -> None:
        """Lose those marks that have a single marker of another type right before or behind them."""
        before = {self._skipped(one.start, 1): one.name for one in self.lost if one.reason == "unclosed"}
        behind = {self._skipped(one.start, -1): one.name for one in self.lost if one.reason == "unopened"}
        kept: list[Mark] = []
        for mark in self.marks:
            near = {before.get(mark.start, ""), behind.get(mark.end, "")}
            if near <= {"", mark.entity_type}:
                kept.append(mark)
            else:
                self.lost.append(LostMark(mark.start, mark.end, mark.entity_type, "crossing"))
        self.marks = kept

    def _skipped(self, place: int, step: int) -> int:
        """*place*, moved over blanks behind or before it."""
        while 0 <= (at := place if step > 0 else place - 1) < len(self._text) and self._text[at].isspace():
            place += step
        return place

    def _close(self, opened: _Open, marker: Marker, place: int) -> None:
        entity_type = opened.marker.entity_type
        start, end = trimmed(self._text, opened.place, place)
        if start == end:
            self._lose(opened, place, "empty_mark")
        elif entity_type is None:
            self._lose(opened, place, "unknown_type")
        else:
            misspelt = opened.marker.misspelt or marker.misspelt
            self.marks.append(Mark(start, end, entity_type, opened.marker.relevance, misspelt))

    def _around(self, opened: _Open, place: int, *, crossing: bool) -> str:
        if crossing:
            return "crossing"
        inner = self.marks[-1] if self.marks else None
        if inner is None or inner.entity_type != opened.called:
            return "nested"
        return "doubled" if trimmed(self._text, opened.place, place) == (inner.start, inner.end) else "nested"

    def _lose(self, opened: _Open, place: int, reason: str) -> None:
        self.lost.append(LostMark(opened.place, place, opened.called, reason))


def paired(text: str, markers: Sequence[tuple[Marker | None, int]]) -> tuple[list[Mark], list[LostMark]]:
    """Return what *markers*, each with its place in *text*, mark there, and what is lost.

    None is a marker that cannot be read: it only stands between others. Marks are disjoint, in order, and have no blanks at their ends.
    """
    pairing = _Pairing(text)
    for number, (marker, place) in enumerate(markers):
        if marker is not None:
            pairing.take(number, marker, place)
    pairing.end()
    return pairing.marks, pairing.lost
