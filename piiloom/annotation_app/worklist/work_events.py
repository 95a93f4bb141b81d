"""Convert the events of the work list to table rows.

Live operation and replay use the same functions, so that the tables can be rebuilt from the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, get_args

from piiloom.annotation_app.event_log import stamp
from piiloom.corpus.store.annotation_assignments import RecordAssignment, State
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.corpus.store.annotation_items import AnnotationItem, ItemStatus

ASSIGNMENT_KINDS: dict[str, State] = {"assigned": "assigned", "leased": "leased", "released": "released", "skipped": "skipped"}
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
class WorkTables:
    """The tables of the work list as replayed from the log. ``assignments`` is keyed by (record id, person)."""

    items: dict[str, AnnotationItem] = field(default_factory=dict)
    assignments: dict[tuple[str, str], RecordAssignment] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)


def item_of(event: AnnotationEvent) -> AnnotationItem:
    """Build the row for a ``pooled`` event of a record."""
    entry = event.entry
    return AnnotationItem(
        record_id=str(event.record_id),
        record_order=entry["record_order"],
        role=entry["role"],
        wanted=entry["wanted"],
        priority=entry["priority"],
        reasons=tuple(entry["reasons"]),
        facts=entry["facts"],
        changed_at=event.at,
    )


def assignment_of(event: AnnotationEvent) -> RecordAssignment:
    """Build the row for an event of ``ASSIGNMENT_KINDS``. The person is the entry's "annotator" if given, else the event's actor."""
    return RecordAssignment(
        record_id=str(event.record_id),
        annotator=event.entry.get("annotator", event.actor),
        state=ASSIGNMENT_KINDS[event.kind],
        leased_until=event.entry.get("until"),
        changed_at=event.at,
    )


def status_after(event: AnnotationEvent) -> ItemStatus | None:
    """Return the status that *event* gives its record; None if it does not change the status."""
    if event.kind not in STATUS_KINDS:
        return None
    named = event.entry.get("status")
    for status in get_args(ItemStatus):
        if status == named:
            return status  # type: ignore[no-any-return] # get_args cannot say that these are the literals
    return STATUS_KINDS[event.kind]


def later(moment: str, minutes: float) -> str:
    """Return the time *minutes* after *moment*; both are timestamps in the log's format."""
    return stamp(datetime.fromisoformat(moment) + timedelta(minutes=minutes))


def replayed(events: Iterable[AnnotationEvent]) -> WorkTables:
    """Build the tables from *events*, oldest first; other kinds of event are ignored."""
    tables = WorkTables()
    for event in events:
        _fold(tables, event)
    return tables


def _fold(tables: WorkTables, event: AnnotationEvent) -> None:
    if event.kind == "pooled":
        if event.record_id is not None:
            tables.items[event.record_id] = item_of(event)
        else:
            _change(tables, event.entry["records"], wanted=event.entry["wanted"], changed_at=event.at)
    elif event.kind == "control_made":
        _change(tables, [event.entry["record_id"]], role=event.entry["role"])
    elif event.kind == "prioritised":
        for record_id, priority, reasons in event.entry["items"]:
            _change(tables, [record_id], priority=priority, reasons=tuple(reasons), changed_at=event.at)
    elif event.kind == "setting":
        tables.settings[event.entry["name"]] = event.entry["value"]
    elif event.kind in ASSIGNMENT_KINDS:
        row = assignment_of(event)
        tables.assignments[row.record_id, row.annotator] = row
    elif (status := status_after(event)) is not None:
        _change(tables, [str(event.record_id)], status=status, changed_at=event.at)


def _change(tables: WorkTables, record_ids: Iterable[str], **fields: Any) -> None:
    for record_id in record_ids:
        if record_id in tables.items:
            tables.items[record_id] = replace(tables.items[record_id], **fields)
