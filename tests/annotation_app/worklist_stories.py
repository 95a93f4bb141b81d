"""Shared by the tests of the work list and of onboarding: a project with records, a clock that the test turns, and helpers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from piiloom.annotation_app.documents.document import EditedDocument, State, document_of
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.onboarding.controls import Controls
from piiloom.annotation_app.onboarding.exercises import Practice, QualifyingTest
from piiloom.annotation_app.onboarding.guidelines import Guidelines
from piiloom.annotation_app.sync.service import DocumentService
from piiloom.annotation_app.worklist.assigning import SettingsStore, WorkList
from piiloom.annotation_app.worklist.pool import Pool, RecordLists
from piiloom.corpus.record import Provenance, Record, RecordPlan, Span
from piiloom.corpus.store.annotation_events import AnnotationDocument, read_events, save_documents
from piiloom.corpus.store.annotation_items import base_records, load_items
from piiloom.corpus.store.annotation_project import load_assignments, load_controls, load_guidelines, load_questions, read_settings
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.records import add_records
from tests.annotation_app.replaying import replayed_tables

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
PAIRS = (("health", "occupation"), ("age", "belief"), ("health", "occupation"))


class TurnedClock:
    """A clock that stands still until somebody turns it, either way."""

    def __init__(self) -> None:
        self.moment = START

    def __call__(self) -> datetime:
        return self.moment

    def turn(self, minutes: float) -> None:
        self.moment += timedelta(minutes=minutes)


def composed(number: int, **changes: object) -> Record:
    """A record as the composer makes them; every third has another pair in its plan."""
    fields: dict[str, object] = {
        "id": f"r0001-ab12cd34-{number:06d}",
        "context": f"As a part-time baker with bad asthma from Leeds, I wrote note {number} today.",
        "question": "Which forms do I need?",
        "spans": (
            Span(id="s1", start=5, end=20, entity_type="occupation", relevance="high", subtype="job_title", value_id="v1"),
            Span(id="s2", start=30, end=36, entity_type="health", relevance="high", subtype="condition", value_id="v2"),
            Span(id="s3", start=42, end=47, entity_type="location", relevance="low", value_id="v3"),
        ),
        "plan": RecordPlan(pair=PAIRS[number % 3], scenario="oven"),
        "provenance": Provenance(stage="screen", provider="composer", model="none" if number % 2 else "gpt-x"),
    }
    return Record(**{**fields, **changes})  # type: ignore[arg-type] # the keywords are those of Record


class WorkProject:
    """Everything that a project has, over a store of its own."""

    def __init__(self, store: Store, records: Sequence[Record] = (), *, pooled: bool = True, overlap: int = 1) -> None:
        add_records(store, None, [(None, record) for record in records], status="imported")
        self.clock = TurnedClock()
        self.shared = SharedStore(store)
        self.log = EventLog(self.shared, self.clock)
        self.settings = SettingsStore(self.shared, self.log)
        self.pool = Pool(self.shared, self.log, self.settings)
        self.work = WorkList(self.shared, self.log, self.settings)
        self.leases = self.work.leases
        self.lists = RecordLists(self.shared, self.log, self.settings)
        self.guidelines = Guidelines(self.shared, self.log)
        self.practice = Practice(self.shared, self.log, self.settings)
        self.service = DocumentService(self.shared, self.log)
        self.test = QualifyingTest(self.shared, self.log, self.settings, self.service.reopen)
        self.controls = Controls(self.shared, self.log, self.settings)
        if overlap != 1:
            self.settings.change("boss", "overlap", overlap)
        if pooled:
            self.pool.add("boss", imported=True)

    def next(self, person: str, *besides: str) -> str | None:
        offer = self.work.next_for(person, besides)
        return offer and offer.record_id

    def base(self, record_id: str) -> EditedDocument:
        with self.shared.reading() as store:
            return document_of(base_records(store, [record_id])[record_id])

    def finish(
        self, person: str, record_id: str, document: EditedDocument | None = None, verdict: str = "accepted", **changes: object
    ) -> None:
        """What the service writes when *person* is done; the service itself has tests of its own."""
        state = replace(State(document=document or self.base(record_id)), verdict=verdict, reason="x" if verdict == "rejected" else "")  # type: ignore[arg-type]
        with self.shared.writing() as store:
            row = AnnotationDocument(
                record_id=record_id,
                annotator=person,
                version=1,
                verdict=verdict,
                flagged=False,
                guideline=None,
                changed_at=self.log.now(),
                event=1,
                state=state.to_json(),
            )
            save_documents(store, [replace(row, **changes)])

    def delete(self, record_id: str) -> None:
        with self.shared.writing() as store:
            store.change("DELETE FROM records WHERE id = ?", [record_id])

    def assert_replay_equals_tables(self) -> None:
        with self.shared.reading() as store:
            events = read_events(store)
            tables = replayed_tables(events)
            assert sorted(tables.items.values(), key=lambda i: (i.record_order, i.record_id)) == load_items(store)
            assert [tables.assignments[key] for key in sorted(tables.assignments)] == load_assignments(store)
            assert tables.settings == read_settings(store)
            assert tables.guidelines == load_guidelines(store)
            assert [tables.questions[n] for n in sorted(tables.questions)] == load_questions(store)
            assert [tables.controls[name] for name in sorted(tables.controls)] == load_controls(store)
