"""Convert events of the work list and of onboarding to table rows.

Live operation and replay use the same functions, so that the tables can be rebuilt from the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, get_args

from piiloom.annotation_app.event_log import stamp
from piiloom.corpus.store.annotation_assignments import Assignment, State
from piiloom.corpus.store.annotation_controls import ControlRow
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.corpus.store.annotation_items import Item, Status
from piiloom.corpus.store.guidelines import Guideline, GuidelineQuestion

ASSIGNMENT_KINDS: dict[str, State] = {"assigned": "assigned", "leased": "leased", "released": "released", "skipped": "skipped"}
# The record status after each kind of adjudication event. A status in the event's entry takes precedence ("reopened" may have one).
STATUS_KINDS: dict[str, Status] = {
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

    items: dict[str, Item] = field(default_factory=dict)
    assignments: dict[tuple[str, str], Assignment] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    guidelines: list[Guideline] = field(default_factory=list)
    questions: dict[int, GuidelineQuestion] = field(default_factory=dict)
    controls: dict[str, ControlRow] = field(default_factory=dict)


def item_of(event: AnnotationEvent) -> Item:
    """Build the row for a ``pooled`` event of a record."""
    entry = event.entry
    return Item(
        record_id=str(event.record_id),
        record_order=entry["record_order"],
        role=entry["role"],
        wanted=entry["wanted"],
        priority=entry["priority"],
        reasons=tuple(entry["reasons"]),
        facts=entry["facts"],
        changed_at=event.at,
    )


def assignment_of(event: AnnotationEvent) -> Assignment:
    """Build the row for an event of ``ASSIGNMENT_KINDS``. The person is the entry's "annotator" if given, else the event's actor."""
    return Assignment(
        record_id=str(event.record_id),
        annotator=event.entry.get("annotator", event.actor),
        state=ASSIGNMENT_KINDS[event.kind],
        leased_until=event.entry.get("until"),
        changed_at=event.at,
    )


def later(moment: str, minutes: float) -> str:
    """Return the time *minutes* after *moment*; both are timestamps in the log's format."""
    return stamp(datetime.fromisoformat(moment) + timedelta(minutes=minutes))


def guideline_of(event: AnnotationEvent) -> Guideline:
    """Build the guideline version from a ``guideline`` event."""
    return Guideline(version=event.entry["version"], markdown=event.entry["markdown"], made_by=event.actor, made_at=event.at)


def question_of(event: AnnotationEvent) -> GuidelineQuestion:
    """Build the question from an ``asked`` event; its number is the event's number."""
    return GuidelineQuestion(
        question=event.event, record_id=event.record_id, asked_by=event.actor, asked_at=event.at, text=event.entry["text"]
    )


def control_of(event: AnnotationEvent) -> ControlRow:
    """Build the known answer from a ``control_made`` event.

    The record id is only in the event's entry, not in its ``record_id``: listed among the record's events, it would reveal that
    the record is a control.
    """
    entry = event.entry
    return ControlRow(record_id=entry["record_id"], kind=entry["kind"], source_id=entry["source_id"], entry=entry["answer"])


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
            status = named if named in get_args(Status) else STATUS_KINDS[kind]
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
