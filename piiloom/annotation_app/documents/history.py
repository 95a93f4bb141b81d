"""Apply operations to a state, or refuse them; the steps of one person on one record: changes, undo, redo, and reverting a step.

``editor/js/operations.js`` and ``editor/js/suggestions.js`` must behave the same as this file.

A patch has the keys ``context`` ({"at", "text"}: the part that differs), ``question``, ``spans`` ({id: span or null}), ``verdict``,
``reason``, ``flag`` and ``decided`` ({suggestion: {"how", "span"} or null}); what did not change is left out. A change is a pair of
patches with the same keys. Replay applies the stored changes, not the operations. So it gives the same result even if a later version of
the app would refuse one of the operations.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from piiloom.annotation_app.documents.document import (
    Accept,
    AddMark,
    Applicable,
    ConfirmMark,
    ContentOperation,
    Decided,
    EditedDocument,
    EditText,
    Flag,
    Many,
    MoveMark,
    Operation,
    Redo,
    Refusal,
    RefusalCode,
    RefuseSuggestions,
    Reject,
    RemoveMark,
    Reopen,
    Revert,
    SetRelevance,
    SetType,
    SpanMark,
    State,
    SuggestionOutcome,
    Taken,
    TakeSuggestions,
    Undo,
    Unflag,
)
from piiloom.annotation_app.documents.merging import TextEdit, common_edges, edits_between, merge_documents, realigned, realigned_through
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, AnnotationEvent
from piiloom.corpus.store.judgements import ORIGIN, Suggestion

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


T = TypeVar("T")
Patch = Mapping[str, Any]
_DOCUMENT = ("context", "question", "spans")
_PLAIN = ("verdict", "reason", "flag")


@dataclass(frozen=True, slots=True)
class Change:
    """The values before and after a step, as two patches with the same keys; false if nothing changed."""

    before: Patch
    after: Patch

    @property
    def inverse(self) -> Change:
        """The change that undoes this one."""
        return Change(self.after, self.before)

    def __bool__(self) -> bool:
        return bool(self.before or self.after)


def state_change(old: State, new: State) -> Change:
    """The change that leads from *old* to *new*; false when they are equal."""
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    a, b = old.document, new.document
    if a.context != b.context:
        head, tail = common_edges(a.context, b.context)
        before["context"] = {"at": head, "text": a.context[head : len(a.context) - tail]}
        after["context"] = {"at": head, "text": b.context[head : len(b.context) - tail]}
    if a.question != b.question:
        before["question"], after["question"] = a.question, b.question
    if a.marks != b.marks:
        before["spans"], after["spans"] = _differing([{mark.id: mark for mark in side.marks} for side in (a, b)], SpanMark.to_json)
    for name in _PLAIN:
        if getattr(old, name) != getattr(new, name):
            before[name], after[name] = getattr(old, name), getattr(new, name)
    if old.decided != new.decided:
        sides = [{one.suggestion: one for one in side.decided} for side in (old, new)]
        before["decided"], after["decided"] = _differing(sides, lambda one: {"how": one.how, "span": one.span})
    return Change(before, after)


def turned(state: State, change: Change) -> State:
    """Apply *change*: return *state*, which must match ``change.before``, with the values of ``change.after``."""
    before, after = change.before, change.after
    document = state.document
    context, marks = document.context, document.marks
    if "context" in after:
        at, text = after["context"]["at"], after["context"]["text"]
        context = TextEdit(at, at + len(before["context"]["text"]), text).applied_to(context)
    if "spans" in after:
        kept = [mark for mark in marks if mark.id not in after["spans"]]
        fresh = [SpanMark.from_json(value) for value in after["spans"].values() if value is not None]
        marks = tuple(sorted(kept + fresh, key=lambda mark: mark.start))
    if not after.keys().isdisjoint(_DOCUMENT):
        document = EditedDocument(context=context, question=after.get("question", document.question), marks=marks)
    plain = {name: after.get(name, getattr(state, name)) for name in _PLAIN}
    return State(document=document, decided=_decided(state.decided, after.get("decided", {})), **plain)


def _differing(sides: Sequence[dict[str, T]], form: Callable[[T], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each of two *sides* the values that differ, in their JSON form; None for a value that only the other side has."""
    left, right = sides
    names = [name for name in left | right if left.get(name) != right.get(name)]
    return [{name: form(side[name]) if name in side else None for name in names} for side in sides]


def _decided(before: tuple[Decided, ...], after: Mapping[str, Any]) -> tuple[Decided, ...]:
    if not after:
        return before
    kept = [one for one in before if one.suggestion not in after]
    fresh = [Decided(suggestion=name, how=one["how"], span=one["span"]) for name, one in after.items() if one is not None]
    return tuple(sorted(kept + fresh, key=lambda one: one.suggestion))


