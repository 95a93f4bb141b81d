"""Versions side by side, choosing span by span, and edits that came too late."""

from __future__ import annotations

import random

import pytest
from desk_stories import Tab, desk_over, insert, relevance, shared_store
from desk_stories import record as desk_record
from document_making import make_document
from hypothesis import given, settings
from hypothesis import strategies as st
from project_stories import added, changed, document, finish, record, without
from project_stories import pool as pool_project

from annotation_app.adjudication.resolving import Resolver
from annotation_app.adjudication.versions import SideBySide, assembled, choices, side_by_side
from annotation_app.agreement.pairing import placed
from annotation_app.documents.document import Document, document_of
from annotation_app.event_log import EventLog
from annotation_app.people.identity import LOCAL
from corpus.store.database import MEMORY, Store
from foundation.errors import UsageError


def laid_out(*versions: object, **fields: object) -> SideBySide:
    with Store.open(MEMORY) as store:
        pool_project(store, [record(1)], wanted=2)
        for who, marks in zip(("ada", "bob", "cid"), versions, strict=False):
            finish(store, record(1), who, marks, **fields)  # type: ignore[arg-type]
        return side_by_side(store, "r1")


def test_versions_and_their_differences_are_side_by_side() -> None:
    side = laid_out(without("s4"), changed("s1", entity_type="education"))
    assert [version.annotator for version in side.versions] == ["ada", "bob"]
    assert side.accepted == side.finished == side.versions
    assert [one.kind for one in side.differences["ada", "bob"]] == ["type", "only_right"]
    assert [one.kind for one in side.changes["ada"]] == ["only_left"]
    assert [one.kind for one in side.changes["bob"]] == ["type"]
    with pytest.raises(UsageError):
        side.version_of("eva")


def test_open_versions_are_shown_and_do_not_count() -> None:
    side = laid_out(None, verdict="open")
    assert (len(side.versions), side.finished, side.differences) == (1, (), {})


def documents(side: SideBySide) -> dict[str, Document]:
    return {version.annotator: version.state.document for version in side.accepted}


def test_spans_are_chosen_one_by_one() -> None:
    held = documents(laid_out(without("s4"), changed("s1", entity_type="education"), added(0, 2)))
    found = choices(held, "ada")
    assert [choice.agreed for choice in found] == [False, False, True, True, False]
    assert [choice.options["bob"] and choice.options["bob"].entity_type for choice in found] == [
        None, "education", "health", "location", "age",
    ]  # fmt: skip
    made = assembled(held, text_from="ada", question_from="bob", picks={0: "cid", 1: "bob", 4: None})
    assert [(m.start, m.entity_type) for m in made.marks] == [(0, "name"), (5, "education"), (16, "health"), (28, "location")]
    assert made.question == "Which forms?"
    with pytest.raises(UsageError, match="still open"):
        assembled(held, text_from="ada", question_from="ada", picks={0: None, 1: "bob"})
    with pytest.raises(UsageError, match="no version"):
        assembled(held, text_from="ada", question_from="ada", picks={0: None, 1: "eva", 4: None})
    with pytest.raises(UsageError, match="no version"):
        assembled(held, text_from="eva", question_from="ada", picks={})


def test_an_agreed_span_can_be_left_out() -> None:
    held = documents(laid_out(None, without("s4")))
    made = assembled(held, text_from="ada", question_from="ada", picks={1: None, 3: "ada"})
    assert [mark.id for mark in made.marks] == ["s1", "s3", "s4"]


def test_spans_that_overlap_cannot_be_chosen_together() -> None:
    held = {
        "ada": document("x" * 20, (0, 5, "age", "low"), (5, 9, "name", "low")),
        "bob": document("x" * 20, (2, 9, "code", "low")),
    }
    found = choices(held, "ada")
    assert [{who: mark and mark.start for who, mark in one.options.items()} for one in found] == [
        {"ada": 0, "bob": None}, {"ada": 5, "bob": 2},
    ]  # fmt: skip
    with pytest.raises(UsageError, match="overlap"):
        assembled(held, text_from="ada", question_from="ada", picks={0: "ada", 1: "bob"})


