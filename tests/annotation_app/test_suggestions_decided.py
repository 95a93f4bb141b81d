"""Suggestions in a document: where they are after edits, what accepting, changing and refusing does, and that it can be undone."""

from __future__ import annotations

import json

import pytest
from document_making import make_document, make_edit, make_operation
from hypothesis import given
from hypothesis import strategies as st
from suggestion_stories import make_decision, make_suggestions, refuse, suggestion, take

from piiloom.annotation_app.documents.document import Decided, EditedDocument, Refusal, SpanMark, State, parse_operation
from piiloom.annotation_app.documents.history import EditHistory, apply, placements, replayed_history
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case

TEXT = "Ann is 34 and has asthma."
BASE = EditedDocument(context=TEXT, question="Why?", marks=(SpanMark(id="s1", start=0, end=3, entity_type="name"),))
AGE, ASTHMA = suggestion(7, 9), suggestion(18, 24, "health", subtype="condition")
NAME = suggestion(0, 3, "name", detector="probe")
ALL = (AGE, ASTHMA, NAME)
randoms = st.randoms(use_true_random=False)


def done(*operations, suggestions=ALL, base=BASE):
    history = EditHistory(base)
    for operation in operations:
        history.do(parse_operation(operation), shipped_taxonomy().types, suggestions)
    return history


def outcomes(history):
    return {one.suggestion: (one.how, one.span) for one in history.state.decided}


def text(at, removed, inserted):
    return {"op": "text", "field": "context", "at": at, "removed": removed, "inserted": inserted}


def test_an_accepted_suggestion_is_a_span_that_tells_where_it_comes_from():
    history = done(take(ASTHMA, relevance="high"))
    mark = history.state.document.marks[1]
    assert (mark.id, mark.start, mark.end, mark.entity_type) == (f"p-{ASTHMA.id}", 18, 24, "health")
    assert (mark.relevance, mark.subtype) == ("high", "condition")
    assert outcomes(history) == {ASTHMA.id: ("accepted", mark.id)}


@pytest.mark.parametrize("change", [{"end": 23}, {"start": 19}, {"type": "belief"}])
def test_other_ends_or_another_type_change_it(change):
    history = done(take(ASTHMA, **change))
    assert outcomes(history)[ASTHMA.id][0] == "changed"
    assert history.state.document.marks[1].subtype == (None if "type" in change else "condition")


def test_a_relevance_that_the_detector_did_not_tell_is_no_change():
    told = suggestion(7, 9, relevance="low")
    assert outcomes(done(take(AGE, relevance="high")))[AGE.id][0] == "accepted"
    assert outcomes(done(take(told, relevance="high"), suggestions=[told]))[told.id][0] == "changed"


def test_a_span_that_is_there_already_is_not_added_again():
    history = done(take(NAME))
    assert history.state.document == BASE
    assert outcomes(history) == {NAME.id: ("accepted", "s1")}


def test_two_detectors_that_agree_give_one_span():
    other = suggestion(7, 9, detector="probe")
    history = done(take(AGE, other), suggestions=[AGE, other])
    assert len(history.state.document.marks) == 2
    assert set(outcomes(history).values()) == {("accepted", f"p-{AGE.id}")}


def test_what_becomes_of_the_span_later_counts():
    span = f"p-{AGE.id}"
    moved = {"op": "move", "id": span, "start": 4, "end": 9}
    assert outcomes(done(take(AGE), moved)) == {AGE.id: ("changed", span)}
    assert outcomes(done(take(AGE), {"op": "type", "id": span, "type": "belief"})) == {AGE.id: ("changed", span)}
    assert outcomes(done(take(AGE), {"op": "relevance", "id": span, "relevance": "high"})) == {AGE.id: ("accepted", span)}
    assert outcomes(done(take(AGE), {"op": "remove", "id": span})) == {AGE.id: ("refused", None)}
    assert outcomes(done(take(AGE), moved, {"op": "undo"})) == {AGE.id: ("accepted", span)}
    assert outcomes(done(take(AGE), text(0, "", "Well, "))) == {AGE.id: ("accepted", span)}


def test_refusing_adds_nothing_and_keeps_the_verdict():
    history = done({"op": "accept"}, refuse(AGE, ASTHMA))
    assert history.state == State(
        document=BASE,
        verdict="accepted",
        decided=tuple(Decided(suggestion=name, how="refused") for name in sorted([AGE.id, ASTHMA.id])),
    )


def test_accepting_opens_the_record_again():
    assert done({"op": "accept"}, take(AGE)).state.verdict == "open"


