"""What a person can do to a document, as values, and their JSON form.

``parse_operation`` trusts nothing: what comes from a browser may have been forged. Fields that an operation does not have,
numbers of the wrong kind and text that is no Unicode (half a surrogate pair) are refused as malformed.
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
    """Replace ``removed``, which stands at ``at`` in one of the texts, by ``inserted``."""

    op: ClassVar = "text"
    field: Literal["context", "question"]
    at: int
    removed: str
    inserted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMark:
    """A new span; it starts without doubt."""

    op: ClassVar = "add"
    span: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveMark:
    """New ends for a span."""

    op: ClassVar = "move"
    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetType:
    """Another type for a span; its subtype, which belonged to the old one, goes."""

    op: ClassVar = "type"
    id: str
    entity_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRelevance:
    """Another relevance for a span."""

    op: ClassVar = "relevance"
    id: str
    relevance: Relevance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMark:
    """Take a span away; the text stays."""

    op: ClassVar = "remove"
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmMark:
    """The span is right although its text has changed."""

    op: ClassVar = "confirm"
    id: str


ContentOperation = EditText | AddMark | MoveMark | SetType | SetRelevance | RemoveMark | ConfirmMark


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """Several operations that count as one step: all of them or none."""

    op: ClassVar = "many"
    operations: tuple[ContentOperation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """The record is right."""

    op: ClassVar = "accept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """The record is beyond repair."""

    op: ClassVar = "reject"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopen:
    """Neither accepted nor rejected any more."""

    op: ClassVar = "reopen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Someone should look at this."""

    op: ClassVar = "flag"
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unflag:
    """Nobody needs to look any more."""

    op: ClassVar = "unflag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Back by one step."""

    op: ClassVar = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redo:
    """Do again what was undone last."""

    op: ClassVar = "redo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revert:
    """Take back one earlier event of this person on this record, and keep what came after it."""

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
    """Read an operation; raises ``Refusal`` ("malformed", "bad_relevance") when it is none."""
    return cast("Operation", _parsed(value, _FORMS))


def operation_to_json(operation: Operation) -> dict[str, Any]:
    """The JSON form that ``parse_operation`` reads."""
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
    """*form* made of the JSON fields *value*: all those that it needs and none that it doesn't have."""
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
