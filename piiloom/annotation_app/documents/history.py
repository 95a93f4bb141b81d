"""The operations of one person on one record: the resulting state, undo, redo, and reverting a single step.

Replay applies the stored changes, not the operations. So it gives the same result even if a later version of the app would
refuse one of the operations.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from piiloom.annotation_app.documents.applying import apply
from piiloom.annotation_app.documents.document import Document, State
from piiloom.annotation_app.documents.operations import Operation, Redo, Revert, Undo
from piiloom.annotation_app.documents.patches import Change, change_between, turned
from piiloom.annotation_app.documents.refusals import Refusal, RefusalCode
from piiloom.annotation_app.documents.reverting import reverted
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, AnnotationEvent
from piiloom.corpus.store.suggestions import Suggestion

# The kinds of event that change a document: a step by its owner, and a step by somebody else on the owner's document.
EDITS = ("edit", FOR_ANOTHER)


class History:
    """Undo history that starts at the document *base*. Each accepted operation raises ``version`` by one, even if it changes nothing."""

    def __init__(self, base: Document) -> None:
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
                change = change_between(self.state, state)
            case _:
                state = apply(self.state, operation, self.base, types, suggestions)
                change = change_between(self.state, state)
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


def replayed(base: Document, events: Iterable[AnnotationEvent]) -> History:
    """Build the history of one owner's document of one record from its *events*, oldest first; kinds not in ``EDITS`` are skipped."""
    history = History(base)
    for event in events:
        if event.kind in EDITS:
            change = Change(event.entry["before"], event.entry["after"])
            history.follow(event.entry["operation"]["op"], change, event.event)
    return history
