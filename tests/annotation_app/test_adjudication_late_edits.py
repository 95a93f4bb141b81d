"""Edits that came too late: a record that has some waits for an adjudicator, also where one person is enough."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from adjudication_stories import JUDGE, version_of

from piiloom.annotation_app.adjudication.resolving import Resolver
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.people.accounts import LOCAL_USER
from piiloom.corpus.store.annotation_items import find_item, set_wanted
from tests.annotation_app.sync_stories import Tab, record, relevance, service_over, shared_store

pytestmark = pytest.mark.long

ACCEPT = {"op": "accept"}
REJECT = {"op": "reject", "reason": "no use"}
LOW = relevance("s2", "low")


class Room:
    """Three records, one or more people each; every person works in tabs of any name."""

    def __init__(self) -> None:
        self.shared = shared_store([record(number) for number in (1, 2, 3)])
        self.resolver = Resolver(self.shared, EventLog(self.shared))
        self.service = service_over(self.shared, on_saved=self.resolver.on_saved)
        self.tabs: dict[str, Tab] = {}

    def does(self, who: str, base: int, *operations: object, tab: str = "one", on: str = "r1") -> None:
        sender = self.tabs.setdefault(f"{who} {tab}", Tab(f"{who} {tab}"))
        self.service.deliver(who, sender.send(on, base, *operations))

    def wants(self, people: int) -> None:
        with self.shared.writing() as store:
            set_wanted(store, ["r1"], people, "")

    def status(self) -> str:
        with self.shared.reading() as store:
            item = find_item(store, "r1")
        assert item is not None
        return item.status


@pytest.fixture
def room() -> Iterator[Room]:
    made = Room()
    yield made
    made.shared.close()


def waits(room: Room) -> bool:
    """Whether r1 waits for an adjudicator; settling must say the same as the list."""
    listed = room.resolver.disputes()
    assert room.resolver.disputes() == listed
    settled = room.resolver.settle_all()
    assert settled.disputed == listed
    assert room.resolver.disputes() == listed
    return listed == ["r1"]


def test_one_person_with_an_edit_from_another_tab_waits(room: Room) -> None:
    room.does("ada", 0, ACCEPT)
    room.does("ada", 0, LOW, tab="two")
    assert waits(room)
    assert room.status() == "annotated"
    (offer,) = room.resolver.open("r1").stale
    made = room.resolver.adjudicate(LOCAL_USER, "r1", offer.merged, seen={"ada": 1}, how={"whole": "ada, other tab"})
    assert [span.relevance for span in made.spans] == ["low", "low"]
    assert not waits(room)


def test_taking_the_accepted_version_settles_it_for_good(room: Room) -> None:
    room.does("ada", 0, ACCEPT)
    room.does("ada", 0, LOW, tab="two")
    side = room.resolver.open("r1")
    room.resolver.adjudicate(JUDGE, "r1", version_of(side, "ada").state.document, seen={"ada": 1}, how={"whole": "ada"})
    room.resolver.reopen(JUDGE, "r1", "look again")
    room.does("ada", 1, relevance("s1", "high"), ACCEPT)
    assert not waits(room)  # what the decision had before it is not offered again
    assert room.status() == "validated"


def test_what_changes_nothing_holds_nothing_up(room: Room) -> None:
    room.does("ada", 0, LOW, ACCEPT)
    room.does("ada", 0, LOW, ACCEPT, tab="two")
    room.does("ada", 0, {"op": "flag", "comment": "odd"}, tab="three")
    assert not waits(room)
    assert room.status() == "validated"


def test_who_does_it_again_by_hand_no_longer_waits(room: Room) -> None:
    room.does("ada", 0, ACCEPT)
    room.does("ada", 0, LOW, tab="two")
    assert room.resolver.disputes() == ["r1"]
    room.does("ada", 1, LOW, ACCEPT, tab="two")
    assert not waits(room)


def test_another_verdict_in_the_late_tab_is_a_dispute_with_oneself(room: Room) -> None:
    room.does("ada", 0, ACCEPT)
    room.does("ada", 0, REJECT, tab="two")
    assert waits(room)
    (offer,) = room.resolver.open("r1").stale
    assert (offer.verdict, offer.reason, offer.finished) == ("rejected", "no use", True)


def test_a_flag_after_the_other_verdict_of_a_late_tab_leaves_the_verdict(room: Room) -> None:
    room.does("ada", 0, ACCEPT)
    room.does("ada", 0, REJECT, {"op": "flag", "comment": "odd"}, tab="two")
    assert waits(room)
    (offer,) = room.resolver.open("r1").stale
    assert (offer.verdict, offer.reason, offer.flag) == ("rejected", "no use", "odd")


def test_a_verdict_from_before_the_late_edits_is_not_theirs(room: Room) -> None:
    room.does("ada", 0, REJECT)
    room.does("ada", 1, ACCEPT)
    room.does("ada", 1, {"op": "flag", "comment": "odd"}, tab="two")
    assert not waits(room)
    assert room.status() == "validated"


@pytest.mark.parametrize("late", [LOW, ACCEPT], ids=["mended", "accepted"])
def test_a_rejected_record_that_was_mended_in_another_tab_is_not_thrown_out(room: Room, late: object) -> None:
    room.does("ada", 0, REJECT)
    room.does("ada", 0, late, tab="two")
    assert waits(room)
    (offer,) = room.resolver.open("r1").stale
    room.resolver.adjudicate(JUDGE, "r1", offer.merged, seen={"ada": 1}, how={})
    assert room.status() == "validated"


def test_a_rejected_record_with_the_same_rejection_twice_is_rejected(room: Room) -> None:
    room.does("ada", 0, REJECT)
    room.does("ada", 0, REJECT, tab="two")
    assert not waits(room)
    assert room.status() == "rejected"


def test_who_has_not_finished_settles_it_by_finishing(room: Room) -> None:
    room.does("ada", 0, relevance("s1", "high"))
    room.does("ada", 0, LOW, tab="two")
    assert not waits(room)
    assert room.status() == "generated"
    room.does("ada", 1, ACCEPT)
    assert waits(room)


def test_the_late_edit_of_somebody_who_has_not_finished_holds_up_nobody_else(room: Room) -> None:
    room.does("bob", 0, relevance("s1", "high"))
    room.does("bob", 0, LOW, tab="two")
    room.does("ada", 0, ACCEPT)
    assert not waits(room)
    assert room.status() == "validated"


def test_two_people_who_agree_wait_when_one_of_them_did_more_elsewhere(room: Room) -> None:
    room.wants(2)
    room.does("ada", 0, ACCEPT)
    room.does("bob", 0, ACCEPT)
    room.does("bob", 0, LOW, tab="two")
    assert waits(room)


def test_a_record_that_still_wants_people_is_not_listed(room: Room) -> None:
    room.wants(2)
    room.does("ada", 0, ACCEPT)
    room.does("ada", 0, LOW, tab="two")
    assert not waits(room)
    room.does("bob", 0, LOW, ACCEPT)
    assert waits(room)


def test_only_records_with_late_edits_are_looked_into(room: Room) -> None:
    for number in (2, 3):
        room.does("ada", 0, ACCEPT, on=f"r{number}")
    room.does("ada", 0, ACCEPT)
    room.does("ada", 0, LOW, tab="two")
    settled = room.resolver.settle_all()
    assert (settled.validated, settled.disputed) == (["r2", "r3"], ["r1"])


def test_a_late_edit_after_the_list_was_looked_at_is_found(room: Room) -> None:
    room.does("ada", 0, LOW, ACCEPT)
    room.does("ada", 0, LOW, tab="two")
    assert room.resolver.disputes() == []
    room.does("ada", 0, relevance("s1", "high"), tab="three")
    assert waits(room)
