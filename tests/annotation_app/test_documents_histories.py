"""Histories: undo and redo over everything, replay, and taking back one step in the middle."""

from __future__ import annotations

import json

import pytest
from document_making import make_document, make_operation
from hypothesis import given
from hypothesis import strategies as st

from piiloom.annotation_app.documents.document import EditedDocument, Refusal, SpanMark, State, parse_operation
from piiloom.annotation_app.documents.history import Change, EditHistory, replayed_history, state_change, turned
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.taxonomy.entity_types import shipped_taxonomy

randoms = st.randoms(use_true_random=False)
BASE = EditedDocument(
    context="Ann is 34 and lives in Bern.",
    question="Who?",
    marks=(SpanMark(id="s1", start=0, end=3, entity_type="age", relevance="high"), SpanMark(id="s2", start=7, end=9, entity_type="age")),
)


class Logged:
    """A history and the events that a store would have of it."""

    def __init__(self, base: EditedDocument = BASE) -> None:
        self.history = EditHistory(base)
        self.events: list[AnnotationEvent] = []

    def do(self, **operation: object) -> int:
        change = self.history.do(parse_operation(operation), shipped_taxonomy().types)
        number = 10 * (len(self.events) + 1)
        entry = json.loads(json.dumps({"operation": operation, "before": change.before, "after": change.after}))
        self.events.append(AnnotationEvent(actor="a", kind="edit", record_id="r", entry=entry, event=number, at=""))
        self.history.name_event(self.history.version, number)
        return number

    def text(self, at: int, removed: str, inserted: str) -> int:
        return self.do(op="text", field="context", at=at, removed=removed, inserted=inserted)


@given(randoms)
def test_undo_goes_all_the_way_back_and_redo_all_the_way_forth(rng):
    log = Logged(make_document(rng))
    history = log.history
    states = [history.state]
    for _ in range(8):
        try:
            log.do(**make_operation(rng, history.state.document))
        except Refusal:
            assert history.state == states[-1]
        else:
            states += [history.state] * (history.state != states[-1])
    for state in reversed(states[:-1]):
        log.do(op="undo")
        assert history.state == state
    assert not history.can_undo
    for state in states[1:]:
        log.do(op="redo")
        assert history.state == state
    assert not history.can_redo


@given(randoms)
def test_replay_of_the_events_is_the_live_history(rng):
    log = Logged(make_document(rng))
    for _ in range(12):
        past = [{"op": "revert", "event": event.event} for event in log.events]
        operation = rng.choice([make_operation(rng, log.history.state.document)] * 3 + [{"op": "undo"}, {"op": "redo"}, *past[-2:]])
        try:
            log.do(**operation)
        except Refusal:
            continue
    again = replayed_history(log.history.base, log.events)
    live = log.history
    assert (again.state, again.version, again.can_undo, again.can_redo) == (live.state, live.version, live.can_undo, live.can_redo)
    assert [again.state_at(version) for version in range(again.version + 1)] == [live.state_at(v) for v in range(live.version + 1)]
    # The operations alone lead to the same place.
    by_hand = Logged(live.base)
    for event in log.events:
        by_hand.do(**event.entry["operation"])
    assert by_hand.history.state == live.state


@given(randoms)
def test_changes_turn_both_ways(rng):
    one, two = (State(document=make_document(rng), verdict=rng.choice(["open", "accepted"]), flag=rng.choice(["", "f"])) for _ in range(2))
    change = state_change(one, two)
    through_json = Change(*json.loads(json.dumps([change.before, change.after])))
    assert turned(one, through_json) == two
    assert turned(two, through_json.inverse) == one
    assert bool(change) == (one != two)


def test_a_change_holds_only_what_differs():
    log = Logged()
    log.text(8, "4", "5")
    entry = log.events[0].entry
    assert (entry["before"]["context"], entry["after"]["context"]) == ({"at": 8, "text": "4"}, {"at": 8, "text": "5"})
    assert list(entry["after"]["spans"]) == ["s2"]
    assert set(entry["after"]) == {"context", "spans"}


def test_nothing_to_undo_or_redo():
    log = Logged()
    for op in ("undo", "redo"):
        with pytest.raises(Refusal) as refusal:
            log.do(op=op)
        assert refusal.value.code == f"nothing_to_{op}"
    log.do(op="unflag")  # done, but nothing came of it: no step to undo
    assert (log.history.version, log.history.can_undo) == (1, False)


