"""Versions of one record, side by side, and what is offered of edits that came too late."""

from __future__ import annotations

from project_stories import changed, finish, pool, record, without

from piiloom.annotation_app.adjudication.resolving import Resolver
from piiloom.annotation_app.adjudication.versions import SideBySide, side_by_side
from piiloom.annotation_app.documents.document import document_of
from piiloom.annotation_app.documents.merging import differences_between
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.people.accounts import LOCAL_USER
from piiloom.corpus.store.database import MEMORY, Store
from tests.annotation_app.sync_stories import Tab, insert, relevance, service_over, shared_store
from tests.annotation_app.sync_stories import record as desk_record


def laid_out(*versions: object, **fields: object) -> SideBySide:
    with Store.open(MEMORY) as store:
        pool(store, [record(1)], wanted=2)
        for who, marks in zip(("ada", "bob", "cid"), versions, strict=False):
            finish(store, record(1), who, marks, **fields)  # type: ignore[arg-type]
        return side_by_side(store, "r1")


def test_versions_and_their_differences_are_side_by_side() -> None:
    side = laid_out(without("s4"), changed("s1", entity_type="education"))
    assert [version.annotator for version in side.versions] == ["ada", "bob"]
    assert side.accepted == side.versions
    assert all(version.finished for version in side.versions)
    base, (ada, bob) = document_of(side.base), [version.state.document for version in side.versions]
    assert [one.kind for one in differences_between(ada, bob)] == ["type", "only_right"]
    assert [one.kind for one in differences_between(base, ada)] == ["only_left"]
    assert [one.kind for one in differences_between(base, bob)] == ["type"]


def test_open_versions_are_shown_and_do_not_count() -> None:
    side = laid_out(None, verdict="open")
    assert [version.finished for version in side.versions] == [False]
    assert side.accepted == ()


def test_an_edit_that_came_too_late_is_offered_merged() -> None:
    shared = shared_store([desk_record(1)])
    service, resolver = service_over(shared), Resolver(shared, EventLog(shared))
    service.deliver("ada", Tab("one").send("r1", 0, relevance("s1", "high")))
    late = Tab("two")
    service.deliver("ada", late.send("r1", 0, relevance("s2", "low"), insert("Dr ", 0)))
    side = resolver.open("r1")
    (offer,) = side.stale
    assert (offer.annotator, offer.conflicts, offer.left_out, len(offer.events)) == ("ada", (), 0, 2)
    assert offer.merged.context.startswith("Dr Ann")
    assert {mark.id: mark.relevance for mark in offer.merged.marks} == {"s1": "high", "s2": "low"}
    shared.close()


def test_clashes_keep_the_newest_and_are_told() -> None:
    shared = shared_store([desk_record(1)])
    service, resolver = service_over(shared), Resolver(shared, EventLog(shared))
    service.deliver("ada", Tab("one").send("r1", 0, {"op": "type", "id": "s1", "type": "code"}))
    service.deliver("ada", Tab("two").send("r1", 0, {"op": "type", "id": "s1", "type": "age"}, relevance("s2", "low")))
    (offer,) = resolver.open("r1").stale
    assert [(one.span, one.fields) for one in offer.conflicts] == [("s1", ("type",))]
    assert offer.merged.marks[0].entity_type == "code"
    shared.close()


def test_nothing_is_offered_that_is_there_already_or_was_never_ours() -> None:
    shared = shared_store([desk_record(1)])
    service, resolver = service_over(shared), Resolver(shared, EventLog(shared))
    service.deliver("ada", Tab("one").send("r1", 0, relevance("s1", "high")))
    service.deliver("ada", Tab("two").send("r1", 0, relevance("s1", "high")))
    service.deliver("ada", Tab("odd").send("r1", 77, relevance("s1", None)))
    service.deliver("ada", Tab("odd2").send("r1", 0, {"op": "nonsense"}, {"op": "undo"}))
    assert resolver.open("r1").stale == ()
    shared.close()


def test_what_was_decided_on_is_not_offered_again() -> None:
    shared = shared_store([desk_record(1)])
    resolver = Resolver(shared, EventLog(shared))
    service = service_over(shared, on_saved=resolver.on_saved)
    service.deliver("ada", Tab("one").send("r1", 0, {"op": "accept"}))
    service.deliver("ada", Tab("two").send("r1", 0, relevance("s1", "high")))
    (offer,) = resolver.open("r1").stale
    made = resolver.adjudicate(LOCAL_USER, "r1", offer.merged, seen={"ada": 1}, how={"stale": list(offer.events)})
    assert made.spans[0].relevance == "high"
    assert resolver.open("r1").stale == ()
    assert document_of(made) == offer.merged
    shared.close()
