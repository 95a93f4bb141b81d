"""Apply an operation to a state, or refuse it with a reason; place suggestions in a text that people edit.

``editor/js/operations.js`` and ``editor/js/suggestions.js`` must behave the same as this file.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from piiloom.annotation_app.documents.document import Decided, EditedDocument, SpanMark, State, SuggestionOutcome
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
    Refusal,
    RefuseSuggestions,
    Reject,
    RemoveMark,
    Reopen,
    SetRelevance,
    SetType,
    Taken,
    TakeSuggestions,
    Unflag,
)
from piiloom.annotation_app.documents.text_edits import TextEdit, edits_between, realigned, realigned_through
from piiloom.corpus.store.suggestions import ORIGIN, Suggestion

# Why a suggestion cannot be shown: its own words were edited, or they are gone.
Withdrawal = Literal["text_changed", "text_gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where a suggestion is in the text as it is now; ``withdrawn`` says why it is nowhere."""

    suggestion: Suggestion
    start: int
    end: int
    withdrawn: Withdrawal | None = None


def placements(suggestions: Sequence[Suggestion], base: EditedDocument, document: EditedDocument) -> list[Placement]:
    """Move *suggestions* to the text of *document*, which began as *base*. One whose own words have changed is withdrawn."""
    by_text: dict[str, list[Suggestion]] = {}
    for one in suggestions:
        by_text.setdefault(base.context if one.text is None else one.text, []).append(one)
    found: dict[str, Placement] = {}
    for text, group in by_text.items():
        edits = edits_between(text, document.context)
        marks = [SpanMark(id=one.id, start=one.start, end=one.end, entity_type=one.entity_type) for one in group]
        moved = {mark.id: mark for mark in realigned_through(marks, edits)}
        for one in group:
            mark = moved.get(one.id)
            if mark is None:
                found[one.id] = Placement(suggestion=one, start=one.start, end=one.end, withdrawn="text_gone")
            else:
                found[one.id] = Placement(suggestion=one, start=mark.start, end=mark.end, withdrawn="text_changed" if mark.doubt else None)
    return [found[one.id] for one in suggestions]


def span_for(document: EditedDocument, taken: Taken, placed: Mapping[str, Placement]) -> tuple[SpanMark, bool]:
    """Return the span that *taken* asks for, and whether it is to be added (False: *document* has it already).

    Raises ``Refusal`` if a suggestion is not open.
    """
    for mark in document.marks:
        if (mark.start, mark.end, mark.entity_type) == (taken.start, taken.end, taken.entity_type):
            return mark, False
    first = _open_placement(taken.suggestions[0], placed).suggestion
    subtypes = (_open_placement(name, placed).suggestion for name in taken.suggestions)
    subtype = next((one.subtype for one in subtypes if one.subtype and one.entity_type == taken.entity_type), None)
    made = SpanMark(
        id=f"{ORIGIN}{first.id}",
        start=taken.start,
        end=taken.end,
        entity_type=taken.entity_type,
        relevance=taken.relevance,
        subtype=subtype,
    )
    return made, True


def outcome_of_taking(taken: Taken, placement: Placement) -> SuggestionOutcome:
    """Whether *taken* is what the suggestion says; a relevance that it does not tell is no change."""
    said = placement.suggestion
    same = (placement.start, placement.end, said.entity_type) == (taken.start, taken.end, taken.entity_type)
    return "accepted" if same and said.relevance in {None, taken.relevance} else "changed"


def open_ones(names: Iterable[str], state: State, placed: Mapping[str, Placement]) -> list[Placement]:
    """Return the suggestions called *names*; raises ``Refusal`` if one is unknown, withdrawn, decided already or named twice."""
    decided = {one.suggestion for one in state.decided}
    found: list[Placement] = []
    for name in names:
        if name in decided:
            raise Refusal("already_decided")
        decided.add(name)
        found.append(_open_placement(name, placed))
    return found


def with_decisions(state: State, fresh: Iterable[Decided]) -> State:
    """Return *state* with the decisions *fresh*, which replace earlier ones on the same suggestions."""
    decided = {one.suggestion: one for one in (*state.decided, *fresh)}
    return replace(state, decided=tuple(decided[name] for name in sorted(decided)))


def after_change(state: State, before: EditedDocument) -> State:
    """Return *state*, whose document was *before*, with decisions that fit what became of their spans by an operation on spans.

    A span that is changed later was suggested otherwise, and one that is removed was refused after all.
    """
    if not state.decided or state.document == before:
        return state
    marks = {mark.id: mark for mark in state.document.marks}
    fresh = [_followed(one, before.mark(one.span), marks.get(one.span)) for one in state.decided if one.span is not None]
    return with_decisions(state, fresh)


