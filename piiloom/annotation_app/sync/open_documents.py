"""Load people's documents by replaying the log, with a cache of the most recently used ones."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from piiloom.annotation_app.documents.document import State, document_of
from piiloom.annotation_app.documents.history import EDITS, History, replayed
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import AnnotationEvent, newest_edits, read_events
from piiloom.corpus.store.annotation_items import base_records
from piiloom.corpus.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """One person's current work on a record. ``record`` is as before annotation; ``event`` is the last edit's number, 0 for none."""

    record: Record
    state: State
    version: int
    can_undo: bool
    can_redo: bool
    event: int


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A cached document. Only the thread that holds the store's write lock may use ``history``; ``view`` is safe for all threads."""

    history: History
    view: DocumentView


def open_document_of(record: Record, history: History, event: int) -> OpenDocument:
    """Build the cache entry for *history*, whose last edit has log number *event*."""
    view = DocumentView(
        record=record,
        state=history.state,
        version=history.version,
        can_undo=history.can_undo,
        can_redo=history.can_redo,
        event=event,
    )
    return OpenDocument(history, view)


class OpenDocuments:
    """LRU cache of documents by person and record, at most *capacity* entries. Thread-safe.

    An entry is valid only if its last edit is also the last one in the store, since a transaction may have been rolled back.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, str], OpenDocument] = OrderedDict()
        self._lock = threading.Lock()

    def view(self, store: Store, actor: str, record_id: str) -> DocumentView | None:
        """Return the current document, for reading only; None if the record is no longer on the work list."""
        newest = newest_edits(store, [record_id], actor)
        if record_id not in newest:
            return None
        with self._lock:
            kept = self._kept.get((actor, record_id))
        if kept is None or kept.view.event != newest[record_id]:
            kept = load_open_documents(store, actor, [record_id]).get(record_id)
            if kept is None:
                return None
        self.put(actor, kept)
        return kept.view

    def take(self, store: Store, actor: str, record_ids: Collection[str]) -> dict[str, OpenDocument]:
        """Remove the entries of *record_ids* from the cache (or load them) and return them for writing; ``put`` puts them back.

        Records that no longer exist are left out. Call this only with the store's write lock.
        """
        newest = newest_edits(store, record_ids, actor)
        with self._lock:
            kept = {record_id: self._kept.pop((actor, record_id), None) for record_id in newest}
        good = {
            record_id: document for record_id, document in kept.items() if document is not None and document.view.event == newest[record_id]
        }
        missing = newest.keys() - good.keys()
        return good | (load_open_documents(store, actor, missing) if missing else {})

    def put(self, actor: str, document: OpenDocument) -> None:
        """Put *document* into the cache as the most recently used entry; the oldest ones are dropped if it is full."""
        key = (actor, document.view.record.id)
        with self._lock:
            self._kept[key] = document
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)


def load_open_documents(store: Store, actor: str, record_ids: Collection[str]) -> dict[str, OpenDocument]:
    """Load the documents of *actor* by replaying the log; records that do not exist are left out."""
    events: defaultdict[str, list[AnnotationEvent]] = defaultdict(list)
    for event in read_events(store, record_ids=record_ids, owner=actor, kinds=EDITS):
        events[str(event.record_id)].append(event)
    documents: dict[str, OpenDocument] = {}
    for record_id, record in base_records(store, record_ids).items():
        own = events[record_id]
        documents[record_id] = open_document_of(record, replayed(document_of(record), own), own[-1].event if own else 0)
    return documents
