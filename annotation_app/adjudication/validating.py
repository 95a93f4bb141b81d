"""The end of the way: a document that stands becomes the next revision of its record, or the record is rejected.

A stored revision never changes. The new one takes the run and the place in the plan of the one that the work began with, so that
releases of that run find it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from annotation_app.adjudication.decisions import OUTCOMES, adjudication_of
from annotation_app.documents.applying import check_acceptable
from annotation_app.documents.document import Document, document_of, record_of
from annotation_app.event_log import EventLog
from corpus.record import Record
from corpus.store.adjudications import StoredRevision, add_adjudications, stored_revisions
from corpus.store.annotation_events import NewEvent
from corpus.store.annotation_items import Item, Status, set_status
from corpus.store.database import Store
from corpus.store.records import add_records
from foundation.errors import UsageError

VALIDATED: Status = "validated"


def check_document(document: Document, base: Record, types: Collection[str]) -> None:
    """Refuse (``UsageError``) a document that cannot stand: a span in doubt, no question where one was, a type that nobody knows."""
    check_acceptable(document, document_of(base))
    known = {*types, *(span.entity_type for span in base.spans)}
    unknown = sorted({mark.entity_type for mark in document.marks} - known)
    if unknown:
        raise UsageError(f"there is no type {unknown[0]!r}", where=f"record {base.id}", remedy="Give its spans another type")


class Decisions:
    """Writes decisions: the event, its row, the status of the item. Inside ``SharedStore.writing`` only."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def note(self, store: Store, item: Item, actor: str, kind: str, status: Status, entry: Mapping[str, Any]) -> Item:
        """Write one; gives the item as it then is."""
        new = NewEvent(actor=actor, kind=kind, record_id=item.record_id, entry={**entry, "status": status})
        events = self._log.append(store, [new])
        if kind in OUTCOMES:
            add_adjudications(store, [adjudication_of(event) for event in events])
        set_status(store, [item.record_id], status, events[0].at)
        return replace(item, status=status, changed_at=events[0].at)

    def validate(self, store: Store, item: Item, actor: str, document: Document, base: Record, way: str) -> Record:
        """Store *document* as the next revision; *way* says how it came to stand (accepted, agreed, adjudicated)."""
        revisions = stored_revisions(store, [item.record_id])[item.record_id]
        began = _began_with(revisions, item)
        record = replace(record_of(document, base), revision=max(row.revision for row in revisions) + 1)
        add_records(store, began.run_id, [(began.plan_index, record)], status=VALIDATED)
        entry = {"document": document.to_json(), "revision": record.revision, "way": way}
        self.note(store, item, actor, "validated", VALIDATED, entry)
        return record


def _began_with(revisions: Collection[StoredRevision], item: Item) -> StoredRevision:
    for row in revisions:
        if row.record_order == item.record_order:
            return row
    raise UsageError("the record was deleted from the store", where=f"record {item.record_id}", remedy="Go on with the next one")
