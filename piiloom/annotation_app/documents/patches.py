"""The change that one step made, as JSON that can be stored, displayed and applied in both directions.

A patch has the keys ``context`` ({"at", "text"}: the part that differs), ``question``, ``spans`` ({id: span or null}), ``verdict``,
``reason``, ``flag`` and ``decided`` ({suggestion: {"how", "span"} or null}); what did not change is left out. A change is a pair of
patches with the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from piiloom.annotation_app.documents.document import Decided, Document, Mark, State
from piiloom.annotation_app.documents.text_edits import TextEdit, common_edges

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


def change_between(old: State, new: State) -> Change:
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
        before["spans"], after["spans"] = _differing(a.marks, b.marks)
    for name in _PLAIN:
        if getattr(old, name) != getattr(new, name):
            before[name], after[name] = getattr(old, name), getattr(new, name)
    if old.decided != new.decided:
        left, right = ({one.suggestion: one for one in state.decided} for state in (old, new))
        ids = [name for name in left | right if left.get(name) != right.get(name)]
        before["decided"], after["decided"] = ({name: _outcome(side.get(name)) for name in ids} for side in (left, right))
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
        fresh = [Mark.from_json(value) for value in after["spans"].values() if value is not None]
        marks = tuple(sorted(kept + fresh, key=lambda mark: mark.start))
    if not after.keys().isdisjoint(_DOCUMENT):
        document = Document(context=context, question=after.get("question", document.question), marks=marks)
    plain = {name: after.get(name, getattr(state, name)) for name in _PLAIN}
    return State(document=document, decided=_decided(state.decided, after.get("decided", {})), **plain)


def _differing(old: tuple[Mark, ...], new: tuple[Mark, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    left, right = {mark.id: mark for mark in old}, {mark.id: mark for mark in new}
    ids = [name for name in left | right if left.get(name) != right.get(name)]
    return {name: _json(left.get(name)) for name in ids}, {name: _json(right.get(name)) for name in ids}


def _json(mark: Mark | None) -> dict[str, Any] | None:
    return None if mark is None else mark.to_json()


def _outcome(decided: Decided | None) -> dict[str, Any] | None:
    return None if decided is None else {"how": decided.how, "span": decided.span}


def _decided(before: tuple[Decided, ...], after: Mapping[str, Any]) -> tuple[Decided, ...]:
    if not after:
        return before
    kept = [one for one in before if one.suggestion not in after]
    fresh = [Decided(suggestion=name, how=one["how"], span=one["span"]) for name, one in after.items() if one is not None]
    return tuple(sorted(kept + fresh, key=lambda one: one.suggestion))