def test_undo_redo_and_taking_back_a_step():
    history = done(take(AGE), refuse(ASTHMA), {"op": "undo"})
    assert set(outcomes(history)) == {AGE.id}
    history.do(parse_operation({"op": "redo"}), shipped_taxonomy().types)
    history.name_event(1, 50)
    history.do(parse_operation({"op": "revert", "event": 50}), shipped_taxonomy().types)  # the first step, not the last
    assert outcomes(history) == {ASTHMA.id: ("refused", None)}
    assert history.state.document == BASE


@case_by_case(
    ("operations", "code"),
    [
        ([take(AGE), take(AGE)], "already_decided"),
        ([take(AGE), refuse(AGE)], "already_decided"),
        ([refuse(AGE, AGE)], "already_decided"),
        ([take(suggestion(1, 2))], "no_suggestion"),
        ([text(7, "34", "35"), take(AGE)], "no_suggestion"),
        ([take(AGE, start=2)], "overlap"),
        ([take(AGE, end=99)], "outside"),
        ([take(AGE, type="shoe size")], "unknown_type"),
    ],
)
def test_what_is_refused_changes_nothing(operations, code):
    history = done(*operations[:-1])
    before = history.state
    with pytest.raises(Refusal) as refusal:
        history.do(parse_operation(operations[-1]), shipped_taxonomy().types, ALL)
    assert (refusal.value.code, history.state) == (code, before)


def test_suggestions_move_with_the_text_or_are_withdrawn():
    document = done(text(0, "Ann", "Well, Ann"), text(24, "asthma", "flu")).state.document
    placed = {one.suggestion.id: one for one in placements(ALL, BASE, document)}
    assert (placed[AGE.id].start, placed[AGE.id].end, placed[AGE.id].withdrawn) == (13, 15, None)
    assert placed[ASTHMA.id].withdrawn == "text_changed"
    without = done(text(17, " asthma", "")).state.document
    assert {one.suggestion.id: one.withdrawn for one in placements(ALL, BASE, without)} == {
        AGE.id: None,
        ASTHMA.id: "text_gone",
        NAME.id: None,
    }
    after = done(text(0, "", "Well, "), take(AGE, start=13, end=15))
    assert outcomes(after)[AGE.id][0] == "accepted"


def test_a_suggestion_for_another_revision_is_moved_to_this_text():
    other = suggestion(10, 12, text="He says: ah 34")
    elsewhere = suggestion(12, 14, text=f"He says: {TEXT[4:9]}", record_order=7)
    placed = placements([other, elsewhere], BASE, BASE)
    assert placed[0].withdrawn is not None
    assert BASE.context[placed[1].start : placed[1].end] == "34"


@given(randoms)
def test_an_open_suggestion_always_stands_on_the_words_that_it_was_made_for(rng):
    base = make_document(rng)
    suggestions = make_suggestions(rng, base.context)
    state = State(document=base)
    for _ in range(5):
        try:
            state = apply(state, parse_operation(make_edit(rng, state.document)), base, types=shipped_taxonomy().types)
        except Refusal:
            continue
        for one in placements(suggestions, base, state.document):
            said = base.context[one.suggestion.start : one.suggestion.end]
            assert one.withdrawn or state.document.context[one.start : one.end] == said


@given(randoms)
def test_decisions_survive_replay_json_and_undo(rng):
    base = make_document(rng)
    suggestions = make_suggestions(rng, base.context)
    history, events, states = EditHistory(base), [], [State(document=base)]
    for number in range(8):
        now = history.state
        operation = make_decision(rng, now, suggestions) if rng.random() < 0.6 else make_operation(rng, now.document)
        try:
            change = history.do(parse_operation(operation), shipped_taxonomy().types, suggestions)
        except Refusal:
            assert history.state == now
            continue
        entry = json.loads(json.dumps({"operation": operation, "before": change.before, "after": change.after}))
        events.append(AnnotationEvent(event=number + 1, at="", actor="ada", kind="edit", record_id="r", entry=entry))
        if history.state != states[-1]:
            states.append(history.state)
    assert replayed_history(base, events).state == history.state
    assert State.from_json(json.loads(json.dumps(history.state.to_json()))) == history.state
    spans = {mark.id for mark in history.state.document.marks}
    for one in history.state.decided:
        assert (one.span is None) == (one.how == "refused")
        assert one.how == "refused" or one.span in spans or one.span not in {mark.id for mark in base.marks}
    for expected in reversed(states[:-1]):
        history.do(parse_operation({"op": "undo"}), shipped_taxonomy().types)
        assert history.state == expected