def test_spans_follow_the_text_that_was_chosen_and_ids_stay_unique() -> None:
    held = {
        "ada": document("Hm, Ann has asthma.", (12, 18, "health", "high")),
        "bob": document("Ann has asthma.", (0, 3, "name", "low"), (8, 14, "health", "high")),
    }
    found = choices(held, "ada")
    assert [one.agreed for one in found] == [False, True]
    made = assembled(held, text_from="ada", question_from="ada", picks={0: "bob"})
    assert [(made.context[m.start : m.end], m.id) for m in made.marks] == [("Ann", "s0"), ("asthma", "s0-2")]


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_taking_all_of_one_person_gives_that_persons_spans(seed: int) -> None:
    rng = random.Random(seed)
    held = {who: make_document(rng) for who in ("ada", "bob", "cid")}
    for who, mine in held.items():
        picks = {choice.number: who for choice in choices(held, who)}
        made = assembled(held, text_from=who, question_from=who, picks=picks)
        assert (made.context, made.question, placed(made.marks)) == (mine.context, mine.question, placed(mine.marks))


def test_an_edit_that_came_too_late_is_offered_merged() -> None:
    shared = shared_store([desk_record(1)])
    desk, resolver = desk_over(shared), Resolver(shared, EventLog(shared))
    desk.deliver("ada", Tab("one").send("r1", 0, relevance("s1", "high")))
    late = Tab("two")
    desk.deliver("ada", late.send("r1", 0, relevance("s2", "low"), insert("Dr ", 0)))
    side = resolver.open("r1")
    (offer,) = side.stale
    assert (offer.annotator, offer.conflicts, offer.left_out, len(offer.events)) == ("ada", (), 0, 2)
    assert offer.merged.context.startswith("Dr Ann")
    assert {mark.id: mark.relevance for mark in offer.merged.marks} == {"s1": "high", "s2": "low"}
    assert {mark.id: mark.relevance for mark in offer.edited.marks} == {"s1": "low", "s2": "low"}
    shared.close()


def test_clashes_keep_the_newest_and_are_told() -> None:
    shared = shared_store([desk_record(1)])
    desk, resolver = desk_over(shared), Resolver(shared, EventLog(shared))
    desk.deliver("ada", Tab("one").send("r1", 0, {"op": "type", "id": "s1", "type": "code"}))
    desk.deliver("ada", Tab("two").send("r1", 0, {"op": "type", "id": "s1", "type": "age"}, relevance("s2", "low")))
    (offer,) = resolver.open("r1").stale
    assert [(one.span, one.fields) for one in offer.conflicts] == [("s1", ("type",))]
    assert offer.merged.marks[0].entity_type == "code"
    shared.close()


def test_nothing_is_offered_that_is_there_already_or_was_never_ours() -> None:
    shared = shared_store([desk_record(1)])
    desk, resolver = desk_over(shared), Resolver(shared, EventLog(shared))
    desk.deliver("ada", Tab("one").send("r1", 0, relevance("s1", "high")))
    desk.deliver("ada", Tab("two").send("r1", 0, relevance("s1", "high")))
    desk.deliver("ada", Tab("odd").send("r1", 77, relevance("s1", None)))
    desk.deliver("ada", Tab("odd2").send("r1", 0, {"op": "nonsense"}, {"op": "undo"}))
    assert resolver.open("r1").stale == ()
    shared.close()


def test_what_was_decided_on_is_not_offered_again() -> None:
    shared = shared_store([desk_record(1)])
    resolver = Resolver(shared, EventLog(shared))
    desk = desk_over(shared, on_saved=resolver.on_saved)
    desk.deliver("ada", Tab("one").send("r1", 0, {"op": "accept"}))
    desk.deliver("ada", Tab("two").send("r1", 0, relevance("s1", "high")))
    (offer,) = resolver.open("r1").stale
    made = resolver.adjudicate(LOCAL, "r1", offer.merged, seen={"ada": 1}, how={"stale": list(offer.events)})
    assert made.spans[0].relevance == "high"
    assert resolver.open("r1").stale == ()
    assert document_of(made) == offer.merged
    shared.close()
