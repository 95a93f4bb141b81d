"""Rebuild the table of documents of all people from the log alone; the table must always equal the result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from piiloom.annotation_app.documents.document import document_of
from piiloom.annotation_app.documents.history import EDITS, replayed
from piiloom.annotation_app.sync.batch import document_row
from piiloom.annotation_app.sync.open_documents import open_document_of
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import AnnotationDocument, AnnotationEvent, read_events, replace_documents
from piiloom.corpus.store.annotation_items import base_records, load_items
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore

# Number of records per chunk, small enough that their events fit into memory easily.
_CHUNK = 500


def documents_from(bases: Mapping[str, Record], events: Iterable[AnnotationEvent]) -> list[AnnotationDocument]:
    """Replay the edits among *events* (oldest first) on the records *bases* (by id).

    Returns one row per record and person, sorted by both. Other kinds of event and events of other records are skipped.
    """
    own: defaultdict[tuple[str, str], list[AnnotationEvent]] = defaultdict(list)
    for event in events:
        if event.kind in EDITS and event.record_id is not None and event.record_id in bases:
            own[event.record_id, event.owner].append(event)
    return [
        document_row(open_document_of(bases[record_id], replayed(document_of(bases[record_id]), edits), edits[-1].event), edits[-1])
        for (record_id, _), edits in sorted(own.items())
    ]


def replayed_documents(store: Store) -> Iterator[AnnotationDocument]:
    """Yield the replayed documents of all records that are both on the work list and in the store."""
    record_ids = sorted(item.record_id for item in load_items(store))
    for at in range(0, len(record_ids), _CHUNK):
        chunk = record_ids[at : at + _CHUNK]
        yield from documents_from(base_records(store, chunk), read_events(store, record_ids=chunk, kinds=EDITS))


def rebuild_documents(shared: SharedStore) -> int:
    """Rebuild the table from the log and return the number of documents in it; documents of deleted records are dropped."""
    with shared.writing() as store:
        rows = list(replayed_documents(store))
        replace_documents(store, rows)
    return len(rows)
