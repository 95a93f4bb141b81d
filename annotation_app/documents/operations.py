"""The operations on a document, as data classes, and their JSON form.

``parse_operation`` validates everything, because the browser's input may be forged. Unknown fields, numbers of the wrong type
and text with lone surrogates are refused as "malformed".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Literal, cast

from piiloom.annotation_app.documents.document import Mark
from piiloom.annotation_app.documents.field_readers import FIELD_READERS, read_text
from piiloom.annotation_app.documents.refusals import Refusal
from piiloom.corpus.record import Relevance


@dataclass(frozen=True, slots=True, kw_only=True)
class EditText:
    """Replace the string ``removed`` at offset ``at`` of the context or the question by ``inserted``."""

    op: ClassVar = "text"
    field: Literal["context", "question"]
    at: int
    removed: str
    inserted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMark:
    """Add a span; its ``doubt`` is False."""

    op: ClassVar = "add"
    span: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveMark:
    """Change the ends of a span; this also clears its doubt."""

    op: ClassVar = "move"
    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetType:
    """Change the type of a span and clear its doubt. The subtype is removed unless the type stays the same."""

    op: ClassVar = "type"
    id: str
    entity_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRelevance:
    """Change the relevance of a span; None unsets it."""

    op: ClassVar = "relevance"
    id: str
    relevance: Relevance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMark:
    """Remove a span; the text stays."""

    op: ClassVar = "remove"
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmMark:
    """Clear the doubt of a span: it is still right although its text has changed."""

    op: ClassVar = "confirm"
    id: str


ContentOperation = EditText | AddMark | MoveMark | SetType | SetRelevance | RemoveMark | ConfirmMark


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """Several operations as one atomic step: either all are applied or none."""

    op: ClassVar = "many"
    operations: tuple[ContentOperation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """Accept the record as correct."""

    op: ClassVar = "accept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """Reject the record as unusable; ``reason`` must not be blank."""

    op: ClassVar = "reject"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopen:
    """Set the verdict back to "open"."""

    op: ClassVar = "reopen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Flag the record for somebody else to look at; ``comment`` must not be blank."""

    op: ClassVar = "flag"
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unflag:
    """Remove the flag."""

    op: ClassVar = "unflag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Undo the last step."""

    op: ClassVar = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redo:
    """Redo the step that was undone last."""

    op: ClassVar = "redo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revert:
    """Revert one earlier step of this document and keep the later ones; ``event`` is its number in the log."""

    op: ClassVar = "revert"
    event: int


Applicable = ContentOperation | Many | Accept | Reject | Reopen | Flag | Unflag
Operation = Applicable | Undo | Redo | Revert

_CONTENT: tuple[type[Any], ...] = (EditText, AddMark, MoveMark, SetType, SetRelevance, RemoveMark, ConfirmMark)
_OTHER: tuple[type[Any], ...] = (Many, Accept, Reject, Reopen, Flag, Unflag, Undo, Redo, Revert)
_CONTENT_FORMS = {form.op: form for form in _CONTENT}
_FORMS = _CONTENT_FORMS | {form.op: form for form in _OTHER}
_JSON_NAMES = {"entity_type": "type"}
_NOT_FROM_OUTSIDE = {"doubt"}


def parse_operation(value: object) -> Operation:
    """Parse the JSON form of an operation; raises ``Refusal`` ("malformed" or "bad_relevance") if it is not valid."""
    return cast("Operation", _parsed(value, _FORMS))


def operation_to_json(operation: Operation) -> dict[str, Any]:
    """Return the JSON form that ``parse_operation`` reads."""
    return {"op": operation.op, **_values(operation)}


def _values(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if field.name in _NOT_FROM_OUTSIDE or (item is None and field.default is None and field.name != "relevance"):
            continue
        found[_JSON_NAMES.get(field.name, field.name)] = _json(item)
    return found


def _json(item: Any) -> Any:
    if isinstance(item, Mark):
        return _values(item)
    return [operation_to_json(inner) for inner in item] if isinstance(item, tuple) else item


def _parsed(value: object, forms: Mapping[str, type[Any]]) -> Any:
    name = value.get("op") if isinstance(value, Mapping) else None
    form = forms.get(name) if isinstance(name, str) else None
    if form is None or not isinstance(value, Mapping):
        raise Refusal("malformed")
    return _built(form, {key: item for key, item in value.items() if key != "op"})


def _built(form: type[Any], value: Mapping[Any, Any]) -> Any:
    """Build an instance of *form* from JSON fields; raises ``Refusal`` if a required field is missing or a field is unknown."""
    names = {_JSON_NAMES.get(field.name, field.name): field for field in fields(form) if field.name not in _NOT_FROM_OUTSIDE}
    needed = {name for name, field in names.items() if field.default is MISSING or name == "relevance"}
    if not needed <= set(value) <= set(names):
        raise Refusal("malformed")
    return form(**{names[name].name: _READERS.get(name, read_text)(item) for name, item in value.items()})


def _mark(item: object) -> Mark:
    if not isinstance(item, Mapping):
        raise Refusal("malformed")
    return cast("Mark", _built(Mark, item))


def _operations(item: object) -> tuple[ContentOperation, ...]:
    if not isinstance(item, list) or not item:
        raise Refusal("malformed")
    return tuple(_parsed(inner, _CONTENT_FORMS) for inner in item)


_READERS: dict[str, Callable[[object], object]] = FIELD_READERS | {"span": _mark, "operations": _operations}
