"""A record as a person edits it: the texts, the spans, and the person's verdict.

All offsets are half-open ranges of code points in ``context``. The JSON forms are used both for the browser and for the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from piiloom.corpus.record import Record, Relevance, Span
from piiloom.foundation.errors import DataError

Verdict = Literal["open", "accepted", "rejected"]
# What came of a suggestion: a span as it was suggested, a span that differs from it, or none.
SuggestionOutcome = Literal["accepted", "changed", "refused"]
_Form = TypeVar("_Form")


def _is_empty(found: tuple[object, ...]) -> bool:
    return not found


class StoredForm:
    """A class with a JSON form, in which names of fields may differ (``type`` for ``entity_type``)."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        found: dict[str, Any] = _adapter(type(self)).dump_python(self, mode="json", by_alias=True)  # type: ignore[arg-type] # classes can be hashed
        return found

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote; raises ``DataError`` when it is something else."""
        try:
            found: Self = _adapter(cls).validate_python(value)  # type: ignore[arg-type] # as above
        except ValidationError as error:
            remedy = "The store may have been changed by another program."
            raise DataError(f"a stored {_STORED[cls.__name__]} of the annotation app cannot be read", remedy=remedy) from error
        return found


@cache
def _adapter(form: type[_Form]) -> TypeAdapter[_Form]:
    return TypeAdapter(form)


_STORED = {"SpanMark": "span", "EditedDocument": "document", "State": "state"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanMark(StoredForm):
    """A span that is being annotated. ``doubt`` means that its text was edited and nobody has confirmed the span since."""

    id: str
    start: int
    end: int
    entity_type: Annotated[str, Field(alias="type")]
    relevance: Relevance | None = None
    doubt: bool = False
    subtype: str | None = None
    value_id: str | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedDocument(StoredForm):
    """The texts and spans being annotated.

    Raises ``DataError`` unless the marks are sorted, disjoint, non-empty, inside the context and have unique ids.
    """

    context: str
    question: str | None = None
    marks: Annotated[tuple[SpanMark, ...], Field(alias="spans")] = ()

    def __post_init__(self) -> None:
        previous = 0
        for mark in self.marks:
            if not previous <= mark.start < mark.end:
                raise DataError(f"span {mark.id} [{mark.start}, {mark.end}) is empty, out of order or overlaps the span before it")
            previous = mark.end
        if previous > len(self.context):
            raise DataError(f"span {self.marks[-1].id} ends at {previous}, outside the context")
        if len({mark.id for mark in self.marks}) != len(self.marks):
            raise DataError("a span id is used twice")

    def mark(self, mark_id: str) -> SpanMark | None:
        """Return the mark with that id, or None."""
        return next((mark for mark in self.marks if mark.id == mark_id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a person decided on the suggestion with the id ``suggestion``. ``span`` is the id of the span that came of it, if any."""

    suggestion: str
    how: SuggestionOutcome
    span: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State(StoredForm):
    """One person's work on one record. ``reason`` belongs to a rejection; ``flag`` is the comment of a flag, empty if not flagged.

    ``decided`` are the decisions on suggestions, sorted by suggestion.
    """

    document: EditedDocument
    verdict: Verdict = "open"
    reason: str = ""
    flag: str = ""
    decided: Annotated[tuple[Decided, ...], Field(exclude_if=_is_empty)] = ()


def document_of(record: Record) -> EditedDocument:
    """Convert *record* to the document that annotation starts from."""
    marks = tuple(
        SpanMark(
            id=span.id,
            start=span.start,
            end=span.end,
            entity_type=span.entity_type,
            relevance=span.relevance,
            subtype=span.subtype,
            value_id=span.value_id,
            subject=span.subject,
        )
        for span in record.spans
    )
    return EditedDocument(context=record.context, question=record.question, marks=marks)


def next_revision(document: EditedDocument, base: Record) -> Record:
    """Return the next revision of *base*, with the texts and spans of *document*; all other fields are kept.

    If *base* has no question and the document's question is empty, the result has no question (None).
    """
    spans = tuple(
        Span(
            id=mark.id,
            start=mark.start,
            end=mark.end,
            entity_type=mark.entity_type,
            relevance=mark.relevance,
            subtype=mark.subtype,
            value_id=mark.value_id,
            subject=mark.subject,
        )
        for mark in document.marks
    )
    question = None if base.question is None and not document.question else document.question
    return replace(base, context=document.context, question=question, spans=spans, revision=base.revision + 1)
