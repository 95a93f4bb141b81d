"""Receive batches of operations from browsers: each is applied once, in order, and is on disk before it is acknowledged.

The table of documents can be rebuilt from the log alone; it must always equal the result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from piiloom.annotation_app.documents.document import Reopen, Revert
from piiloom.annotation_app.documents.history import EDITS
from piiloom.annotation_app.event_log import EventLog, StoreService
from piiloom.annotation_app.sync.batch import (
    NO_SUGGESTIONS,
    REFUSED,
    STALE,
    DeliveryResult,
    DocumentView,
    EditBatch,
    OpenDocument,
    OpenDocuments,
    RefusalReason,
    Sent,
    outcomes_of,
)
from piiloom.corpus.store.annotation_events import (
    AnnotationDocument,
    AnnotationEvent,
    NewEvent,
    newest_sequences,
    read_events,
    save_documents,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import suggestions_for
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from piiloom.foundation.noop import noop

# may_edit(actor, record_id) raises UsageError, with a message for the user, if they may not edit the record now.
MayEdit = Callable[[str, str], None]
# Returns the version number of the guidelines in force.
GuidelineInForce = Callable[[Store], int | None]
# A hook that is called in the same transaction when documents have changed, to write whatever else depends on them.
OnSaved = Callable[[Store, Sequence[AnnotationDocument]], None]


class DocumentService(StoreService):
    """Document server: opens and edits the documents of all people in one store. Thread-safe.

    Only one process may have the store open. *may_edit*, *guideline* and *on_saved* are hooks; *capacity* is the number of
    documents kept in the cache.
    """

    def __init__(
        self,
        shared: SharedStore,
        log: EventLog,
        *,
        may_edit: MayEdit = noop,
        guideline: GuidelineInForce = noop,
        on_saved: OnSaved = noop,
        capacity: int = 500,
    ) -> None:
        super().__init__(shared, log)
        self._may_edit, self._guideline, self._on_saved = may_edit, guideline, on_saved
        self._documents = OpenDocuments(capacity)

    def open(self, actor: str, record_id: str) -> DocumentView:
        """Return the current document of *actor*; raises ``UsageError`` if the record was deleted or is not on the work list."""
        with self._shared.reading() as store:
            found = self._documents.view(store, actor, record_id)
        if found is None:
            raise _gone(record_id)
        return found

    def deliver(self, actor: str, sent: Sequence[Sent]) -> DeliveryResult:
        """Apply a batch of operations in one transaction; everything it acknowledges is on disk when it returns.

        Do not call this inside ``SharedStore.writing``: it would acknowledge operations that may still be rolled back.
        """
        with self._shared.writing() as store:
            acknowledged = newest_sequences(store, {one.client for one in sent}) if sent else {}
            fresh: list[Sent] = []
            again: list[Sent] = []
            for one in _in_order(sent):
                if one.sequence <= acknowledged.get(one.client, -1):
                    again.append(one)
                else:
                    acknowledged[one.client] = one.sequence
                    fresh.append(one)
            events: list[NewEvent | AnnotationEvent] = []
            if again:
                numbers = {(one.client, one.sequence) for one in again}
                earlier = read_events(store, record_ids={one.record_id for one in again}, actor=actor, kinds=[STALE, REFUSED])
                events += [event for event in earlier if (event.client, event.sequence) in numbers]
            if fresh:
                documents = self._documents.take(store, actor, {one.record_id for one in fresh})
                suggestions = suggestions_for(store, documents) if any(map(_is_on_suggestions, fresh)) else NO_SUGGESTIONS
                batch = EditBatch(
                    actor, documents, self._blocked(actor, documents), self._guideline(store), self._shared.taxonomy.types, suggestions
                )
                for one in fresh:
                    batch.receive(one)
                self._save(store, actor, batch)
                events += batch.events
        refused, stale = outcomes_of(events)
        return DeliveryResult(acknowledged=acknowledged, refused=tuple(refused), stale=tuple(stale))

    def revert(self, actor: str, owner: str, record_id: str, event: int) -> None:
        """Revert the step with log number *event* on the document of *owner*, as a new step by *actor*; later steps are kept.

        Raises ``UsageError`` if the record is gone, ``Refusal`` (a subclass) if later steps depend on this one, and, if
        *actor* is the owner, whatever ``may_edit`` raises. The caller must check that *actor* may edit somebody else's document.
        """
        with self._shared.writing() as store:
            if owner == actor:
                self._may_edit(actor, record_id)
            documents = self._documents.take(store, owner, [record_id])
            if record_id not in documents:
                raise _gone(record_id)
            batch = EditBatch(actor, documents, {}, self._guideline(store), self._shared.taxonomy.types)
            batch.step(owner, record_id, Revert(event=event))
            self._save(store, owner, batch)

    def reopen(self, actor: str, record_ids: Collection[str]) -> None:
        """Set the verdict of *actor* on each of *record_ids* back to open, as new steps; deleted records are left out."""
        with self._shared.writing() as store:
            documents = self._documents.take(store, actor, record_ids)
            batch = EditBatch(actor, documents, {}, self._guideline(store), self._shared.taxonomy.types)
            for record_id in documents:
                batch.step(actor, record_id, Reopen())
            self._save(store, actor, batch)

    def history(self, record_id: str, owner: str | None = None, kinds: Collection[str] = (*EDITS, STALE, REFUSED)) -> list[AnnotationEvent]:
        """Return the events on a record, oldest first: applied, stale and refused operations, of everybody or of *owner* only."""
        with self._shared.reading() as store:
            return read_events(store, record_ids=[record_id], owner=owner, kinds=kinds)

    def _save(self, store: Store, owner: str, batch: EditBatch) -> None:
        changed, rows = batch.close(self._log.append(store, batch.events))
        save_documents(store, rows)
        if rows:
            self._on_saved(store, rows)
        for document in changed:
            # This runs before the commit. If the commit fails, the last edit in the store differs from that of the cached document,
            # and the document is loaded again.
            self._documents.put(owner, document)

    def _blocked(self, actor: str, documents: dict[str, OpenDocument]) -> dict[str, RefusalReason]:
        blocked: dict[str, RefusalReason] = {}
        for record_id in documents:
            try:
                self._may_edit(actor, record_id)
            except UsageError as error:
                blocked[record_id] = ("not_allowed", f"{error.message}. {error.remedy}" if error.remedy else error.message)
        return blocked


def _gone(record_id: str) -> UsageError:
    return UsageError("this record is no longer there", where=f"record {record_id}", remedy="Go on with the next one")


def _is_on_suggestions(sent: Sent) -> bool:
    return isinstance(sent.operation, Mapping) and sent.operation.get("op") in {"take", "refuse"}


def _in_order(sent: Sequence[Sent]) -> list[Sent]:
    """Sort by client, in the order in which they first appear in the batch, then by sequence number."""
    clients = {client: place for place, client in enumerate(dict.fromkeys(one.client for one in sent))}
    return sorted(sent, key=lambda one: (clients[one.client], one.sequence))
