"""How documents stand: undone and done again, after a restart, a deletion, a failure, and with few of them at hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.sync.service import DocumentService
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import OutputError, UsageError
from tests.annotation_app.replaying import rebuild_documents
from tests.annotation_app.sync_stories import (
    ACCEPT,
    CONTEXT,
    REDO,
    UNDO,
    Tab,
    documents,
    events,
    insert,
    relevance,
    service_over,
)


def test_undo_and_redo_reach_across_a_restart(shared: SharedStore, service: DocumentService) -> None:
    tab = Tab("t")
    service.deliver("ada", tab.send("r1", 0, insert("a"), relevance("s2", "low"), {"op": "flag", "comment": "odd"}, ACCEPT))
    assert service.open("ada", "r1").state.verdict == "accepted"
    (row,) = documents(shared)
    assert (row.verdict, row.flagged) == ("accepted", True)
    again = service_over(shared)
    again.deliver("ada", tab.send("r1", 4, UNDO, UNDO, UNDO))
    found = again.open("ada", "r1")
    assert (found.state.verdict, found.state.flag, found.state.document.marks[1].relevance) == ("open", "", "high")
    assert found.can_undo
    assert found.can_redo
    third = service_over(shared)
    third.deliver("ada", tab.send("r1", 7, REDO))
    assert third.open("ada", "r1").state.document.marks[1].relevance == "low"
    documents(shared)


def test_an_event_can_be_reverted_by_its_number_in_the_same_process_and_after_a_restart(
    shared: SharedStore, service: DocumentService
) -> None:
    tab = Tab("t")
    service.deliver("ada", tab.send("r1", 0, relevance("s1", "high"), relevance("s2", "low")))
    first, second = (event.event for event in events(shared))
    service.deliver("ada", tab.send("r1", 2, {"op": "revert", "event": first}))
    service_over(shared).deliver("ada", tab.send("r1", 3, {"op": "revert", "event": second}))
    assert [mark.relevance for mark in service.open("ada", "r1").state.document.marks] == ["low", "high"]
    other = service.deliver("bo", Tab("b").send("r1", 0, {"op": "revert", "event": second}))
    assert [one.code for one in other.refused] == ["no_longer_fits"]
    documents(shared)


def test_a_record_deleted_under_someones_hands(shared: SharedStore, service: DocumentService) -> None:
    tab = Tab("t")
    service.deliver("ada", tab.send("r1", 0, insert("a")))
    with shared.writing() as store:
        store.change("DELETE FROM records WHERE id = 'r1'")
    result = service.deliver("ada", [*tab.send("r1", 1, insert("b")), *tab.send("r2", 0, insert("c"))])
    assert result.acknowledged == {"t": 3}
    (refused,) = result.refused
    assert (refused.sequence, refused.code) == (2, "gone")
    assert "deleted" in refused.sentence
    assert service.open("ada", "r2").version == 1
    for asked in ("r1", "never heard of"):
        with pytest.raises(UsageError, match="no longer there"):
            service.open("ada", asked)
    assert [event.kind for event in service.history("r1")] == ["edit", "refused"]
    assert rebuild_documents(shared) == 1  # what is gone from the store has nothing to be made from
    assert [row.record_id for row in documents(shared)] == ["r2"]


def test_a_batch_that_cannot_be_written_leaves_nothing_and_comes_again(shared: SharedStore) -> None:
    fails = [True]

    def on_saved(_store: Store, _rows: Any) -> None:
        if fails[0]:
            raise OutputError("the disk is full")

    service = service_over(shared, on_saved=on_saved)
    tab = Tab("t")
    sent = tab.send("r1", 0, insert("a"), insert("b"))
    with pytest.raises(OutputError):
        service.deliver("ada", sent)
    assert events(shared) == []
    assert documents(shared) == []
    assert service.open("ada", "r1").version == 0
    fails[0] = False
    assert service.deliver("ada", sent).stale == ()
    assert service.open("ada", "r1").version == 2
    documents(shared)


def test_an_outer_transaction_that_is_undone_takes_the_papers_with_it(shared: SharedStore, service: DocumentService) -> None:
    tab = Tab("t")
    sent = tab.send("r1", 0, insert("a"))

    def undone() -> None:
        with shared.writing():
            service.deliver("ada", sent)
            raise KeyError

    with pytest.raises(KeyError):
        undone()
    assert service.open("ada", "r1").version == 0
    assert service.deliver("ada", sent).acknowledged == {"t": 1}
    assert service.open("ada", "r1").state.document.context == "a" + CONTEXT
    documents(shared)


def test_time_does_not_go_back(shared: SharedStore) -> None:
    moment = [datetime(2026, 11, 2, 12, tzinfo=UTC)]
    service = DocumentService(shared, EventLog(shared, lambda: moment[0]))
    tab = Tab("t")
    for version in range(3):
        service.deliver("ada", tab.send("r1", version, insert("a")))
        moment[0] -= timedelta(hours=1)
    times = [event.at for event in events(shared)]
    assert times == ["2026-11-02T12:00:00.000+00:00"] * 3
    assert documents(shared)[0].changed_at == times[-1]


def test_few_papers_are_kept_and_the_others_come_back_from_the_log(shared: SharedStore) -> None:
    service = service_over(shared, capacity=1)
    tabs = {who: Tab(who) for who in ("ada", "bo")}
    for version in range(3):
        for who, tab in tabs.items():
            for name in ("r1", "r2", "r3"):
                assert service.open(who, name).version == version
                service.deliver(who, tab.send(name, version, insert(who)))
    assert service.open("bo", "r3").state.document.context == "bo" * 3 + CONTEXT
    assert len(documents(shared)) == 6
