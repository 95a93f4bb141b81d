"""A kept text in pieces, with the marks of gold and predicted mentions; long stretches without an error are folded.

Places are code points, and so are the indices of a Python string; the page gets pieces and never counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from piiloom.evaluation.gallery.errors import Row
from piiloom.evaluation.gallery.kept import KeptDocument
from piiloom.evaluation.inputs.documents import Mention
from piiloom.evaluation.pages.cells import LABEL, short, visible

Side = Literal["gold", "found", "correct"]

_FOLDED_FROM = 700  # code points without an error
_BESIDE_FOLD = 200  # that stay open on either side


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What is written after a mention: the number of its error ("" if correct) and what it is."""

    side: Side
    number: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of the text over which no mention begins or ends. ``classes``: of its mark, "" if there is none."""

    text: str
    classes: str = ""
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Pieces in a row. ``before``: code points that are left out of the page before them. ``folded``: hidden until asked for."""

    pieces: tuple[Piece, ...]
    before: int = 0
    folded: bool = False

    @property
    def length(self) -> int:
        """Code points."""
        return sum(len(piece.text) for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    label: Label


def stretches(document: KeptDocument) -> tuple[list[Stretch], int]:
    """Return the text of *document* in stretches, and how many code points follow that are left out."""
    marks = [mark for number, row in enumerate(document.errors, start=1) for mark in _marks(row, str(number))]
    errors = [(mark.start, mark.end) for mark in marks]
    marks += [mark for row in document.correct for mark in _marks(row, "")]
    made: list[Stretch] = []
    at = 0
    for start, text in document.excerpts:
        shown, before = visible(text), start - at
        for first, last, folded in _folds(start, start + len(shown), errors):
            pieces = tuple(_pieces(shown[first - start : last - start], first, marks))
            made.append(Stretch(pieces=pieces, before=before, folded=folded))
            before = 0
        at = start + len(shown)
    return made, document.length - at


def _marks(row: Row, number: str) -> list[_Mark]:
    if row.kind == "correct":
        sides: list[tuple[Side, str, Sequence[Mention]]] = [("correct", "✓", row.gold)]
    else:
        alone = row.kind if not row.gold or not row.found else ""
        sides = [("gold", alone or "gold", row.gold), ("found", alone or "predicted", row.found)]
    return [
        _Mark(*mention.place, Label(side=side, number=number, text=f"{what}: {told(mention)}" if number else f"{what} {told(mention)}"))
        for side, what, mentions in sides
        for mention in mentions
        if mention.place is not None
    ]


def told(mention: Mention) -> str:
    """Return type and, if it is stated, relevance."""
    parts = [short(visible(mention.entity_type), LABEL) if mention.entity_type is not None else "no type"]
    return " · ".join([*parts, *([mention.relevance] if mention.relevance else [])])


def _folds(start: int, end: int, errors: Sequence[tuple[int, int]]) -> list[tuple[int, int, bool]]:
    """Return the range in parts (start, end, folded): what is far from the *errors* in it is folded."""
    within = sorted(place for place in errors if place[0] < end and place[1] > start)
    made: list[tuple[int, int, bool]] = []
    opened = at = start
    for first, last in [*within, *([(end, end)] if within else [])]:
        if first - at >= _FOLDED_FROM:
            begin = at if at == start else at + _BESIDE_FOLD
            if opened < begin:
                made.append((opened, begin, False))
            opened = first if first == end else first - _BESIDE_FOLD
            made.append((begin, opened, True))
        at = max(at, last)
    return [*made, *([(opened, end, False)] if opened < end else [])]


def _pieces(text: str, start: int, marks: Sequence[_Mark]) -> list[Piece]:
    """Cut *text*, which begins at *start* of the document, wherever a mark begins or ends."""
    end = start + len(text)
    near = [mark for mark in marks if mark.start < end and mark.end > start]
    cuts = sorted({start, end, *(cut for mark in near for cut in (mark.start, mark.end) if start < cut < end)})
    made = []
    for first, last in pairwise(cuts):
        over = [mark for mark in near if mark.start <= first and mark.end >= last]
        classes = [side for side in ("gold", "found", "correct") if any(mark.label.side == side for mark in over)]
        classes += [f"{side}-begins" for side in ("gold", "found") if any(mark.label.side == side and mark.start == first for mark in over)]
        labels = tuple(mark.label for mark in over if mark.end == last or (last == end and mark.end > end))
        made.append(Piece(text=text[first - start : last - start], classes=" ".join(classes), labels=labels))
    return made
