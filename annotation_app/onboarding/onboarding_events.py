"""What the events of onboarding mean: each as the row that it leads to, live and in replay alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from piiloom.corpus.store.annotation_controls import ControlRow
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.corpus.store.guidelines import Guideline, GuidelineQuestion


@dataclass(slots=True)
class OnboardingTables:
    """The tables as the log has them."""

    guidelines: list[Guideline] = field(default_factory=list)
    questions: dict[int, GuidelineQuestion] = field(default_factory=dict)
    controls: dict[str, ControlRow] = field(default_factory=dict)


def guideline_of(event: AnnotationEvent) -> Guideline:
    """The version that a ``guideline`` event makes."""
    return Guideline(version=event.entry["version"], markdown=event.entry["markdown"], made_by=event.actor, made_at=event.at)


def question_of(event: AnnotationEvent) -> GuidelineQuestion:
    """The question that an ``asked`` event asks; its number is that of the event."""
    return GuidelineQuestion(
        question=event.event, record_id=event.record_id, asked_by=event.actor, asked_at=event.at, text=event.entry["text"]
    )


def control_of(event: AnnotationEvent) -> ControlRow:
    """The known answer that a ``control_made`` event gives to a record.

    The event names the record in its entry only: among the events of the record it would give the control away.
    """
    entry = event.entry
    return ControlRow(record_id=entry["record_id"], kind=entry["kind"], source_id=entry["source_id"], entry=entry["answer"])


def replayed(events: Iterable[AnnotationEvent]) -> OnboardingTables:
    """The tables that *events* (oldest first; of other kinds too) lead to."""
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
