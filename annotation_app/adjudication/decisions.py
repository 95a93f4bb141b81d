"""The kinds of decision, the allowed status transitions, and the table of decisions as rebuilt from the log."""

from __future__ import annotations

from collections.abc import Iterable

from piiloom.corpus.store.adjudications import Adjudication, Outcome
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.corpus.store.annotation_items import Status
from piiloom.foundation.errors import UsageError

# The outcome for each kind of event.
OUTCOMES: dict[str, Outcome] = {
    "agreed": "agreed",
    "adjudicated": "adjudicated",
    "validated": "validated",
    "rejected_record": "rejected",
    "reopened": "reopened",
}
# Kind of event, not a decision: somebody has finished a record for the first time.
ANNOTATED = "annotated"
_FROM: dict[Status, frozenset[Status]] = {
    "generated": frozenset(),
    "annotated": frozenset({"generated", "agreed", "adjudicated", "validated", "rejected"}),
    "agreed": frozenset({"annotated"}),
    "adjudicated": frozenset({"annotated"}),
    "validated": frozenset({"annotated", "agreed", "adjudicated"}),
    "rejected": frozenset({"generated", "annotated"}),
}
_HOW = {
    "generated": "nobody has finished it yet",
    "annotated": "people are still at it",
    "agreed": "those who annotated it agree",
    "adjudicated": "an adjudicator has decided on it",
    "validated": "it is validated",
    "rejected": "it is rejected",
}


def check_transition(record_id: str, before: Status, after: Status) -> None:
    """Raise ``UsageError`` if a record's status may not change from *before* to *after*."""
    if before not in _FROM[after]:
        raise UsageError(
            f"this record cannot become {after}: {_HOW[before]}",
            where=f"record {record_id}",
            remedy="Reopen it first" if before in {"agreed", "adjudicated", "validated", "rejected"} else "Wait until it is finished",
        )


def adjudication_of(event: AnnotationEvent) -> Adjudication:
    """Build the table row for a decision event."""
    return Adjudication(
        record_id=str(event.record_id),
        adjudicator=event.actor,
        outcome=OUTCOMES[event.kind],
        document=event.entry.get("document", {}),
        made_at=event.at,
        event=event.event,
    )


def replayed_adjudications(events: Iterable[AnnotationEvent]) -> list[Adjudication]:
    """Build the table of decisions from *events*, oldest first; other kinds of event are ignored."""
    return [adjudication_of(event) for event in events if event.kind in OUTCOMES]
