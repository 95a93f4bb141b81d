"""Apply an operation to a state, or refuse it with a reason. ``editor/js/operations.js`` must behave the same as this file."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

from piiloom.annotation_app.documents.document import Decided, Document, Mark, State
from piiloom.annotation_app.documents.operations import (
    Accept,
    AddMark,
    Applicable,
    ConfirmMark,
    ContentOperation,
    EditText,
    Flag,
    Many,
    MoveMark,
    RefuseSuggestions,
    Reject,
    RemoveMark,
    Reopen,
    SetRelevance,
    SetType,
    TakeSuggestions,
    Unflag,
)
from piiloom.annotation_app.documents.realigning import realigned
from piiloom.annotation_app.documents.refusals import Refusal
from piiloom.annotation_app.documents.suggestions import (
    Placement,
    after_change,
    open_ones,
    outcome_of,
    placements,
    span_for,
    with_decisions,
)
from piiloom.annotation_app.documents.text_edits import TextEdit
from piiloom.corpus.store.suggestions import Suggestion

# What counts as blank, spelled out because Python and JavaScript disagree on it.
_BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200C)))


def apply(state: State, operation: Applicable, base: Document, types: Container[str], suggestions: Sequence[Suggestion] = ()) -> State:
    """Return *state* after *operation*; raises ``Refusal`` if the operation is not possible.

    *base* is the document before this person's first operation, *types* are the known types, *suggestions* those of the record.
    An operation that changes the document also sets an accepted or rejected record back to open.
    """
    if isinstance(operation, Accept | Reject | Reopen | Flag | Unflag):
        return _JUDGEMENTS[type(operation)](state, operation, base)
    if isinstance(operation, TakeSuggestions | RefuseSuggestions):
        placed = {one.suggestion.id: one for one in placements(suggestions, base, state.document)}
        return _take(state, operation, placed, types) if isinstance(operation, TakeSuggestions) else _refuse(state, operation, placed)
    after = state
    for step in operation.operations if isinstance(operation, Many) else (operation,):
        before = after.document
        after = replace(after, document=_changed(step, before, types))
        if not isinstance(step, EditText):
            after = after_change(after, before)
    return replace(with_document(state, after.document), decided=after.decided)


def _take(state: State, operation: TakeSuggestions, placed: Mapping[str, Placement], types: Container[str]) -> State:
    document = state.document
    for taken in operation.taken:
        _check_type(taken.entity_type, types)
        chosen = open_ones(taken.suggestions, state, placed)
        mark, is_new = span_for(document, taken, placed)
        document = _placed(document, document.marks, mark) if is_new else document
        fresh = [Decided(suggestion=one.suggestion.id, how=outcome_of(taken, one), span=mark.id) for one in chosen]
        state = with_decisions(state, fresh)
    return with_document(state, document)


def _refuse(state: State, operation: RefuseSuggestions, placed: Mapping[str, Placement]) -> State:
    chosen = open_ones(operation.suggestions, state, placed)
    return with_decisions(state, [Decided(suggestion=one.suggestion.id, how="refused") for one in chosen])


def with_document(state: State, document: Document) -> State:
    """Return *state* with *document*. If that changes the document, the verdict becomes "open" and the reason is cleared."""
    return state if document == state.document else replace(state, document=document, verdict="open", reason="")


def check_acceptable(document: Document, base: Document) -> None:
    """Raise ``Refusal`` if *document* may not be accepted: a span is in doubt, or the question is blank although *base* had one."""
    if any(mark.doubt for mark in document.marks):
        raise Refusal("in_doubt")
    if is_blank(document.question) and not is_blank(base.question):
        raise Refusal("no_question")


def is_blank(text: str | None) -> bool:
    """Return whether *text* is None, empty or only white space (including invisible characters such as the byte order mark)."""
    return not (text or "").strip(_BLANKS)


def _accept(state: State, _operation: Accept, base: Document) -> State:
    check_acceptable(state.document, base)
    return replace(state, verdict="accepted", reason="")


def _reject(state: State, operation: Reject, _base: Document) -> State:
    return replace(state, verdict="rejected", reason=_said(operation.reason))


def _reopen(state: State, _operation: Reopen, _base: Document) -> State:
    return replace(state, verdict="open", reason="")


def _flag(state: State, operation: Flag, _base: Document) -> State:
    return replace(state, flag=_said(operation.comment))


def _unflag(state: State, _operation: Unflag, _base: Document) -> State:
    return replace(state, flag="")


def _said(text: str) -> str:
    if is_blank(text):
        raise Refusal("no_reason")
    return text


_JUDGEMENTS: dict[type, Callable[[State, Any, Document], State]] = {
    Accept: _accept,
    Reject: _reject,
    Reopen: _reopen,
    Flag: _flag,
    Unflag: _unflag,
}


@singledispatch
def _changed(_operation: ContentOperation, _document: Document, _types: Container[str]) -> Document:
    raise Refusal("malformed")


@_changed.register
def _text(operation: EditText, document: Document, _types: Container[str]) -> Document:
    text = document.context if operation.field == "context" else document.question or ""
    end = operation.at + len(operation.removed)
    if not 0 <= operation.at <= len(text):
        raise Refusal("outside")
    if not text.startswith(operation.removed, operation.at):
        raise Refusal("text_differs")
    if operation.removed == operation.inserted:
        return document
    edit = TextEdit(operation.at, end, operation.inserted)
    if operation.field == "question":
        return replace(document, question=edit.applied_to(text))
    return replace(document, context=edit.applied_to(text), marks=realigned(document.marks, edit))


@_changed.register
def _add(operation: AddMark, document: Document, types: Container[str]) -> Document:
    if document.mark(operation.span.id) is not None:
        raise Refusal("id_taken")
    _check_type(operation.span.entity_type, types)
    return _placed(document, document.marks, operation.span.mark)


@_changed.register
def _move(operation: MoveMark, document: Document, _types: Container[str]) -> Document:
    mark = _found(document, operation.id)
    others = tuple(other for other in document.marks if other.id != mark.id)
    return _placed(document, others, replace(mark, start=operation.start, end=operation.end, doubt=False))


@_changed.register
def _retype(operation: SetType, document: Document, types: Container[str]) -> Document:
    mark = _found(document, operation.id)
    _check_type(operation.entity_type, types)
    subtype = mark.subtype if mark.entity_type == operation.entity_type else None
    return _exchanged(document, replace(mark, entity_type=operation.entity_type, subtype=subtype, doubt=False))


@_changed.register
def _weigh(operation: SetRelevance, document: Document, _types: Container[str]) -> Document:
    return _exchanged(document, replace(_found(document, operation.id), relevance=operation.relevance))


@_changed.register
def _remove(operation: RemoveMark, document: Document, _types: Container[str]) -> Document:
    mark = _found(document, operation.id)
    return replace(document, marks=tuple(other for other in document.marks if other.id != mark.id))


@_changed.register
def _confirm(operation: ConfirmMark, document: Document, _types: Container[str]) -> Document:
    return _exchanged(document, replace(_found(document, operation.id), doubt=False))


def _found(document: Document, mark_id: str) -> Mark:
    mark = document.mark(mark_id)
    if mark is None:
        raise Refusal("unknown_span")
    return mark


def _check_type(name: str, types: Container[str]) -> None:
    if name not in types:
        raise Refusal("unknown_type")


def _exchanged(document: Document, mark: Mark) -> Document:
    return replace(document, marks=tuple(mark if other.id == mark.id else other for other in document.marks))


def _placed(document: Document, others: tuple[Mark, ...], mark: Mark) -> Document:
    """Return *document* with the marks *others* plus *mark*, in text order.

    Raises ``Refusal`` if *mark* is empty, outside the context or overlaps one of *others*.
    """
    if mark.start < 0 or mark.end > len(document.context):
        raise Refusal("outside")
    if mark.start >= mark.end:
        raise Refusal("empty")
    if any(other.start < mark.end and mark.start < other.end for other in others):
        raise Refusal("overlap")
    before = [other for other in others if other.end <= mark.start]
    return replace(document, marks=(*before, mark, *others[len(before) :]))
