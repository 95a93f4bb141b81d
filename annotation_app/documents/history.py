"""One person's operations on one record, in order: the state they lead to, undo, redo and the way back to any step.

Replay folds the kept changes, not the operations: what was once done stays done, whatever later versions would refuse.
"""

from __future__ import annotations

from collections.abc import Iterable

from piiloom.annotation_app.documents.applying import apply
from piiloom.annotation_app.documents.document import Document, State
from piiloom.annotation_app.documents.operations import Operation, Redo, Revert, Undo
from piiloom.annotation_app.documents.patches import Change, change_between, turned
from piiloom.annotation_app.documents.refusals import Refusal, RefusalCode
from piiloom.annotation_app.documents.reverting import reverted
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, AnnotationEvent

# The kinds of event that change a document: a step of its owner, and one that somebody else did for him.
EDITS = ("edit", FOR_ANOTHER)


class History:
    """Starts at *base*. Every operation that is done counts in ``version``, also one that changes nothing."""

    def __init__(self, base: Document) -> None:
        self.base = base
        self.state = State(document=base)
        self._changes: list[Change] = []
        self._to_undo: list[Change] = []
        self._to_redo: list[Change] = []
        self._steps_of_events: dict[int, int] = {}

    @property
    def version(self) -> int:
        """How many operations have been done."""
        return len(self._changes)

    @property
    def can_undo(self) -> bool:
        """Whether a step is left that ``undo`` would take back."""
        return bool(self._to_undo)

    @property
    def can_redo(self) -> bool:
        """Whether the last thing done was to undo."""
        return bool(self._to_redo)

    def do(self, operation: Operation) -> Change:
        """Do *operation* and say what it changed; raises ``Refusal`` and changes nothing."""
        match operation:
            case Undo():
                change = self._top(self._to_undo, "nothing_to_undo").inverse
                state = turned(self.state, change)
            case Redo():
                change = self._top(self._to_redo, "nothing_to_redo")
                state = turned(self.state, change)
            case Revert():
                state = self._without(operation.event)
                change = change_between(self.state, state)
            case _:
                state = apply(self.state, operation, self.base)
                change = change_between(self.state, state)
        self._note(operation.op, change, state)
        return change

    def name_event(self, version: int, event: int) -> None:
        """Tell which *event* of the log led to *version*, so that it can be reverted by that number."""
        self._steps_of_events[event] = version - 1

    def follow(self, op: str, change: Change, event: int) -> None:
        """Take over a *change* that was done before and kept as *event*."""
        self._note(op, change, turned(self.state, change))
        self.name_event(self.version, event)

    def state_at(self, version: int) -> State:
        """The state after the first *version* operations."""
        state = self.state
        for change in reversed(self._changes[version:]):
            state = turned(state, change.inverse)
        return state

    def _note(self, op: str, change: Change, state: State) -> None:
        self.state = state
        self._changes.append(change)
        if op == Undo.op:
            self._to_redo.append(self._to_undo.pop())
        elif op == Redo.op:
            self._to_undo.append(self._to_redo.pop())
        elif change:  # a step that changed nothing is none to undo
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


def replayed(base: Document, events: Iterable[AnnotationEvent]) -> History:
    """The history that *events*, oldest first and all of one owner and one record, tell; kinds other than ``EDITS`` are passed over."""
    history = History(base)
    for event in events:
        if event.kind in EDITS:
            change = Change(event.entry["before"], event.entry["after"])
            history.follow(event.entry["operation"]["op"], change, event.event)
    return history