def test_a_new_step_ends_redo_and_one_without_effect_does_not():
    log = Logged()
    log.do(op="accept")
    log.do(op="undo")
    log.do(op="reopen")
    assert log.history.can_redo
    log.do(op="flag", comment="look")
    assert not log.history.can_redo


def test_undo_of_the_step_that_reopened_accepts_again():
    log = Logged()
    log.do(op="accept")
    log.do(op="remove", id="s1")
    assert log.history.state.verdict == "open"
    log.do(op="undo")
    assert log.history.state.verdict == "accepted"


def test_revert_takes_back_one_step_and_keeps_the_later_ones():
    log = Logged()
    typed = log.text(8, "4", "5")
    log.text(0, "", "Dear ")
    log.do(op="relevance", id="s2", relevance="low")
    log.do(op="revert", event=typed)
    document = log.history.state.document
    assert document.context == "Dear Ann is 34 and lives in Bern."
    mark = document.marks[1]
    assert (mark.start, mark.end, mark.relevance, mark.doubt) == (12, 14, "low", False)
    log.do(op="undo")
    assert log.history.state.document.context == "Dear Ann is 35 and lives in Bern."


def test_revert_brings_back_a_span_that_went_with_its_text():
    log = Logged()
    gone = log.text(6, " 34", "")
    log.text(0, "Ann", "Bob")
    log.do(op="revert", event=gone)
    assert log.history.state.document.context == "Bob is 34 and lives in Bern."
    assert [(m.id, m.start, m.end, m.doubt) for m in log.history.state.document.marks] == [("s1", 0, 3, True), ("s2", 7, 9, False)]


def test_revert_of_an_undo():
    log = Logged()
    log.do(op="remove", id="s1")
    undone = log.do(op="undo")
    log.do(op="revert", event=undone)
    assert [mark.id for mark in log.history.state.document.marks] == ["s2"]


def test_revert_that_no_longer_fits_is_refused():
    log = Logged()
    first = log.do(op="type", id="s1", type="belief")
    log.do(op="type", id="s1", type="health")
    typed = log.text(8, "4", "5")
    log.text(8, "5", "6")
    added = log.do(op="add", span={"id": "u-1", "start": 23, "end": 27, "type": "location", "relevance": "low"})
    log.do(op="move", id="u-1", start=23, end=28)
    flagged = log.do(op="flag", comment="one")
    log.do(op="flag", comment="two")
    nothing = log.do(op="reopen")
    state = log.history.state
    for event in (first, typed, added, flagged, nothing, 999):
        with pytest.raises(Refusal) as refusal:
            log.do(op="revert", event=event)
        assert refusal.value.code == "no_longer_fits"
    assert log.history.state == state


def test_revert_of_text_that_holds_a_later_span_is_refused():
    log = Logged()
    typed = log.text(28, "", " Her dog is 5.")
    log.do(op="add", span={"id": "u-1", "start": 33, "end": 36, "type": "name", "relevance": "low"})
    with pytest.raises(Refusal):
        log.do(op="revert", event=typed)
    assert log.history.state.document.mark("u-1") is not None


def test_revert_twice_is_refused_the_second_time():
    log = Logged()
    flagged = log.do(op="flag", comment="one")
    log.do(op="revert", event=flagged)
    assert not log.history.state.flag
    with pytest.raises(Refusal):
        log.do(op="revert", event=flagged)


def test_revert_of_content_reopens_and_revert_of_a_verdict_does_what_it_says():
    log = Logged()
    removed = log.do(op="remove", id="s1")
    accepted = log.do(op="accept")
    log.do(op="revert", event=removed)
    assert log.history.state.verdict == "open"
    log.do(op="undo")
    log.do(op="revert", event=accepted)
    assert log.history.state.verdict == "open"
    log.do(op="accept")
    reopened = log.do(op="reopen")
    log.text(8, "4", "5")
    with pytest.raises(Refusal) as refusal:
        log.do(op="revert", event=reopened)
    assert refusal.value.code == "in_doubt"


def test_other_kinds_of_events_are_passed_over():
    event = AnnotationEvent(actor="a", kind="stale", record_id="r", event=1, at="", entry={"operation": {"op": "accept"}})
    assert replayed_history(BASE, [event]).version == 0
