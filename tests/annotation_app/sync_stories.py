"""Records on a work list, a document service over them, and people's tabs that send operations to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from piiloom.annotation_app.event_log import Clock, EventLog, utc_now
from piiloom.annotation_app.sync.service import DocumentService, Sent
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.annotation_events import AnnotationDocument, AnnotationEvent, load_documents, read_events
from piiloom.corpus.store.annotation_items import AnnotationItem, add_items
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.records import add_records
from tests.annotation_app.replaying import replayed_documents

ACCEPT, UNDO, REDO = {"op": "accept"}, {"op": "undo"}, {"op": "redo"}
CONTEXT = "Ann 👩‍👩‍👧 has asthma, and Bob (34) bakes."
SPANS = (
    Span(id="s1", start=0, end=3, entity_type="name", relevance="low"),
    Span(id="s2", start=14, end=20, entity_type="health", relevance="high", subtype="condition"),
)


def record(number: int, context: str = CONTEXT, spans: tuple[Span, ...] = SPANS) -> Record:
    """Record *number*, called r<number>."""
    return Record(id=f"r{number}", context=context, question="Which forms?", spans=spans)


def shared_store(records: Sequence[Record], path: Path = MEMORY) -> SharedStore:
    """A store with *records* on its work list."""
    store = Store.open(path)
    pool(store, records)
    return SharedStore(store)


def pool(store: Store, records: Sequence[Record]) -> None:
    """Add *records* and put them on the work list."""
    with store.writing():
        add_records(store, None, [(None, one) for one in records])
        orders = dict(store.rows("SELECT id, record_order FROM records"))
        add_items(store, [AnnotationItem(record_id=one.id, record_order=orders[one.id]) for one in records])


def service_over(shared: SharedStore, clock: Clock = utc_now, **hooks: object) -> DocumentService:
    """A document service, as after a restart."""
    return DocumentService(shared, EventLog(shared, clock), **hooks)  # type: ignore[arg-type]


def insert(text: str, at: int = 0, where: str = "context") -> dict[str, object]:
    """The operation that puts *text* at *at*."""
    return {"op": "text", "field": where, "at": at, "removed": "", "inserted": text}


def relevance(span: str, value: str | None) -> dict[str, object]:
    """The operation that sets a relevance."""
    return {"op": "relevance", "id": span, "relevance": value}


@dataclass
class Tab:
    """One tab of one browser: it numbers what it sends."""

    name: str
    newest: int = 0
    sent: list[Sent] = field(default_factory=list)

    def send(self, record_id: str, base: int, *operations: object) -> list[Sent]:
        """*operations* one after the other, the first made on version *base*."""
        fresh: list[Sent] = []
        for offset, operation in enumerate(operations):
            self.newest += 1
            fresh.append(Sent(client=self.name, sequence=self.newest, record_id=record_id, base=base + offset, operation=operation))
        self.sent += fresh
        return fresh


def events(shared: SharedStore) -> list[AnnotationEvent]:
    """The whole log."""
    with shared.reading() as store:
        return read_events(store)


def documents(shared: SharedStore) -> list[AnnotationDocument]:
    """All documents; that they are what the log says is seen to by the way."""
    with shared.reading() as store:
        found = load_documents(store)
        assert list(replayed_documents(store)) == found
    return found
