"""Whatever people do and whatever the clock does: the tables are what the log says, and no record has too many people."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.event_log import later
from piiloom.corpus.store.annotation_events import NewEvent, list_heads, read_events
from piiloom.corpus.store.annotation_items import load_items, set_status
from piiloom.corpus.store.annotation_project import load_assignments
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.foundation.errors import UsageError
from tests.annotation_app.replaying import replayed_tables
from tests.longer import EXPLORE

PEOPLE = ("ann", "ben", "cid")
RECORDS = [composed(n) for n in range(4)]
people, numbers = st.sampled_from(PEOPLE), st.integers(0, 3)


class WorkDays(RuleBasedStateMachine):
    """Three people, four records, an admin, and a clock that goes both ways."""

    @initialize(overlap=st.integers(1, 2))
    def open(self, overlap: int) -> None:
        self.store = Store.open(MEMORY)
        self.project = WorkProject(self.store, RECORDS, overlap=overlap)
        self.overlap = overlap

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()

    @rule(person=people)
    def ask(self, person: str) -> None:
        before = self._places()
        offer = self.project.work.next_for(person)
        if offer is not None:
            others = [who for record_id, who in before if record_id == offer.record_id and who != person]
            assert len(others) < self.overlap
            assert offer.leased_until > later(self.project.log.now(), 14)

    @rule(person=people, number=numbers)
    def edit(self, person: str, number: int) -> None:
        record_id = RECORDS[number].id
        others = {who for name, who in self._places() if name == record_id and who != person}
        try:
            self.project.leases.may_edit(person, record_id)
        except UsageError:
            assert len(others) >= self.overlap or self._items()[record_id].status in {"validated", "rejected"}

    @rule(person=people, number=numbers, verdict=st.sampled_from(["open", "accepted", "rejected"]))
    def deliver(self, person: str, number: int, verdict: str) -> None:
        try:
            self.project.leases.may_edit(person, RECORDS[number].id)
        except UsageError:
            return
        self.project.finish(person, RECORDS[number].id, verdict=verdict)

    @rule(person=people, number=numbers)
    def skip(self, person: str, number: int) -> None:
        self.project.leases.skip(person, RECORDS[number].id)

    @rule(person=people, number=numbers, by=st.sampled_from([None, "boss"]))
    def release(self, person: str, number: int, by: str | None) -> None:
        self.project.leases.release(person, RECORDS[number].id, actor=by)

    @rule(person=people)
    def leave(self, person: str) -> None:
        self.project.leases.release_all(person)
        assert not [p for p in self._places(done=False) if p[1] == person and self._state(p) == "leased"]

    @rule(minutes=st.sampled_from([1, 16, 31, 500, -1, -40]))
    def turn(self, minutes: int) -> None:
        self.project.clock.turn(minutes)

    @rule(number=numbers, kind=st.sampled_from(["validated", "rejected_record", "reopened"]))
    def adjudicate(self, number: int, kind: str) -> None:
        status: Any = {"validated": "validated", "rejected_record": "rejected", "reopened": "generated"}[kind]
        with self.project.shared.writing() as store:
            event = self.project.log.append(store, [NewEvent(actor="judy", kind=kind, record_id=RECORDS[number].id)])[0]
            set_status(store, [RECORDS[number].id], status, event.at)

    @rule(seed=st.integers(0, 3))
    def reorder(self, seed: int) -> None:
        self.project.settings.change("boss", "seed", seed)
        self.project.pool.prioritise("boss")

    @invariant()
    def the_log_tells_everything(self) -> None:
        if hasattr(self, "project"):
            self.project.assert_replay_equals_tables()

    @invariant()
    def nobody_shares_too_much(self) -> None:
        if hasattr(self, "project"):
            leased = Counter(record_id for record_id, who in self._places(done=False) if self._state((record_id, who)) == "leased")
            done = Counter(record_id for record_id, _ in self._places())
            for record_id, count in leased.items():
                # Whoever finished once may come back to it though others have finished since.
                assert count <= self.overlap or done[record_id] >= count

    def _places(self, *, done: bool = True) -> set[tuple[str, str]]:
        with self.project.shared.writing() as store:
            now = self.project.log.now()
            live = {(a.record_id, a.annotator) for a in load_assignments(store) if a.state == "leased" and (a.leased_until or "") > now}
            finished = {(h.record_id, h.annotator) for h in list_heads(store) if h.verdict != "open"} if done else set()
        return live | finished

    def _state(self, place: tuple[str, str]) -> str:
        with self.project.shared.reading() as store:
            return {(a.record_id, a.annotator): str(a.state) for a in load_assignments(store)}[place]

    def _items(self) -> dict[str, Any]:
        with self.project.shared.reading() as store:
            return {item.record_id: item for item in load_items(store)}


class TestWorkDays(WorkDays.TestCase):
    settings = settings(max_examples=3, stateful_step_count=20, deadline=None)  # each opens a store


@pytest.mark.long
class TestWorkDaysAtLength(WorkDays.TestCase):
    settings = settings(max_examples=30 if EXPLORE else 12, stateful_step_count=30, deadline=None)


def test_events_of_other_kinds_and_records_are_left_aside() -> None:
    with Store.open(MEMORY) as store:
        project = WorkProject(store, RECORDS)
        with project.shared.writing() as writing:
            strange = [
                NewEvent(actor="x", kind="edit", record_id=RECORDS[0].id),
                NewEvent(actor="x", kind="validated", record_id="elsewhere"),
                NewEvent(actor="x", kind="reopened", record_id=RECORDS[1].id, entry={"status": "annotated"}),
            ]
            project.log.append(writing, strange)
        tables = replayed_tables(read_events(store))
        assert tables.items[RECORDS[1].id].status == "annotated"
        assert set(tables.items) == {record.id for record in RECORDS}
