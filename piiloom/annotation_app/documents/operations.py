"""The operations on a document, as data classes, their JSON form, and the reasons why one is refused.

``parse_operation`` validates everything, because the browser's input may be forged. Unknown fields, numbers of the wrong type
and text with lone surrogates are refused as "malformed".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, StrictInt, StrictStr, TypeAdapter, ValidationError

from piiloom.annotation_app.documents.document import SpanMark
from piiloom.corpus.record import Relevance
from piiloom.foundation.errors import UsageError

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
