"""A record as a person edits it (texts, spans, verdict), and the operations on it, with the reasons why one is refused.

All offsets are half-open ranges of code points in ``context``. The JSON forms are used both for the browser and for the store.

``parse_operation`` validates everything, because the browser's input may be forged. Unknown fields, numbers of the wrong type
and text with lone surrogates are refused as "malformed".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, StrictInt, StrictStr, TypeAdapter, ValidationError

from piiloom.corpus.record import Record, Relevance, Span
from piiloom.foundation.errors import DataError, UsageError

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


RefusalCode = Literal[
    "overlap",
    "outside",
    "empty",
    "unknown_span",
    "id_taken",
    "text_differs",
    "unknown_type",
    "bad_relevance",
    "in_doubt",
    "no_question",
    "no_reason",
    "nothing_to_undo",
    "nothing_to_redo",
    "no_longer_fits",
    "no_suggestion",
    "already_decided",
    "malformed",
]
REFUSAL_SENTENCES: dict[RefusalCode, str] = {
    "overlap": "The span would overlap another one. Spans cannot overlap: shorten or remove the other one first.",
    "outside": "That place lies outside the text.",
    "empty": "A span needs at least one character.",
    "unknown_span": "That span is no longer there.",
    "id_taken": "A span of that name is already there.",
    "text_differs": "The text at that place is no longer what it was when you edited it.",
    "unknown_type": "That type is not one of the known types.",
    "bad_relevance": "Relevance is high, low or not set.",
    "in_doubt": "The text of a span has changed. Confirm, move or remove each marked span before you accept the record.",
    "no_question": "The question is empty. Write one, or reject the record.",
    "no_reason": "Please say why.",
    "nothing_to_undo": "There is nothing to undo.",
    "nothing_to_redo": "There is nothing to redo.",
    "no_longer_fits": "This step can't be taken back: what it changed has been changed again since.",
    "no_suggestion": "That suggestion is no longer there: the text has changed, or its detector has taken it back.",
    "already_decided": "That suggestion is decided already.",
    "malformed": "The app did not understand this step. Reload the page.",
}


class Refusal(UsageError):
    """Raised when an operation is refused; the document stays unchanged. *sentence* defaults to the standard one of *code*."""

    def __init__(self, code: RefusalCode, sentence: str | None = None) -> None:
        self.code = code
        self.sentence = sentence or REFUSAL_SENTENCES[code]
        super().__init__(self.sentence)


_Step = TypeVar("_Step")


def _well_formed(text: str) -> str:
    text.encode()  # raises UnicodeEncodeError, a ValueError, for a lone surrogate
    return text


def _not_empty(steps: tuple[_Step, ...]) -> tuple[_Step, ...]:
    if not steps:  # Field(min_length=1) would also count the steps that are not valid, and hide why they are not
        raise ValueError("no step")
    return steps


def _is_none(value: object) -> bool:
    return value is None


CleanText = Annotated[StrictStr, AfterValidator(_well_formed)]
IdText = Annotated[CleanText, Field(min_length=1)]
TextOrNone = Annotated[CleanText | None, Field(exclude_if=_is_none)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSpan:
    """A span as it is added: not in doubt. Only ``relevance`` may be None in JSON; the other optional fields are left out then."""

    id: IdText
    start: StrictInt
    end: StrictInt
    entity_type: Annotated[CleanText, Field(alias="type")]
    relevance: Relevance | None
    subtype: TextOrNone = None
    value_id: TextOrNone = None
    subject: TextOrNone = None

    @property
    def mark(self) -> SpanMark:
        """The span as a document holds it."""
        return SpanMark(**asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class EditText:
    """Replace the string ``removed`` at offset ``at`` of the context or the question by ``inserted``."""

    op: Literal["text"] = "text"
    field: Literal["context", "question"]
    at: StrictInt
    removed: CleanText
    inserted: CleanText


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMark:
    """Add a span."""

    op: Literal["add"] = "add"
    span: NewSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveMark:
    """Change the ends of a span; this also clears its doubt."""

    op: Literal["move"] = "move"
    id: IdText
    start: StrictInt
    end: StrictInt


@dataclass(frozen=True, slots=True, kw_only=True)
class SetType:
    """Change the type of a span and clear its doubt. The subtype is removed unless the type stays the same."""

    op: Literal["type"] = "type"
    id: IdText
    entity_type: Annotated[CleanText, Field(alias="type")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRelevance:
    """Change the relevance of a span; None unsets it."""

    op: Literal["relevance"] = "relevance"
    id: IdText
    relevance: Relevance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMark:
    """Remove a span; the text stays."""

    op: Literal["remove"] = "remove"
    id: IdText


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmMark:
    """Clear the doubt of a span: it is still right although its text has changed."""

    op: Literal["confirm"] = "confirm"
    id: IdText


ContentOperation = EditText | AddMark | MoveMark | SetType | SetRelevance | RemoveMark | ConfirmMark


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """Several operations as one atomic step: either all are applied or none."""

    op: Literal["many"] = "many"
    operations: Annotated[tuple[Annotated[ContentOperation, Field(discriminator="op")], ...], AfterValidator(_not_empty)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A span that comes of suggestions (several, if detectors agree). The server knows from them what was suggested."""

    suggestions: Annotated[tuple[IdText, ...], AfterValidator(_not_empty)]
    start: StrictInt
    end: StrictInt
    entity_type: Annotated[CleanText, Field(alias="type")]
    relevance: Relevance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeSuggestions:
    """Accept suggestions, each as it is or with other ends, type or relevance. A span that is there already is not added again."""

    op: Literal["take"] = "take"
    taken: Annotated[tuple[Taken, ...], AfterValidator(_not_empty)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseSuggestions:
    """Refuse suggestions."""

    op: Literal["refuse"] = "refuse"
    suggestions: Annotated[tuple[IdText, ...], AfterValidator(_not_empty)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """Accept the record as correct."""

    op: Literal["accept"] = "accept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """Reject the record as unusable; ``reason`` must not be blank."""

    op: Literal["reject"] = "reject"
    reason: CleanText


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopen:
    """Set the verdict back to "open"."""

    op: Literal["reopen"] = "reopen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Flag the record for somebody else to look at; ``comment`` must not be blank."""

    op: Literal["flag"] = "flag"
    comment: CleanText


@dataclass(frozen=True, slots=True, kw_only=True)
class Unflag:
    """Remove the flag."""

    op: Literal["unflag"] = "unflag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Undo the last step."""

    op: Literal["undo"] = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redo:
    """Redo the step that was undone last."""

    op: Literal["redo"] = "redo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revert:
    """Revert one earlier step of this document and keep the later ones; ``event`` is its number in the log."""

    op: Literal["revert"] = "revert"
    event: StrictInt


Applicable = ContentOperation | Many | TakeSuggestions | RefuseSuggestions | Accept | Reject | Reopen | Flag | Unflag
Operation = Applicable | Undo | Redo | Revert

# The types of pydantic's errors for a field that is missing and one that is unknown.
_WRONG_FIELDS = ("missing", "unexpected_keyword_argument")
_JSON: TypeAdapter[Operation] = TypeAdapter(Annotated[Operation, Field(discriminator="op")])


def parse_operation(value: object) -> Operation:
    """Parse the JSON form of an operation; raises ``Refusal`` ("malformed" or "bad_relevance") if it is not valid."""
    try:
        return _JSON.validate_python(value, extra="forbid", by_alias=True, by_name=False)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        only_relevance = all(fault["loc"][-1:] == ("relevance",) and fault["type"] not in _WRONG_FIELDS for fault in faults)
        raise Refusal("bad_relevance" if only_relevance else "malformed") from error


def operation_to_json(operation: Operation) -> dict[str, Any]:
    """Return the JSON form that ``parse_operation`` reads."""
    found: dict[str, Any] = _JSON.dump_python(operation, mode="json", by_alias=True)
    return found
