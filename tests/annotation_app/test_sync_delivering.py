"""What browsers send is done once, in order, or refused with the reason; all of it is kept."""

from __future__ import annotations

from typing import Any

from piiloom.annotation_app.sync.service import DocumentService, RefusedEdit, StaleEdit
from piiloom.corpus.store.annotation_events import AnnotationDocument, load_documents
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from tests.annotation_app.sync_stories import CONTEXT, Tab, documents, events, insert, relevance, service_over
from tests.longer import case_by_case


def test_an_edit_is_applied_kept_and_acknowledged(shared: SharedStore, service: DocumentService) -> None:
    before = service.open("ada", "r1")
    assert (before.version, before.event, before.can_undo, before.can_redo) == (0, 0, False, False)
    assert before.state.document.context == CONTEXT

    result = service.deliver("ada", Tab("t").send("r1", 0, insert("Dr ", 0), relevance("s1", "high")))

    assert result.acknowledged == {"t": 2}
    assert result.refused == result.stale == ()
    found = service.open("ada", "r1")
    assert (found.version, found.can_undo, found.can_redo) == (2, True, False)
    assert found.state.document.context == "Dr " + CONTEXT
    assert [(mark.start, mark.end, mark.relevance) for mark in found.state.document.marks] == [(3, 6, "high"), (17, 23, "high")]
    assert before.version == 0  # what was shown before does not change under whoever looks at it
    first, second = events(shared)
    assert (first.actor, first.kind, first.record_id, first.client, first.sequence) == ("ada", "edit", "r1", "t", 1)
    assert first.entry == {
        "operation": insert("Dr ", 0),
        "before": {**first.entry["before"]},
        "after": {**first.entry["after"]},
        "version": 1,
    }
    assert second.entry["version"] == 2
    (row,) = documents(shared)
    assert (row.version, row.verdict, row.flagged, row.event, row.changed_at) == (2, "open", False, second.event, second.at)
    assert row.state == found.state.to_json()
    assert service.open("bo", "r1").version == 0


def test_what_was_heard_before_is_acknowledged_and_not_done_again(shared: SharedStore, service: DocumentService) -> None:
    tab = Tab("t")
    tab.send("r1", 0, insert("a"), insert("b"))
    assert service.deliver("ada", tab.sent).acknowledged == {"t": 2}
    tab.send("r1", 2, insert("c"))
    for _ in range(3):
        assert service.deliver("ada", tab.sent).acknowledged == {"t": 3}
    assert service_over(shared).deliver("ada", [*tab.sent, *tab.sent]).acknowledged == {"t": 3}
    assert service.open("ada", "r1").state.document.context == "cba" + CONTEXT
    assert [event.sequence for event in events(shared)] == [1, 2, 3]


def test_twice_in_one_batch_and_in_any_order_counts_once_and_in_order(shared: SharedStore, service: DocumentService) -> None:
    sent = Tab("t").send("r1", 0, insert("a"), insert("b"), insert("c"))
    assert service.deliver("ada", [sent[2], sent[0], sent[1], sent[0], sent[2]]).acknowledged == {"t": 3}
    assert service.open("ada", "r1").state.document.context == "cba" + CONTEXT
    assert len(events(shared)) == 3


def test_a_gap_is_no_error_and_an_empty_batch_is_nothing(shared: SharedStore, service: DocumentService) -> None:
    tab = Tab("t", newest=41)
    assert service.deliver("ada", tab.send("r1", 0, insert("a"))).acknowledged == {"t": 42}
    assert service.deliver("ada", []).acknowledged == {}
    assert len(events(shared)) == 1


def test_records_of_one_batch_have_versions_of_their_own(shared: SharedStore, service: DocumentService) -> None:
    tab = Tab("t")
    sent = [*tab.send("r1", 0, insert("a")), *tab.send("r2", 0, insert("b")), *tab.send("r1", 1, insert("c"))]
    result = service.deliver("ada", sent)
    assert result.stale == ()
    assert [(row.record_id, row.version) for row in documents(shared)] == [("r1", 2), ("r2", 1)]


