"""Projects in a store: records on the work list, and documents that people finished, without the editor in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark, State, document_of
from piiloom.corpus.record import Provenance, Record, RecordPlan, Span
from piiloom.corpus.store.annotation_events import AnnotationDocument, NewEvent, append_events, load_documents, save_documents
from piiloom.corpus.store.annotation_items import AnnotationItem, add_items, item_facts
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records

CONTEXT = "As a baker with asthma from Leeds, I am 34."
SPANS = (
    Span(id="s1", start=5, end=10, entity_type="occupation", relevance="high"),
    Span(id="s2", start=16, end=22, entity_type="health", relevance="high", subtype="condition"),
    Span(id="s3", start=28, end=33, entity_type="location", relevance="low"),
    Span(id="s4", start=40, end=42, entity_type="age", relevance="low"),
)


def record(number: int = 1, **changes: object) -> Record:
    """Record *number*, called r<number>."""
    fields: dict[str, object] = {
        "id": f"r{number}",
        "context": CONTEXT,
        "question": "Which forms?",
        "spans": SPANS,
        "plan": RecordPlan(pair=("health", "occupation") if number % 2 else ("age", "location")),
        "provenance": Provenance(stage="screen", provider="p", model="m" if number % 2 else "n", templates=(("t.v1", "ab"),)),
    }
    return Record(**{**fields, **changes})  # type: ignore[arg-type] # the keywords are those of Record


def pool(store: Store, records: Sequence[Record], *, run_id: str | None = None, wanted: int = 1, role: str = "work") -> None:
    """Store *records* and put them on the work list."""
    with store.writing():
        add_records(store, run_id, [(n if run_id else None, one) for n, one in enumerate(records)])
        orders = dict(store.rows("SELECT id, record_order FROM records"))
        items = [
            AnnotationItem(record_id=one.id, record_order=orders[one.id], wanted=wanted, role=role, facts=item_facts(one))  # type: ignore[arg-type]
            for one in records
        ]
        add_items(store, items)


def finish(
    store: Store, base: Record, who: str, marks: object = None, *, at: str = "2026-11-02T09:00:00.000+00:00", **changes: object
) -> None:
    """Save what *who* makes of *base*: its marks changed by a function, other fields of the document or the state replaced."""
    verdict = changes.pop("verdict", "accepted")
    document = document_of(base)
    if callable(marks):
        changes["marks"] = tuple(marks(list(document.marks)))
    document = replace(document, **changes)  # type: ignore[arg-type]
    state = State(document=document, verdict=verdict, reason="useless" if verdict == "rejected" else "")  # type: ignore[arg-type]
    version = 1 + max((row.version for row in load_documents(store, record_ids=[base.id], annotator=who)), default=0)
    with store.writing():
        events = append_events(store, [NewEvent(actor=who, kind="edit", record_id=base.id, entry={"operation": {"op": "accept"}})], at)
        row = AnnotationDocument(
            record_id=base.id,
            annotator=who,
            version=version,
            verdict=str(verdict),
            flagged=False,
            guideline=1,
            changed_at=at,
            event=events[0].event,
            state=state.to_json(),
        )
        save_documents(store, [row])


def without(name: str):  # type: ignore[no-untyped-def]
    """A change of marks: one is taken away."""
    return lambda marks: [mark for mark in marks if mark.id != name]


def changed(name: str, **fields: object):  # type: ignore[no-untyped-def]
    """A change of marks: one gets other fields."""
    return lambda marks: [replace(mark, **fields) if mark.id == name else mark for mark in marks]


def added(start: int, end: int, entity_type: str = "name", relevance: str | None = "low"):  # type: ignore[no-untyped-def]
    """A change of marks: a new one."""
    mark = SpanMark(id=f"u-{start}", start=start, end=end, entity_type=entity_type, relevance=relevance)  # type: ignore[arg-type]
    return lambda marks: sorted([*marks, mark], key=lambda one: one.start)


def document(context: str, *places: tuple[int, int, str, str | None]) -> EditedDocument:
    """A document with spans at *places*."""
    marks = tuple(
        SpanMark(id=f"s{n}", start=start, end=end, entity_type=entity_type, relevance=relevance)  # type: ignore[arg-type]
        for n, (start, end, entity_type, relevance) in enumerate(places)
    )
    return EditedDocument(context=context, marks=marks)
