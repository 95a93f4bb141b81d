"""Diff of two versions of one record as a list of single differences, to be displayed, counted or chosen from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.annotation_app.documents.realigning import realigned_through
from piiloom.annotation_app.documents.text_edits import TextEdit, edits_between
from piiloom.foundation.words import Range

DifferenceKind = Literal["text", "question", "only_left", "only_right", "boundary", "type", "relevance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference between a left and a right document.

    ``left_range`` and ``right_range`` are (start, end) offsets in the context of the respective document, or in its question if
    the kind is "question". A pair of spans has up to three differences: boundary, type, relevance. A span that only shifted
    because the text was edited has no ``boundary`` difference.
    """

    kind: DifferenceKind
    left_range: Range | None = None
    right_range: Range | None = None
    left: Mark | None = None
    right: Mark | None = None


def compare(a: Document, b: Document) -> list[Difference]:
    """The differences between *a* (left) and *b* (right): texts first, then spans in text order."""
    edits = edits_between(a.context, b.context)
    found = list(_of_text("text", edits))
    if a.question != b.question:
        in_question = edits_between(a.question or "", b.question or "")
        found += list(_of_text("question", in_question or [TextEdit(0, 0, "")]))  # None versus "" is a difference, too
    return found + _of_marks(paired(a, b, edits))


def paired(a: Document, b: Document, edits: Sequence[TextEdit] | None = None) -> list[tuple[Mark | None, Mark | None, bool]]:
    """Align the spans of *a* and *b*: return (span of *a*, span of *b*, whether both have the same ends), in text order.

    Each span is in one row; its partner is None if it has none. To compare, the spans of *a* are first moved to the text of
    *b*. Overlapping spans are paired greedily: equal ends first, then equal ids, then the largest overlap. *edits* turn the
    context of *a* into that of *b*; they are computed if not given.
    """
    if edits is None:
        edits = edits_between(a.context, b.context)
    moved = {mark.id: mark for mark in realigned_through(a.marks, edits)}
    originals = {mark.id: mark for mark in a.marks}
    closest = sorted(_meetings(moved.values(), b.marks), key=lambda meeting: meeting[0])
    partners: dict[str, Mark] = {}
    taken: set[str] = set()
    for _, near, other in closest:
        if near.id not in partners and other.id not in taken:
            partners[near.id] = other
            taken.add(other.id)
    rows: list[tuple[int, Mark | None, Mark | None, bool]] = []
    last = 0
    for name, original in originals.items():
        left, right = moved.get(name), partners.get(name)
        last = left.start if left else last
        rows.append((last, original, right, bool(left and right and _ends(left) == _ends(right))))
    rows += [(mark.start, None, mark, False) for mark in b.marks if mark.id not in taken]
    return [(left, right, same) for _, left, right, same in sorted(rows, key=lambda row: row[0])]


def _meetings(lefts: Iterable[Mark], rights: Sequence[Mark]) -> Iterator[tuple[tuple[bool, bool, int], Mark, Mark]]:
    """Yield each overlapping pair with its sort key; better matches have lower keys."""
    for left in lefts:
        for right in rights:
            shared = min(left.end, right.end) - max(left.start, right.start)
            if shared > 0:
                yield (_ends(left) != _ends(right), left.id != right.id, -shared), left, right


def _of_text(kind: DifferenceKind, edits: Sequence[TextEdit]) -> Iterator[Difference]:
    shift = 0
    for edit in edits:
        start = edit.start + shift
        yield Difference(kind=kind, left_range=(edit.start, edit.end), right_range=(start, start + len(edit.inserted)))
        shift += edit.growth


def _of_marks(pairs: Sequence[tuple[Mark | None, Mark | None, bool]]) -> list[Difference]:
    found: list[Difference] = []
    for left, right, same_ends in pairs:
        for kind in _kinds(left, right, same_ends):
            ranges = [None if mark is None else _ends(mark) for mark in (left, right)]
            found.append(Difference(kind=kind, left_range=ranges[0], right_range=ranges[1], left=left, right=right))
    return found


def _kinds(left: Mark | None, right: Mark | None, same_ends: bool) -> Iterator[DifferenceKind]:
    if left is None or right is None:
        yield "only_left" if right is None else "only_right"
        return
    if not same_ends:
        yield "boundary"
    if left.entity_type != right.entity_type:
        yield "type"
    if left.relevance != right.relevance:
        yield "relevance"


def _ends(mark: Mark) -> Range:
    return mark.start, mark.end
