"""Convert onboarding events to table rows; live operation and replay use the same functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from piiloom.corpus.store.annotation_assignments import ControlRow
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.corpus.store.annotation_project import Guideline, GuidelineQuestion


@dataclass(slots=True)
class OnboardingTables:
    """The onboarding tables as replayed from the log; questions by number, controls by record id."""

    guidelines: list[Guideline] = field(default_factory=list)
    questions: dict[int, GuidelineQuestion] = field(default_factory=dict)
    controls: dict[str, ControlRow] = field(default_factory=dict)


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


def replayed(events: Iterable[AnnotationEvent]) -> OnboardingTables:
    """Build the tables from *events*, oldest first; other kinds of event are ignored."""
    tables = OnboardingTables()
    for event in events:
        if event.kind == "guideline":
            tables.guidelines.append(guideline_of(event))
        elif event.kind == "asked":
            tables.questions[event.event] = question_of(event)
        elif event.kind == "answered":
            number = event.entry["question"]
            tables.questions[number] = replace(
                tables.questions[number], answer=event.entry["text"], answered_by=event.actor, answered_at=event.at
            )
        elif event.kind == "control_made":
            row = control_of(event)
            tables.controls[row.record_id] = row
    return tables