def _followed(decided: Decided, before: SpanMark | None, now: SpanMark | None) -> Decided:
    if before is None or before == now:
        return decided
    if now is None:
        return replace(decided, how="refused", span=None)
    differs = (before.start, before.end, before.entity_type) != (now.start, now.end, now.entity_type)
    return replace(decided, how="changed") if differs else decided


def _open_placement(name: str, placed: Mapping[str, Placement]) -> Placement:
    found = placed.get(name)
    if found is None or found.withdrawn:
        raise Refusal("no_suggestion")
    return found


# What counts as blank, spelled out because Python and JavaScript disagree on it.
_BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200C)))


def apply(
    state: State, operation: Applicable, base: EditedDocument, types: Container[str], suggestions: Sequence[Suggestion] = ()
) -> State:
    """Return *state* after *operation*; raises ``Refusal`` if the operation is not possible.

    *base* is the document before this person's first operation, *types* are the known types, *suggestions* those of the record.
    An operation that changes the document also sets an accepted or rejected record back to open.
    """
    if isinstance(operation, Accept | Reject | Reopen | Flag | Unflag):
        return _judged(state, operation, base)
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
        fresh = [Decided(suggestion=one.suggestion.id, how=outcome_of_taking(taken, one), span=mark.id) for one in chosen]
        state = with_decisions(state, fresh)
    return with_document(state, document)


def _refuse(state: State, operation: RefuseSuggestions, placed: Mapping[str, Placement]) -> State:
    chosen = open_ones(operation.suggestions, state, placed)
    return with_decisions(state, [Decided(suggestion=one.suggestion.id, how="refused") for one in chosen])


def with_document(state: State, document: EditedDocument) -> State:
    """Return *state* with *document*. If that changes the document, the verdict becomes "open" and the reason is cleared."""
    return state if document == state.document else replace(state, document=document, verdict="open", reason="")


def check_acceptable(document: EditedDocument, base: EditedDocument) -> None:
    """Raise ``Refusal`` if *document* may not be accepted: a span is in doubt, or the question is blank although *base* had one."""
    if any(mark.doubt for mark in document.marks):
        raise Refusal("in_doubt")
    if is_blank(document.question) and not is_blank(base.question):
        raise Refusal("no_question")


def is_blank(text: str | None) -> bool:
    """Return whether *text* is None, empty or only white space (including invisible characters such as the byte order mark)."""
    return not (text or "").strip(_BLANKS)


def _judged(state: State, operation: Accept | Reject | Reopen | Flag | Unflag, base: EditedDocument) -> State:
    match operation:
        case Accept():
            check_acceptable(state.document, base)
            return replace(state, verdict="accepted", reason="")
        case Reject():
            return replace(state, verdict="rejected", reason=_said(operation.reason))
        case Reopen():
            return replace(state, verdict="open", reason="")
        case Flag():
            return replace(state, flag=_said(operation.comment))
        case Unflag():
            return replace(state, flag="")


def _said(text: str) -> str:
    if is_blank(text):
        raise Refusal("no_reason")
    return text


def _changed(operation: ContentOperation, document: EditedDocument, types: Container[str]) -> EditedDocument:
    if isinstance(operation, EditText):
        return _with_text(operation, document)
    if isinstance(operation, AddMark):
        if document.mark(operation.span.id) is not None:
            raise Refusal("id_taken")
        _check_type(operation.span.entity_type, types)
        return _placed(document, document.marks, operation.span.mark)
    mark = _found(document, operation.id)
    match operation:
        case MoveMark():
            others = tuple(other for other in document.marks if other.id != mark.id)
            return _placed(document, others, replace(mark, start=operation.start, end=operation.end, doubt=False))
        case RemoveMark():
            return replace(document, marks=tuple(other for other in document.marks if other.id != mark.id))
        case SetType():
            _check_type(operation.entity_type, types)
            subtype = mark.subtype if mark.entity_type == operation.entity_type else None
            changed = replace(mark, entity_type=operation.entity_type, subtype=subtype, doubt=False)
        case SetRelevance():
            changed = replace(mark, relevance=operation.relevance)
        case ConfirmMark():
            changed = replace(mark, doubt=False)
    return replace(document, marks=tuple(changed if other.id == mark.id else other for other in document.marks))


def _with_text(operation: EditText, document: EditedDocument) -> EditedDocument:
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


def _found(document: EditedDocument, mark_id: str) -> SpanMark:
    mark = document.mark(mark_id)
    if mark is None:
        raise Refusal("unknown_span")
    return mark


def _check_type(name: str, types: Container[str]) -> None:
    if name not in types:
        raise Refusal("unknown_type")


def _placed(document: EditedDocument, others: tuple[SpanMark, ...], mark: SpanMark) -> EditedDocument:
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
