"""Rebuild the tables of the annotation app from its event log: they must always follow from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, get_args

from piiloom.annotation_app.adjudication.resolving import OUTCOMES, adjudication_of
from piiloom.annotation_app.documents.document import document_of
from piiloom.annotation_app.documents.history import EDITS, replayed_history
from piiloom.annotation_app.event_log import ASSIGNMENT_KINDS, assignment_of, control_of, guideline_of, item_of, question_of
from piiloom.annotation_app.people.accounts import Account
from piiloom.annotation_app.sync.service import document_row, open_document_of
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import Adjudication, AnnotationDocument, AnnotationEvent, read_events, save_documents
from piiloom.corpus.store.annotation_items import AnnotationItem, ItemStatus, base_records, load_items
from piiloom.corpus.store.annotation_project import ControlRow, Guideline, GuidelineQuestion, RecordAssignment
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore

# The record status after each kind of adjudication event. A status in the event's entry takes precedence ("reopened" may have one).
STATUS_KINDS: dict[str, ItemStatus] = {
    "annotated": "annotated",
    "agreed": "agreed",
    "adjudicated": "adjudicated",
    "validated": "validated",
    "rejected_record": "rejected",
    "reopened": "generated",
}


@dataclass(slots=True)
class ReplayedTables:
    """The tables as replayed from the log. ``assignments`` is keyed by (record id, person), the others by id, number or name."""

    items: dict[str, AnnotationItem] = field(default_factory=dict)
    assignments: dict[tuple[str, str], RecordAssignment] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    guidelines: list[Guideline] = field(default_factory=list)
    questions: dict[int, GuidelineQuestion] = field(default_factory=dict)
    controls: dict[str, ControlRow] = field(default_factory=dict)


def replayed_tables(events: Iterable[AnnotationEvent]) -> ReplayedTables:
    """Build the tables from *events*, oldest first; other kinds of event are ignored."""
    tables = ReplayedTables()
    for event in events:
        _fold(tables, event)
    return tables


def _fold(tables: ReplayedTables, event: AnnotationEvent) -> None:
    entry = event.entry
    match event.kind:
        case "pooled" if event.record_id is not None:
            tables.items[event.record_id] = item_of(event)
        case "pooled":
            _change(tables, entry["records"], wanted=entry["wanted"], changed_at=event.at)
        case "control_made":
            _change(tables, [entry["record_id"]], role=entry["role"])
            tables.controls[entry["record_id"]] = control_of(event)
        case "prioritised":
            for record_id, priority, reasons in entry["items"]:
                _change(tables, [record_id], priority=priority, reasons=tuple(reasons), changed_at=event.at)
        case kind if kind in ASSIGNMENT_KINDS:
            row = assignment_of(event)
            tables.assignments[row.record_id, row.annotator] = row
        case kind if kind in STATUS_KINDS:
            named = entry.get("status")
            status = named if named in get_args(ItemStatus) else STATUS_KINDS[kind]
            _change(tables, [str(event.record_id)], status=status, changed_at=event.at)
        case _:
            _fold_project(tables, event)


def _fold_project(tables: ReplayedTables, event: AnnotationEvent) -> None:
    """Note an event on the settings or the guidelines."""
    entry = event.entry
    match event.kind:
        case "setting":
            tables.settings[entry["name"]] = entry["value"]
        case "guideline":
            tables.guidelines.append(guideline_of(event))
        case "asked":
            tables.questions[event.event] = question_of(event)
        case "answered":
            asked = tables.questions[entry["question"]]
            tables.questions[asked.question] = replace(asked, answer=entry["text"], answered_by=event.actor, answered_at=event.at)


def _change(tables: ReplayedTables, record_ids: Iterable[str], **fields: Any) -> None:
    for record_id in record_ids:
        if record_id in tables.items:
            tables.items[record_id] = replace(tables.items[record_id], **fields)


ACCOUNT_KINDS: Final = ("account_added", "account_changed")


def replayed_accounts(events: Iterable[AnnotationEvent]) -> list[Account]:
    """Return the accounts after *events*, oldest first. Events of other kinds are ignored."""
    known: dict[str, Account] = {}
    for event in events:
        if event.kind == "account_added":
            known[event.entry["name"]] = Account(**event.entry, made_at=event.at)
        elif event.kind == "account_changed":
            known[event.entry["name"]] = replace(known[event.entry["name"]], **event.entry)
    return sorted(known.values(), key=lambda account: (account.made_at, account.name))


def replayed_adjudications(events: Iterable[AnnotationEvent]) -> list[Adjudication]:
    """Build the table of decisions from *events*, oldest first; other kinds of event are ignored."""
    return [adjudication_of(event) for event in events if event.kind in OUTCOMES]


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
        document_row(open_document_of(bases[record_id], replayed_history(document_of(bases[record_id]), edits), edits[-1].event), edits[-1])
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
        store.change("DELETE FROM annotation_documents")
        save_documents(store, rows)
    return len(rows)