def test_two_tabs_of_one_person(shared: SharedStore, service: DocumentService) -> None:
    left, right = Tab("left"), Tab("right")
    service.deliver("ada", left.send("r1", 0, insert("left ")))
    late = right.send("r1", 0, insert("right "), insert("more "))
    result = service.deliver("ada", late)
    assert result.acknowledged == {"right": 2}
    assert result.stale == (
        StaleEdit(client="right", sequence=1, record_id="r1", base=0, version=1),
        # Its base fits the version by chance, but it was made on what the tab saw.
        StaleEdit(client="right", sequence=2, record_id="r1", base=1, version=1),
    )
    assert service.open("ada", "r1").state.document.context == "left " + CONTEXT
    kept = [event for event in events(shared) if event.kind == "stale"]
    assert [event.entry for event in kept] == [
        {"operation": insert("right "), "base": 0, "version": 1},
        {"operation": insert("more "), "base": 1, "version": 1},
    ]
    # Told again when it comes again, also by a server that has been started since; kept once.
    assert service_over(shared).deliver("ada", late).stale == result.stale
    assert len([event for event in events(shared) if event.kind == "stale"]) == 2
    # The tab has been shown the new version and goes on.
    assert service.deliver("ada", right.send("r1", 1, insert("right "))).stale == ()
    assert service.open("ada", "r1").version == 2


def test_stale_on_one_record_leaves_other_records_alone(service: DocumentService) -> None:
    tab = Tab("t")
    sent = [*tab.send("r1", 7, insert("a")), *tab.send("r2", 0, insert("b"))]
    assert [one.record_id for one in service.deliver("ada", sent).stale] == ["r1"]
    assert service.open("ada", "r2").version == 1


def test_a_refused_operation_is_told_kept_and_not_done(shared: SharedStore, service: DocumentService) -> None:
    tab = Tab("t")
    sent = tab.send("r1", 0, {"op": "move", "id": "s1", "start": 0, "end": 16})
    result = service.deliver("ada", sent)
    (refused,) = result.refused
    assert (refused.client, refused.sequence, refused.record_id, refused.code) == ("t", 1, "r1", "overlap")
    assert "overlap" in refused.sentence
    assert service.deliver("ada", sent).refused == (refused,)
    (event,) = events(shared)
    assert (event.kind, event.entry) == ("refused", {"operation": sent[0].operation, "code": "overlap", "sentence": refused.sentence})
    assert service.open("ada", "r1").version == 0
    assert documents(shared) == []
    # What the tab did on top of it was done to something that never was.
    assert [one.sequence for one in service.deliver("ada", tab.send("r1", 1, insert("a"))).stale] == [2]


@case_by_case("junk", [None, 3, "undo", [], {}, {"op": "drop"}, {"op": "revert", "event": 10**30}, {"op": "accept", "by": "root"}])
def test_what_makes_no_sense_is_refused_and_does_not_hold_up_the_rest(service: DocumentService, junk: Any) -> None:
    tab, version = Tab(f"a tab with {junk}"), service.open("ada", "r1").version
    sent = [*tab.send("r1", version, junk), *tab.send("r1", version, insert("a"))]
    result = service.deliver("ada", sent)
    assert [(one.sequence, one.code) for one in result.refused] in ([(1, "malformed")], [(1, "no_longer_fits")])
    assert service.open("ada", "r1").version == version + 1


def test_who_may_not_edit_is_told_why(shared: SharedStore) -> None:
    asked: list[tuple[str, str]] = []

    def may_edit(actor: str, record_id: str) -> None:
        asked.append((actor, record_id))
        if record_id == "r2":
            raise UsageError("Bo has this record now", remedy="Take the next one")

    service = service_over(shared, may_edit=may_edit)
    tab = Tab("t")
    sent = [*tab.send("r1", 0, insert("a"), insert("b")), *tab.send("r2", 0, insert("c"))]
    result = service.deliver("ada", sent)
    assert result.refused == (
        RefusedEdit(client="t", sequence=3, record_id="r2", code="not_allowed", sentence="Bo has this record now. Take the next one"),
    )
    assert sorted(asked) == [("ada", "r1"), ("ada", "r2")]
    assert service.open("ada", "r2").version == 0
    assert events(shared)[-1].entry["operation"] == insert("c")


def test_events_and_documents_note_the_guideline_and_others_may_write_along(shared: SharedStore) -> None:
    saved: list[AnnotationDocument] = []

    def on_saved(store: Store, rows: Any) -> None:
        saved.extend(rows)
        assert load_documents(store, record_ids=["r1"]) == list(rows)

    service = service_over(shared, guideline=lambda _: 3, on_saved=on_saved)
    tab = Tab("t")
    service.deliver("ada", [*tab.send("r1", 0, insert("a")), *tab.send("r1", 0, insert("b"))])
    assert [(event.kind, event.guideline) for event in events(shared)] == [("edit", 3), ("stale", 3)]
    assert [row.guideline for row in documents(shared)] == [3]
    assert [row.version for row in saved] == [1]
