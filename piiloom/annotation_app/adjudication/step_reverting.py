"""Revert a step on a record: one's own or, for adjudicators and admins, somebody else's.

Nothing is deleted: the revert is a new step, which can be reverted, too. If it changes an accepted document, the document becomes
open again and returns to its owner.
"""

from __future__ import annotations

from piiloom.annotation_app.documents.history import EDITS
from piiloom.annotation_app.people.identity import Person, require
from piiloom.annotation_app.sync.service import DocumentService
from piiloom.corpus.store.annotation_events import AnnotationEvent, read_events
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, find_item
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError


def revert_step(shared: SharedStore, documents: DocumentService, person: Person | None, record_id: str, event: int) -> None:
    """Revert the step with log number *event*; later steps are kept.

    Raises ``UsageError`` if there is no such step, *person* may not do it (only adjudicators and admins may revert others' steps),
    the record is decided on, or later steps depend on this one.
    """
    with shared.writing() as store:
        step = _step(store, record_id, event)
        who = require(person, "annotator")
        if step.owner != who.name:
            require(person, "adjudicator")
            _check_open(store, record_id)
        documents.revert(who.name, step.owner, record_id, event)


def _step(store: Store, record_id: str, event: int) -> AnnotationEvent:
    found = read_events(store, record_ids=[record_id], kinds=EDITS, numbers=[event])
    if not found:
        raise UsageError("there is no such step on this record", where=f"record {record_id}", remedy="Choose another step")
    return found[0]


def _check_open(store: Store, record_id: str) -> None:
    item = find_item(store, record_id)
    # Practice and test records are excluded. Control records are treated like work records, so that nobody can tell them apart.
    if item is None or item.role not in {"work", "control"}:
        raise UsageError("this record is not in the work list", where=f"record {record_id}", remedy="Go on with the next one")
    if item.status not in OPEN_STATUSES:
        raise UsageError("this record is decided on", where=f"record {record_id}", remedy="Reopen it first, on the page Adjudicate")
