"""Decisions in the store: kept, found again, and what they mean for releases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import (
    Adjudication,
    AnnotationDocument,
    StoredRevision,
    add_adjudications,
    disputed_records,
    finished_records,
    last_decisions,
    load_adjudications,
    save_documents,
    stored_revisions,
    unreleasable_records,
)
from piiloom.corpus.store.annotation_items import AnnotationItem, add_items
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records

MakeRecord = Callable[..., Record]
SPAN = {"id": "s1", "start": 0, "end": 3, "type": "name", "relevance": "low", "doubt": False}


def decision(event: int, record_id: str = "r1", outcome: str = "validated") -> Adjudication:
    document = {"context": "naïve 👩‍🚀", "spans": []} if outcome == "validated" else {}
    return Adjudication(
        record_id=record_id,
        adjudicator="eva",
        outcome=outcome,  # type: ignore[arg-type]
        document=document,
        made_at=f"2026-11-02T09:00:{event:02d}.000+00:00",
        event=event,
    )


def test_decisions_come_back_in_the_order_of_the_log(store: Store) -> None:
    rows = [decision(1, outcome="agreed"), decision(2), decision(3, "r2", "rejected"), decision(4, outcome="reopened")]
    add_adjudications(store, rows[2:])
    add_adjudications(store, rows[:2])
    assert load_adjudications(store) == rows
    assert load_adjudications(store, ["r2", "r9"]) == [rows[2]]
    assert last_decisions(store) == {"r1": "reopened", "r2": "rejected"}


def test_what_does_not_stand_is_kept_from_releases(store: Store, make_record: MakeRecord) -> None:
    add_records(store, None, [(None, make_record(1))], status="control")
    for event, (name, outcome) in enumerate(
        [("a", "validated"), ("b", "rejected"), ("c", "validated"), ("c", "reopened"), ("b", "reopened"), ("b", "validated")]
    ):
        add_adjudications(store, [decision(event, name, outcome)])
    assert unreleasable_records(store) == {"record-00001", "c"}


def test_revisions_are_found_with_their_place_in_the_plan(store: Store, make_record: MakeRecord) -> None:
    add_records(store, "run", [(7, make_record(7)), (8, make_record(8))])
    add_records(store, "run", [(7, make_record(7, revision=1))], status="validated")
    found = stored_revisions(store, ["record-00007", "gone"])
    assert list(found) == ["record-00007"]
    assert found["record-00007"][1] == StoredRevision(
        id="record-00007", record_order=3, run_id="run", plan_index=7, revision=1, status="validated"
    )
    assert [row.revision for row in found["record-00007"]] == [0, 1]


def finish(
    store: Store, record_id: str, who: str, *, verdict: str = "accepted", at: str = "2026", spans: object = (SPAN,), **more: str
) -> None:
    document = {"context": "Ann", "question": None, **more, "spans": list(spans)}  # type: ignore[call-overload]
    state = {"document": document, "verdict": verdict, "reason": "", "flag": ""}
    row = AnnotationDocument(
        record_id=record_id, annotator=who, version=1, verdict=verdict, flagged=False, guideline=1, changed_at=at, event=1, state=state
    )
    save_documents(store, [row])


def item(record_id: str, order: int, **fields: object) -> AnnotationItem:
    return AnnotationItem(**{"record_id": record_id, "record_order": order, "status": "annotated", "wanted": 2, **fields})  # type: ignore[arg-type]


@pytest.fixture
def project(store: Store) -> Store:
    add_items(
        store, [item("a", 1), item("b", 2, priority=5.0), item("c", 3), item("d", 4, role="practice"), item("e", 5, status="validated")]
    )
    return store


@pytest.mark.parametrize(
    ("other", "unlike"),
    [
        ({}, False),
        ({"question": ""}, False),
        ({"spans": [{**SPAN, "id": "u-1", "doubt": True}]}, False),
        ({"spans": [{**SPAN, "end": 2}]}, True),
        ({"spans": [{**SPAN, "type": "age"}]}, True),
        ({"spans": [{**SPAN, "relevance": None}]}, True),
        ({"spans": []}, True),
        ({"context": "Anne"}, True),
        ({"question": "Who?"}, True),
        ({"verdict": "rejected"}, True),
        ({"verdict": "open", "spans": []}, False),
    ],
)
def test_records_in_dispute_are_those_whose_finished_documents_differ(project: Store, other: dict[str, object], unlike: bool) -> None:
    finish(project, "a", "ada")
    finish(project, "a", "bob", **other)  # type: ignore[arg-type]
    assert [(row.record_id, row.differ, row.late) for row in disputed_records(project)] == ([("a", True, None)] if unlike else [])


def test_disputes_wait_for_all_people_and_come_by_priority(project: Store) -> None:
    for name in "abde":
        finish(project, name, "ada")
        finish(project, name, "bob", spans=[])
    finish(project, "c", "ada")
    assert [row.record_id for row in disputed_records(project)] == ["b", "a"]


def test_rejections_are_alike_whatever_the_spans(project: Store) -> None:
    finish(project, "a", "ada", verdict="rejected")
    finish(project, "a", "bob", verdict="rejected", spans=[])
    assert disputed_records(project) == []


def test_finished_records_are_told_by_the_time_of_the_last_person(project: Store) -> None:
    finish(project, "a", "ada", at="2026-11-01")
    finish(project, "a", "bob", at="2026-11-03")
    finish(project, "b", "ada", at="2026-11-01")
    for name in "de":
        finish(project, name, "ada")
        finish(project, name, "bob")
    assert finished_records(project, "2026-11-02") == []
    assert finished_records(project, "2026-11-03") == ["a"]
