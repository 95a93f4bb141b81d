"""Decisions on suggestions as browsers send them: once each, on the version that they were made on, and replayed from the log."""

from __future__ import annotations

import pytest

from piiloom.annotation_app.adjudication.versions import stale_offers
from piiloom.corpus.store.annotation_items import base_records
from piiloom.corpus.store.judgements import suggestions_for
from piiloom.corpus.suggesting import read_proposals, store_proposals
from tests.annotation_app.suggestion_stories import native_rows, refuse, take
from tests.annotation_app.sync_stories import CONTEXT, UNDO, Tab, documents, events, insert, record, service_over

AT = "2026-11-27T10:00:00.000+00:00"


@pytest.fixture
def offered(shared, tmp_path):
    """The suggestions of r1: Bob as a name, 34 as an age."""
    places = [(CONTEXT.index("Bob"), CONTEXT.index("Bob") + 3, "name", 0.9), (CONTEXT.index("34"), CONTEXT.index("34") + 2, "age", 0.4)]
    rows = native_rows(tmp_path / "found.jsonl", [record(1)], {"r1": places})
    with shared.writing() as store:
        store_proposals(store, read_proposals(store, rows), actor="boss", at=AT)
        return suggestions_for(store, ["r1"])["r1"]


def decided(shared):
    return {one["suggestion"]: one["how"] for one in documents(shared)[0].state.get("decided", [])}


def test_a_decision_is_one_event_with_before_and_after(shared, service, offered):
    bob, age = offered
    service.deliver("ana", Tab("t").send("r1", 0, take(bob, relevance="low"), refuse(age)))
    assert decided(shared) == {bob.id: "accepted", age.id: "refused"}
    first, second = [event for event in events(shared) if event.kind == "edit"]
    assert (first.actor, first.entry["before"]["decided"], first.entry["after"]["decided"]) == (
        "ana",
        {bob.id: None},
        {bob.id: {"how": "accepted", "span": f"p-{bob.id}"}},
    )
    assert second.entry["after"] == {"decided": {age.id: {"how": "refused", "span": None}}}


def test_sent_twice_it_counts_once_also_after_a_restart(shared, service, offered):
    bob, age = offered
    tab = Tab("t")
    sent = tab.send("r1", 0, take(bob), refuse(age), UNDO)
    service.deliver("ana", sent)
    service_over(shared).deliver("ana", sent)
    service_over(shared).deliver("ana", tab.send("r1", 3, UNDO))
    assert decided(shared) == {}
    assert len(documents(shared)[0].state["document"]["spans"]) == 2


def test_each_person_decides_alone(shared, service, offered):
    bob, _ = offered
    service.deliver("ana", Tab("a").send("r1", 0, take(bob)))
    service.deliver("ben", Tab("b").send("r1", 0, refuse(bob)))
    assert [[one["how"] for one in document.state["decided"]] for document in documents(shared)] == [["accepted"], ["refused"]]


def test_a_decision_on_what_is_not_there_is_refused_and_kept(shared, service, offered):
    bob, age = offered
    result = service.deliver("ana", Tab("t").send("r1", 0, insert("x", age.start + 1), take(age), take(bob, start=bob.start, end=bob.end)))
    assert [one.code for one in result.refused] == ["no_suggestion"]
    result = service.deliver("ana", Tab("u").send("r2", 0, take(bob)))
    assert [one.code for one in result.refused] == ["no_suggestion"]  # of another record
    assert [event.kind for event in events(shared)][-1] == "refused"


def test_what_a_late_tab_accepted_is_offered_to_the_adjudicator(shared, service, offered):
    bob, age = offered
    service.deliver("ana", Tab("first").send("r1", 0, refuse(age)))
    result = service.deliver("ana", Tab("second").send("r1", 0, take(bob)))
    assert len(result.stale) == 1
    with shared.reading() as store:
        [offer] = stale_offers(store, base_records(store, ["r1"]))["r1"]
    assert f"p-{bob.id}" in [mark.id for mark in offer.merged.marks]
    assert offer.left_out == 0


def test_a_step_with_a_decision_can_be_taken_back_by_its_number(shared, service, offered):
    bob, age = offered
    service.deliver("ana", Tab("t").send("r1", 0, take(bob), refuse(age)))
    number = next(event.event for event in events(shared) if event.kind == "edit")
    service.revert("ana", "ana", "r1", number)
    assert decided(shared) == {age.id: "refused"}