def reverted(now: State, *, step: tuple[State, State], base: EditedDocument) -> State:
    """Return *now* without *step*, given as (state before it, state after it); the later steps are kept.

    This is a three-way merge with the state after the step as base. Raises ``Refusal`` ("no_longer_fits") if later steps
    changed the same things or nothing is left to revert, and if an acceptance would be restored that is not allowed. If the
    document changes, the verdict becomes "open", because nobody has reviewed the result as a whole.
    """
    before, after = step
    merged = merge_documents(after.document, now.document, before.document)
    if merged.conflicts:
        raise Refusal("no_longer_fits")
    verdict = _three_way((after.verdict, after.reason), (now.verdict, now.reason), (before.verdict, before.reason))
    flag = _three_way((after.flag,), (now.flag,), (before.flag,))
    decided = _decisions(after.decided, now.decided, before.decided)
    if merged.document == now.document:
        state = replace(now, verdict=verdict[0], reason=verdict[1], flag=flag[0], decided=decided)
    else:
        state = replace(with_document(now, merged.document), flag=flag[0], decided=decided)
    if state == now:
        raise Refusal("no_longer_fits", "There is nothing left of this step that could be taken back.")
    if state.verdict == "accepted" != now.verdict:
        check_acceptable(state.document, base)
    return state


def _decisions(base: Sequence[Decided], ours: Sequence[Decided], theirs: Sequence[Decided]) -> tuple[Decided, ...]:
    sides = [{one.suggestion: one for one in side} for side in (base, ours, theirs)]
    names = sorted(set().union(*sides))
    found = (_three_way(*(side.get(name) for side in sides)) for name in names)
    return tuple(one for one in found if one is not None)


def _three_way(base: T, ours: T, theirs: T) -> T:
    if theirs in (base, ours):
        return ours
    if ours != base:
        raise Refusal("no_longer_fits")
    return theirs


# The kinds of event that change a document: a step by its owner, and a step by somebody else on the owner's document.
EDITS = ("edit", FOR_ANOTHER)


class EditHistory:
    """Undo history that starts at the document *base*. Each accepted operation raises ``version`` by one, even if it changes nothing."""

    def __init__(self, base: EditedDocument) -> None:
        self.base = base
        self.state = State(document=base)
        self._changes: list[Change] = []
        self._to_undo: list[Change] = []
        self._to_redo: list[Change] = []
        self._steps_of_events: dict[int, int] = {}

    @property
    def version(self) -> int:
        """The number of operations done, including undo, redo and revert."""
        return len(self._changes)

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._to_undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone step to redo. A new step that changes something clears the redo stack."""
        return bool(self._to_redo)

    def do(self, operation: Operation, types: Container[str], suggestions: Sequence[Suggestion] = ()) -> Change:
        """Apply *operation* and return the change; if it raises ``Refusal``, the history is unchanged.

        *types* are the known types, *suggestions* those of the record, for operations on them.
        """
        match operation:
            case Undo():
                change = self._top(self._to_undo, "nothing_to_undo").inverse
                state = turned(self.state, change)
            case Redo():
                change = self._top(self._to_redo, "nothing_to_redo")
                state = turned(self.state, change)
            case Revert():
                state = self._without(operation.event)
                change = state_change(self.state, state)
            case _:
                state = apply(self.state, operation, self.base, types, suggestions)
                change = state_change(self.state, state)
        self._note(operation.op, change, state)
        return change

    def name_event(self, version: int, event: int) -> None:
        """Record that log event number *event* led to *version*, so that ``Revert`` can refer to the step by that number."""
        self._steps_of_events[event] = version - 1

    def follow(self, op: str, change: Change, event: int) -> None:
        """Replay a stored *change* of an operation named *op*, logged as number *event*."""
        self._note(op, change, turned(self.state, change))
        self.name_event(self.version, event)

    def state_at(self, version: int) -> State:
        """Return the state after the first *version* operations, by applying the inverse of all later changes."""
        state = self.state
        for change in reversed(self._changes[version:]):
            state = turned(state, change.inverse)
        return state

    def _note(self, op: str, change: Change, state: State) -> None:
        self.state = state
        self._changes.append(change)
        if op == "undo":
            self._to_redo.append(self._to_undo.pop())
        elif op == "redo":
            self._to_undo.append(self._to_redo.pop())
        elif change:  # a step that changed nothing cannot be undone
            self._to_undo.append(change)
            self._to_redo.clear()

    def _without(self, event: int) -> State:
        step = self._steps_of_events.get(event)
        if step is None:
            raise Refusal("no_longer_fits", "That step is not part of your history of this record.")
        after = self.state_at(step + 1)
        return reverted(self.state, step=(turned(after, self._changes[step].inverse), after), base=self.base)

    @staticmethod
    def _top(stack: list[Change], code: RefusalCode) -> Change:
        if not stack:
            raise Refusal(code)
        return stack[-1]


def replayed_history(base: EditedDocument, events: Iterable[AnnotationEvent]) -> EditHistory:
    """Build the history of one owner's document of one record from its *events*, oldest first; kinds not in ``EDITS`` are skipped."""
    history = EditHistory(base)
    for event in events:
        if event.kind in EDITS:
            change = Change(event.entry["before"], event.entry["after"])
            history.follow(event.entry["operation"]["op"], change, event.event)
    return history
