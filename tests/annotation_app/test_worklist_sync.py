"""The work list and the service together: what is delivered late counts while nobody else has the record."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.onboarding.controls import control_results
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.sync.service import DocumentService, Sent
from piiloom.annotation_app.worklist.pool import ListQuery
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.annotation_project import load_controls, newest_version
from piiloom.corpus.store.database import MEMORY, Store

ACCEPT = {"op": "accept"}


@pytest.fixture
def project() -> Iterator[WorkProject]:
    with Store.open(MEMORY) as store:
        yield WorkProject(store, [composed(n) for n in range(3)])


def service_of(project: WorkProject) -> DocumentService:
    return DocumentService(project.shared, project.log, may_edit=project.leases.may_edit, guideline=newest_version)


def sent(person: str, number: int, record_id: str, operation: object, base: int) -> list[Sent]:
    return [Sent(client=f"tab-of-{person}", sequence=number, record_id=record_id, base=base, operation=operation)]


def test_a_late_delivery_is_taken_while_the_record_is_free_and_refused_in_words_afterwards(project: WorkProject) -> None:
    service = service_of(project)
    record_id = str(project.next("ann"))
    project.clock.turn(45)
    late = service.deliver("ann", sent("ann", 1, record_id, {"op": "relevance", "id": "s3", "relevance": "high"}, 0))
    assert (late.refused, late.stale) == ((), ())
    project.clock.turn(45)
    offers = [project.next("ben")]
    offers.append(project.next("ben", *offers))
    offers.append(project.next("ben", *offers))
    assert record_id in offers
    too_late = service.deliver("ann", sent("ann", 2, record_id, ACCEPT, 1))
    assert [(one.code, "given to somebody else" in one.sentence) for one in too_late.refused] == [("not_allowed", True)]
    assert service.open("ann", record_id).state.verdict == "open"
    assert service.open("ann", record_id).state.document.marks[2].relevance == "high"


def test_accepting_finishes_reopening_takes_the_record_back(project: WorkProject) -> None:
    service = service_of(project)
    project.guidelines.ensure()
    record_id = str(project.next("ann"))
    service.deliver("ann", sent("ann", 1, record_id, ACCEPT, 0))
    assert project.next("ann") != record_id
    project.clock.turn(100)
    service.deliver("ann", sent("ann", 2, record_id, {"op": "reopen"}, 1))
    assert service.open("ann", record_id).state.verdict == "open"
    assert project.next("ann") == record_id
    assert project.next("ben") != record_id
    with project.shared.reading() as store:
        assert {event.guideline for event in read_events(store, kinds=["edit"])} == {1}
    project.assert_replay_equals_tables()


def test_a_record_deleted_under_someones_hands_is_told(project: WorkProject) -> None:
    service = service_of(project)
    record_id = str(project.next("ann"))
    service.deliver("ann", sent("ann", 1, record_id, {"op": "flag", "comment": "hm"}, 0))
    project.delete(record_id)
    answer = service.deliver("ann", sent("ann", 2, record_id, ACCEPT, 1))
    assert len(answer.refused) == 1
    assert "deleted" in answer.refused[0].sentence
    assert project.next("ann") not in {None, record_id}


def test_an_expiry_during_edits_of_two_threads_leaves_one_owner(project: WorkProject) -> None:
    service = service_of(project)
    record_id = str(project.next("ann"))
    for round_number in range(1, 6):
        project.clock.turn(31)
        start = threading.Barrier(2)
        faults: list[BaseException] = []

        def deliver(
            person: str, number: int = round_number, start: threading.Barrier = start, faults: list[BaseException] = faults
        ) -> None:
            try:
                start.wait()
                service.deliver(
                    person, sent(person, number, record_id, {"op": "flag", "comment": f"{number}"}, service.open(person, record_id).version)
                )
            except BaseException as error:  # noqa: BLE001 - a thread's failure must reach the test
                faults.append(error)

        threads = [threading.Thread(target=deliver, args=(person,)) for person in ("ann", "ben")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert faults == []
        with project.shared.reading() as store:
            events = read_events(store, record_ids=[record_id], kinds=["edit", "refused"])
        last = [(event.actor, event.kind) for event in events if event.sequence == round_number]
        assert sorted(kind for _, kind in last) == ["edit", "refused"]
    project.assert_replay_equals_tables()


def test_a_control_is_worked_on_like_any_record_and_tells_nobody(project: WorkProject) -> None:
    service = service_of(project)
    project.controls.plant_errors("boss", [composed(0).id], ["relevance"])
    with project.shared.reading() as store:
        row = load_controls(store)[0]
    wrong = service.open("ann", row.record_id).state.document.mark(row.entry["span"])
    assert wrong is not None
    mended = {"op": "relevance", "id": wrong.id, "relevance": "low" if wrong.relevance == "high" else "high"}
    service.deliver("ann", sent("ann", 1, row.record_id, mended, 0))
    service.deliver("ann", sent("ann", 2, row.record_id, ACCEPT, 1))
    (ann,) = control_results(project.shared)
    assert (ann.found.part, ann.other_changes) == (1, 0)
    seen = project.lists.find(AppUser("ann", "ann", "annotator"), ListQuery(own="finished")).lines
    assert [(line.record_id, line.role, line.status) for line in seen] == [(row.record_id, "work", "annotated")]
