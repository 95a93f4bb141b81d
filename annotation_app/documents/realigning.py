"""Where the spans are after the text has been edited under them.

Text typed right before or right behind a span does not belong to it. A span whose own text changed comes out in doubt; one
whose text is gone goes with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from piiloom.annotation_app.documents.document import Mark
from piiloom.annotation_app.documents.text_edits import TextEdit


def realigned(marks: Sequence[Mark], edit: TextEdit) -> tuple[Mark, ...]:
    """*marks* (sorted, disjoint) after *edit*, which really changes the text; those whose text is gone are left out."""
    return tuple(moved for mark in marks if (moved := _after(mark, edit)) is not None)


def realigned_through(marks: Sequence[Mark], edits: Iterable[TextEdit]) -> tuple[Mark, ...]:
    """*marks* after disjoint *edits*, given in text order and all in the offsets of the text before the first."""
    found = tuple(marks)
    for edit in reversed(list(edits)):  # from the right, so that the offsets of those still to come hold
        found = realigned(found, edit)
    return found


def _after(mark: Mark, edit: TextEdit) -> Mark | None:
    if edit.start >= mark.end:
        return mark
    if edit.end <= mark.start:
        return replace(mark, start=mark.start + edit.growth, end=mark.end + edit.growth)
    start, end = _ends(mark, edit)
    return replace(mark, start=start, end=end, doubt=True) if start < end else None


def _ends(mark: Mark, edit: TextEdit) -> tuple[int, int]:
    """The ends of a mark that *edit* reaches into; equal ends when nothing is left of it."""
    if mark.start <= edit.start and edit.end <= mark.end:
        return mark.start, mark.end + edit.growth
    if edit.start <= mark.start and mark.end <= edit.end:
        return mark.start, mark.start
    if edit.start < mark.start:
        return edit.start + len(edit.inserted), mark.end + edit.growth
    return mark.start, edit.start
