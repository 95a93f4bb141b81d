"""Decisions on records: their kinds, the allowed status transitions, and writing them.

A final document is stored as the next revision of its record; a stored revision never changes. The new one gets the run id and the plan
index of the revision that annotation started from, so that releases of that run find it. The table of decisions can be rebuilt from the
log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from piiloom.annotation_app.documents.applying import check_acceptable
from piiloom.annotation_app.documents.document import Document, document_of, record_of
from piiloom.annotation_app.event_log import EventLog
from piiloom.corpus.record import Record
from piiloom.corpus.store.adjudications import Adjudication, DecisionOutcome, StoredRevision, add_adjudications, stored_revisions
from piiloom.corpus.store.annotation_events import AnnotationEvent, NewEvent
from piiloom.corpus.store.annotation_items import AnnotationItem, ItemStatus, set_status
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.foundation.errors import UsageError

# The outcome for each kind of event.
OUTCOMES: dict[str, DecisionOutcome] = {
    "agreed": "agreed",
    "adjudicated": "adjudicated",
    "validated": "validated",
    "rejected_record": "rejected",
    "reopened": "reopened",
}
# Kind of event, not a decision: somebody has finished a record for the first time.
ANNOTATED = "annotated"
_FROM: dict[ItemStatus, frozenset[ItemStatus]] = {
    "generated": frozenset(),
    "annotated": frozenset({"generated", "agreed", "adjudicated", "validated", "rejected"}),
    "agreed": frozenset({"annotated"}),
    "adjudicated": frozenset({"annotated"}),
    "validated": frozenset({"annotated", "agreed", "adjudicated"}),
    "rejected": frozenset({"generated", "annotated"}),
}
_HOW = {
    "generated": "nobody has finished it yet",
    "annotated": "people are still working on it",
    "agreed": "those who annotated it agree",
    "adjudicated": "an adjudicator has decided on it",
    "validated": "it is validated",
    "rejected": "it is rejected",
}
VALIDATED: ItemStatus = "validated"


def check_transition(record_id: str, before: ItemStatus, after: ItemStatus) -> None:
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


def check_document(document: Document, base: Record, types: Collection[str]) -> None:
    """Raise ``UsageError`` if *document* cannot be validated.

    That is if a span is in doubt, the question is blank although *base* has one, or a type is neither in *types* nor in *base*.
    """
    check_acceptable(document, document_of(base))
    known = {*types, *(span.entity_type for span in base.spans)}
    unknown = sorted({mark.entity_type for mark in document.marks} - known)
    if unknown:
        raise UsageError(f"there is no type {unknown[0]!r}", where=f"record {base.id}", remedy="Give its spans another type")


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of *actor* on an item; *entry* is what the log says about it."""

    item: AnnotationItem
    actor: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FinalDocument:
    """A final document, to be stored as a revision of *base*; *way* is "accepted", "agreed" or "adjudicated"."""

    item: AnnotationItem
    actor: str
    document: Document
    base: Record
    way: str


class Decisions:
    """Writes decisions: the event, its table row and the item's status. Use it only inside ``SharedStore.writing``.

    An SQL statement takes about a millisecond regardless of its size, so decisions on many records are written together.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def note(self, store: Store, kind: str, status: ItemStatus, made: Sequence[Decision]) -> list[AnnotationItem]:
        """Write decisions of one kind and set the status; returns the updated items."""
        if not made:
            return []
        rows = [NewEvent(actor=one.actor, kind=kind, record_id=one.item.record_id, entry={**one.entry, "status": status}) for one in made]
        events = self._log.append(store, rows)
        if kind in OUTCOMES:
            add_adjudications(store, [adjudication_of(event) for event in events])
        set_status(store, [one.item.record_id for one in made], status, events[0].at)
        return [replace(one.item, status=status, changed_at=events[0].at) for one in made]

    def validate(self, store: Store, final: Sequence[FinalDocument]) -> list[Record]:
        """Store documents as the next revisions of their records; returns these, grouped by run."""
        revisions = stored_revisions(store, [one.item.record_id for one in final])
        by_run: dict[str | None, list[tuple[int | None, Record]]] = {}
        decisions: list[Decision] = []
        for one in final:
            own = revisions[one.item.record_id]
            began = _began_with(own, one.item)
            record = replace(record_of(one.document, one.base), revision=max(row.revision for row in own) + 1)
            by_run.setdefault(began.run_id, []).append((began.plan_index, record))
            entry = {"document": one.document.to_json(), "revision": record.revision, "way": one.way}
            decisions.append(Decision(one.item, one.actor, entry))
        for run_id, records in by_run.items():
            add_records(store, run_id, records, status=VALIDATED)
        self.note(store, "validated", VALIDATED, decisions)
        return [record for records in by_run.values() for _, record in records]


def _began_with(revisions: Collection[StoredRevision], item: AnnotationItem) -> StoredRevision:
    for row in revisions:
        if row.record_order == item.record_order:
            return row
    raise UsageError("the record was deleted from the store", where=f"record {item.record_id}", remedy="Go on with the next one")
