"""The steps of one person on one record: stored changes, the resulting state, undo, redo, and reverting a single step.

A patch has the keys ``context`` ({"at", "text"}: the part that differs), ``question``, ``spans`` ({id: span or null}), ``verdict``,
``reason``, ``flag`` and ``decided`` ({suggestion: {"how", "span"} or null}); what did not change is left out. A change is a pair of
patches with the same keys. Replay applies the stored changes, not the operations. So it gives the same result even if a later version of
the app would refuse one of the operations.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from piiloom.annotation_app.documents.applying import apply, check_acceptable, with_document
from piiloom.annotation_app.documents.document import Decided, EditedDocument, SpanMark, State
from piiloom.annotation_app.documents.merging import merge_documents
from piiloom.annotation_app.documents.operations import Operation, Redo, Refusal, RefusalCode, Revert, Undo
from piiloom.annotation_app.documents.text_edits import TextEdit, common_edges
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, AnnotationEvent
from piiloom.corpus.store.suggestions import Suggestion

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
