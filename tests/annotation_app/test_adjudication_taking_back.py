"""A step of somebody else taken back by who oversees: a new event, which replay, undo, late edits and figures all honour."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from piiloom.annotation_app.adjudication.resolving import Resolver, revert_step
from piiloom.annotation_app.documents.document import Refusal
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.figures.spans import FinishedRecords
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.sync.editor_data import event_words
from piiloom.annotation_app.sync.service import DocumentService
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, read_events
from piiloom.corpus.store.annotation_items import set_status
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from tests.annotation_app.sync_stories import ACCEPT, UNDO, Tab, documents, events, insert, record, relevance, service_over, shared_store

EVA, BOB = AppUser("eva", "Eva", "adjudicator"), AppUser("bob", "Bob", "annotator")


@pytest.fixture
def shared() -> Iterator[SharedStore]:
    opened = shared_store([record(1), record(2)])
    yield opened
    opened.close()


@pytest.fixture
def service(shared: SharedStore) -> DocumentService:
    return service_over(shared, on_saved=Resolver(shared, EventLog(shared)).on_saved, guideline=lambda _: 2)


def steps(shared: SharedStore) -> list[int]:
    return [event.event for event in events(shared) if event.kind == "edit"]


def test_it_is_a_new_event_of_who_did_it_on_the_document_of_its_owner(shared: SharedStore, service: DocumentService) -> None:
    service.deliver("ada", Tab("t").send("r1", 0, relevance("s1", "high"), relevance("s2", "low"), ACCEPT))
    revert_step(shared, service, EVA, "r1", steps(shared)[0])
    event = events(shared)[-1]
    assert (event.actor, event.owner, event.kind, event.client, event.guideline) == ("eva", "ada", FOR_ANOTHER, None, 2)
    assert (event.entry["version"], event.entry["operation"]) == (4, {"op": "revert", "event": steps(shared)[0]})
    assert event_words(event) == f"step {steps(shared)[0]} of ada taken back"
    (row,) = documents(shared)  # which sees to it that the log alone gives the same
    assert (row.annotator, row.version, row.verdict, row.event) == ("ada", 4, "open", event.event)
    for again in (service, service_over(shared)):
        found = again.open("ada", "r1")
        assert [mark.relevance for mark in found.state.document.marks] == ["low", "low"]
        assert (found.version, found.can_undo) == (4, True)
    assert service.open("eva", "r1").version == 0
    with shared.reading() as store:
        assert [one.event for one in read_events(store, owner="ada", kinds=["edit", FOR_ANOTHER])] == [*steps(shared), event.event]
        assert read_events(store, owner="eva") == []


def test_its_owner_goes_on_from_there_and_may_undo_it(shared: SharedStore, service: DocumentService) -> None:
    tab = Tab("t")
    service.deliver("ada", tab.send("r1", 0, relevance("s1", "high"), ACCEPT))
    revert_step(shared, service, EVA, "r1", steps(shared)[0])
    late = service.deliver("ada", tab.send("r1", 2, insert("x")))  # from the tab that has not heard of it
    assert [(one.base, one.version) for one in late.stale] == [(2, 3)]
    assert service.deliver("ada", tab.send("r1", 3, UNDO, ACCEPT)).stale == ()
    assert service.open("ada", "r1").state.document.marks[0].relevance == "high"
    documents(shared)


def test_what_was_taken_back_for_somebody_can_be_taken_back_too(shared: SharedStore, service: DocumentService) -> None:
    service.deliver("ada", Tab("t").send("r1", 0, relevance("s1", "high"), ACCEPT))
    first, accepted = steps(shared)
    revert_step(shared, service, EVA, "r1", first)
    revert_step(shared, service, EVA, "r1", events(shared)[-1].event)
    assert service.open("ada", "r1").state.document.marks[0].relevance == "high"
    revert_step(shared, service, AppUser("ada", "Ada", "annotator"), "r1", events(shared)[-1].event)
    assert [event.kind for event in events(shared)][-3:] == [FOR_ANOTHER, FOR_ANOTHER, "edit"]
    assert accepted in steps(shared)
    documents(shared)


def test_an_acceptance_alone_is_taken_back_to_an_open_record(shared: SharedStore, service: DocumentService) -> None:
    service.deliver("ada", Tab("t").send("r1", 0, relevance("s1", "high"), ACCEPT))
    revert_step(shared, service, EVA, "r1", steps(shared)[1])
    found = service.open("ada", "r1").state
    assert (found.verdict, found.document.marks[0].relevance) == ("open", "high")


def test_late_edits_are_merged_into_what_is_left(shared: SharedStore, service: DocumentService) -> None:
    service.deliver("ada", Tab("one").send("r1", 0, relevance("s1", "high"), ACCEPT))
    service.deliver("ada", Tab("two").send("r1", 0, relevance("s2", "low")))
    revert_step(shared, service, EVA, "r1", steps(shared)[0])
    (offer,) = Resolver(shared, EventLog(shared)).open("r1").stale
    assert [mark.relevance for mark in offer.merged.marks] == ["low", "low"]
    assert not offer.finished


def test_agreement_and_figures_no_longer_count_the_version(shared: SharedStore, service: DocumentService) -> None:
    room = FinishedRecords()
    service.deliver("ada", Tab("t").send("r1", 0, relevance("s1", "high"), ACCEPT))
    with shared.reading() as store:
        assert [version.annotator for one in room.load(store) for version in one.versions] == ["ada"]
    revert_step(shared, service, EVA, "r1", steps(shared)[0])
    with shared.reading() as store:
        assert room.load(store) == FinishedRecords().load(store) == []


def test_annotators_take_back_their_own_steps_alone(shared: SharedStore, service: DocumentService) -> None:
    service.deliver("ada", Tab("t").send("r1", 0, insert("a")))
    service.deliver("bob", Tab("b").send("r1", 0, insert("b")))
    adas, bobs = steps(shared)
    for person in (BOB, None):
        with pytest.raises(UsageError):
            revert_step(shared, service, person, "r1", adas)
    assert len(events(shared)) == 2
    revert_step(shared, service, BOB, "r1", bobs)
    assert (events(shared)[-1].kind, events(shared)[-1].owner) == ("edit", "bob")
    assert (service.open("bob", "r1").version, service.open("ada", "r1").version) == (2, 1)


def test_what_cannot_be_taken_back_is_told_and_nothing_happens(shared: SharedStore, service: DocumentService) -> None:
    service.deliver("ada", Tab("t").send("r1", 0, relevance("s1", "high"), {"op": "remove", "id": "s1"}))
    with pytest.raises(Refusal, match="changed again since"):
        revert_step(shared, service, EVA, "r1", steps(shared)[0])
    for record_id, event in (("r1", 999), ("r2", steps(shared)[0]), ("r9", steps(shared)[0])):
        with pytest.raises(UsageError, match="no such step"):
            revert_step(shared, service, EVA, record_id, event)
    with shared.writing() as store:
        set_status(store, ["r1"], "validated", "")
    with pytest.raises(UsageError, match="Reopen it first"):
        revert_step(shared, service, EVA, "r1", steps(shared)[1])
    with shared.writing() as store:
        set_status(store, ["r1"], "annotated", "")
        store.change("DELETE FROM records WHERE id = 'r1'")
    with pytest.raises(UsageError, match="no longer there"):
        revert_step(shared, service, EVA, "r1", steps(shared)[1])
    assert len(events(shared)) == 2


def test_ones_own_step_needs_a_place_at_the_record(shared: SharedStore) -> None:
    def nobody(_actor: str, _record_id: str) -> None:
        raise UsageError("somebody else has it")

    service_over(shared).deliver("ada", Tab("t").send("r1", 0, insert("a")))
    with pytest.raises(UsageError, match="somebody else"):
        revert_step(shared, service_over(shared, may_edit=nobody), AppUser("ada", "Ada", "annotator"), "r1", steps(shared)[0])
