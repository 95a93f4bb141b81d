"""The parts of a span that count when people are compared, and mapping spans of an edited text to another text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.annotation_app.documents.realigning import realigned_through
from piiloom.annotation_app.documents.text_edits import edits_between


class Placed(NamedTuple):
    """A span reduced to what is compared: offsets, type and relevance, without ids."""

    start: int
    end: int
    entity_type: str
    relevance: str | None


def placed(marks: Sequence[Mark]) -> tuple[Placed, ...]:
    """Convert the marks of a document."""
    return tuple(Placed(mark.start, mark.end, mark.entity_type, mark.relevance) for mark in marks)


def on_one_text(left: Document, right: Document) -> tuple[tuple[Placed, ...], tuple[Placed, ...]]:
    """Return the spans of both documents as offsets of one text: the shorter context, if they differ; see ``carried``."""
    if left.context == right.context:
        return placed(left.marks), placed(right.marks)
    if (len(left.context), left.context) > (len(right.context), right.context):
        there, here = on_one_text(right, left)
        return here, there
    return placed(left.marks), carried(placed(right.marks), right.context, left.context)


def carried(spans: Sequence[Placed], context: str, target: str) -> tuple[Placed, ...]:
    """Map *spans* of *context* to offsets of *target*.

    Spans whose text is not in *target* are kept as one-character spans beyond its end, after all others. So they count as spans
    that nobody else has.
    """
    marks = [Mark(id=str(number), start=s.start, end=s.end, entity_type=s.entity_type) for number, s in enumerate(spans)]
    moved = {int(mark.id): mark for mark in realigned_through(marks, edits_between(context, target))}
    kept = [spans[number]._replace(start=mark.start, end=mark.end) for number, mark in moved.items()]
    lost = [span for number, span in enumerate(spans) if number not in moved]
    beyond = len(target) + 1
    return tuple(kept) + tuple(span._replace(start=beyond + 2 * n, end=beyond + 2 * n + 1) for n, span in enumerate(lost))
