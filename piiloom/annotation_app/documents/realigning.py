"""Move spans to their new offsets after a text edit.

Text inserted directly before or after a span does not become part of it. A span whose own text changed is marked as in doubt. A
span is removed if its text was deleted, or replaced together with text around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from piiloom.annotation_app.documents.document import Mark
from piiloom.annotation_app.documents.text_edits import TextEdit


def realigned(marks: Sequence[Mark], edit: TextEdit) -> tuple[Mark, ...]:
    """Return *marks* (sorted, disjoint) after *edit*, which must change the text; marks whose text is gone are left out."""
    return tuple(moved for mark in marks if (moved := _after(mark, edit)) is not None)


def realigned_through(marks: Sequence[Mark], edits: Iterable[TextEdit]) -> tuple[Mark, ...]:
    """Return *marks* after several disjoint *edits*, given in text order and with offsets of the original text."""
    found = tuple(marks)
    for edit in reversed(list(edits)):  # from the right, so that the offsets of the remaining edits stay valid
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
    """Return the new ends of a mark that *edit* overlaps; start equals end if nothing is left of it."""
    if mark.start <= edit.start and edit.end <= mark.end:
        return mark.start, mark.end + edit.growth
    if edit.start <= mark.start and mark.end <= edit.end:
        return mark.start, mark.start
    if edit.start < mark.start:
        return edit.start + len(edit.inserted), mark.end + edit.growth
    return mark.start, edit.start
