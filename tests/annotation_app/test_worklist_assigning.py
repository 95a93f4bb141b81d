"""Giving out records: never more than wanted, in order, resumed, skipped, kept for a while, finished."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.worklist.assigning import dealt_out
from piiloom.corpus.store.annotation_events import AnnotationEvent, list_heads, read_events
from piiloom.corpus.store.annotation_items import set_status
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.foundation.errors import UsageError


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as opened:
        yield opened


@pytest.fixture
def project(store: Store) -> WorkProject:
    return WorkProject(store, [composed(n) for n in range(4)])


def test_two_people_never_get_one_record_and_everybody_resumes_his_own(project: WorkProject) -> None:
    first, second = project.next("ann"), project.next("ben")
    assert first != second
    assert project.next("ann") == first
    assert project.work.next_for("ann").why == "resumed"  # type: ignore[union-attr]
    project.clock.turn(1)
    third = project.work.next_for("ann", besides=[first])  # type: ignore[list-item]
    assert third is not None
    assert (third.why, third.record_id in {first, second}) == ("new", False)
    # The one that was taken last comes first again.
    assert project.next("ann") == third.record_id
    assert project.next("ann", third.record_id) == first


def test_finished_records_are_over_and_when_all_are_there_is_nothing(project: WorkProject) -> None:
    seen = set()
    while (record_id := project.next("ann")) is not None:
        project.finish("ann", record_id, verdict="rejected" if len(seen) % 2 else "accepted")
        seen.add(record_id)
    assert len(seen) == 4
    assert project.next("ben") is None


def test_overlap_gives_each_record_to_that_many_people_and_begun_ones_first(store: Store) -> None:
    project = WorkProject(store, [composed(n) for n in range(3)], overlap=2)
    first = project.next("ann")
    assert project.next("ben") == first
    assert project.next("cid") != first
    project.finish("ann", first)  # type: ignore[arg-type]
    project.finish("ben", first)  # type: ignore[arg-type]
    had: Counter[str] = Counter({first: 2})  # type: ignore[dict-item]
    for turn in range(10):
        person = ("ann", "ben", "cid")[turn % 3]
        record_id = project.next(person)
        if record_id is not None:
            project.finish(person, record_id)
            had[record_id] += 1
    assert set(had.values()) == {2}
    with project.shared.reading() as reading:
        assert len({(h.record_id, h.annotator) for h in list_heads(reading)}) == 6


def test_a_lease_runs_out_and_its_owner_resumes_unless_somebody_took_the_record(project: WorkProject) -> None:
    record_id = project.next("ann")
    project.clock.turn(29)
    assert project.next("ben") != record_id
    project.clock.turn(2)
    assert project.next("ann") == record_id  # still free: as if nothing had been
    project.clock.turn(31)
    assert project.next("cid", *[r for r in all_ids(project) if r != record_id]) == record_id
    assert project.next("ann") != record_id


def test_a_delivery_after_the_lease_ran_out_counts_while_nobody_else_holds_the_record(project: WorkProject) -> None:
    record_id = str(project.next("ann"))
    project.clock.turn(31)
    project.leases.may_edit("ann", record_id)  # takes it again
    assert record_id not in {project.next("ben"), project.next("ben", str(project.next("ben")))}
    project.clock.turn(31)
    assert project.next("ben", *[r for r in all_ids(project) if r != record_id]) == record_id
    with pytest.raises(UsageError, match="given to somebody else since"):
        project.leases.may_edit("ann", record_id)
    with pytest.raises(UsageError, match="being annotated by somebody else"):
        project.leases.may_edit("cid", record_id)


def test_editing_keeps_a_lease_alive_without_an_event_each_time(project: WorkProject) -> None:
    record_id = str(project.next("ann"))
    for _ in range(20):
        project.clock.turn(10)
        project.leases.may_edit("ann", record_id)
    leased = [e for e in _events(project) if e.kind == "leased"]
    assert 8 <= len(leased) <= 11
    assert project.next("ben", *[r for r in all_ids(project) if r != record_id]) is None


def test_who_has_finished_may_go_back_to_his_record_until_it_is_closed(project: WorkProject) -> None:
    record_id = str(project.next("ann"))
    project.finish("ann", record_id)
    project.clock.turn(600)
    project.leases.may_edit("ann", record_id)
    with pytest.raises(UsageError, match="somebody else"):
        project.leases.may_edit("ben", record_id)
    with project.shared.writing() as store:
        set_status(store, [record_id], "validated", project.log.now())
    with pytest.raises(UsageError, match="finished: it has been validated"):
        project.leases.may_edit("ann", record_id)


def test_skipped_records_come_back_last_oldest_first_and_others_may_have_them(project: WorkProject) -> None:
    ids = []
    for _ in range(2):
        ids.append(str(project.next("ann")))
        project.leases.skip("ann", ids[-1])
        project.clock.turn(1)
    for _ in range(2):
        other = project.work.next_for("ann")
        assert other is not None
        assert (other.why, other.record_id in ids) == ("new", False)
        project.finish("ann", other.record_id)
    back = project.work.next_for("ann")
    assert back is not None
    assert (back.why, back.record_id) == ("skipped", ids[0])
    assert project.next("ben") == ids[1]


def test_release_frees_a_record_and_leaving_frees_all(project: WorkProject) -> None:
    first = str(project.next("ann"))
    second = str(project.next("ann", first))
    project.leases.release("ann", first)
    project.leases.release("ann", first)
    assert project.next("ben", *[r for r in all_ids(project) if r != first]) == first
    assert project.leases.release_all("ann", actor="boss") == 1
    assert project.next("cid", *[r for r in all_ids(project) if r != second]) == second
    released = [e for e in _events(project) if e.kind == "released"]
    assert [(e.actor, e.entry.get("annotator")) for e in released] == [("ann", None), ("boss", "ann")]


def test_who_holds_as_many_as_he_may_gets_back_the_oldest(project: WorkProject) -> None:
    project.settings.change("boss", "lease_limit", 2)
    held = []
    for _ in range(2):
        held.append(str(project.next("ann", *held)))
        project.clock.turn(1)
    more = project.work.next_for("ann", besides=held)
    assert more is not None
    assert (more.why, more.record_id) == ("held", held[0])


def test_a_deleted_record_is_not_offered_and_says_so_when_edited(project: WorkProject) -> None:
    record_id = str(project.next("ann"))
    project.delete(record_id)
    assert project.next("ann") != record_id
    with pytest.raises(UsageError, match="was deleted"):
        project.leases.may_edit("ann", record_id)
    with pytest.raises(UsageError, match="not in the work list"):
        project.leases.may_edit("ann", "never-heard-of")


def test_a_clock_that_goes_back_ends_no_lease_and_gives_no_time_before_the_last(project: WorkProject) -> None:
    record_id = str(project.next("ann"))
    project.clock.turn(-24 * 60)
    assert project.next("ben") != record_id
    project.leases.may_edit("ann", record_id)
    times = [event.at for event in _events(project)]
    assert times == sorted(times)
    project.clock.turn(24 * 60 + 31)
    project.leases.may_edit("cid", record_id)
    project.assert_replay_equals_tables()


def test_assigned_records_are_dealt_evenly_and_wait_for_their_people(store: Store) -> None:
    project = WorkProject(store, [composed(n) for n in range(9)], overlap=2)
    ids = all_ids(project)
    assert project.work.assign("boss", ids, ["ann", "ben", "cid"]) == {"ann": 6, "ben": 6, "cid": 6}
    assert project.work.assign("boss", ids, ["dot"]) == {"dot": 0}
    assert project.next("dot") is None
    offer = project.work.next_for("ann")
    assert offer is not None
    assert offer.why == "assigned"
    project.leases.release_all("ann", actor="boss", assigned=True)
    assert project.next("dot") is not None
    with pytest.raises(UsageError, match="not in the work list"):
        project.work.assign("boss", ["nowhere"], ["ann"])
    with pytest.raises(UsageError, match="nobody"):
        project.work.assign("boss", ids, [])
    project.assert_replay_equals_tables()


def test_dealing_mixes_whom_people_share_records_with() -> None:
    people = ["a", "b", "c", "d"]
    dealt = dealt_out({str(n): 2 for n in range(60)}, people, {"d": 12}, {})
    load = Counter(name for names in dealt.values() for name in names)
    assert (load["a"], load["d"]) == (33, 21)
    pairs = Counter(frozenset(names) for names in dealt.values())
    assert len(pairs) == 6
    assert all(len(set(names)) == 2 for names in dealt.values())
    assert dealt_out({"x": 3}, ["a", "b"], {}, {"x": {"a"}}) == {"x": ["b"]}


def test_work_begins_with_the_test_where_the_project_says_so(project: WorkProject) -> None:
    project.settings.change("boss", "qualifying_needed", True)
    with pytest.raises(UsageError, match="qualifying test"):
        project.work.next_for("ann")


@pytest.mark.long
@pytest.mark.parametrize("overlap", [1, 3])
def test_eight_threads_that_ask_at_once_never_get_more_than_the_overlap(tmp_path: Path, overlap: int) -> None:
    people = [f"p{n}" for n in range(8)]
    with Store.open(tmp_path / "race.duckdb") as opened:
        project = WorkProject(opened, [composed(n) for n in range(12)], overlap=overlap)
        project.settings.change("boss", "lease_limit", 100)
        taken: Counter[str] = Counter()
        guard, start, faults = threading.Lock(), threading.Barrier(8), list[BaseException]()

        def grab(person: str) -> None:
            try:
                start.wait()
                mine: list[str] = []
                while (offer := project.work.next_for(person, mine)) is not None:
                    mine.append(offer.record_id)
                assert len(set(mine)) == len(mine)
                with guard:
                    taken.update(mine)
            except BaseException as error:  # noqa: BLE001 - a thread's failure must reach the test
                faults.append(error)

        threads = [threading.Thread(target=grab, args=(person,)) for person in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert faults == []
        assert set(taken.values()) == {overlap}
        assert len(taken) == 12
        project.assert_replay_equals_tables()


def all_ids(project: WorkProject) -> list[str]:
    with project.shared.reading() as store:
        return [row[0] for row in store.rows("SELECT record_id FROM annotation_items ORDER BY record_order")]


def _events(project: WorkProject) -> list[AnnotationEvent]:
    with project.shared.reading() as store:
        return read_events(store)


def test_dealing_leaves_out_who_has_or_had_the_record(store: Store) -> None:
    project = WorkProject(store, [composed(n) for n in range(2)], overlap=2)
    first, second = all_ids(project)
    project.finish("ann", first)
    project.leases.renew("ben", second)
    assert project.work.assign("boss", [first, second], ["ann", "ben"]) == {"ann": 1, "ben": 1}
    assert project.work.assign("boss", [first, second], ["ann", "ben", "cid"]) == {"ann": 0, "ben": 0, "cid": 0}
    with project.shared.writing() as writing:
        set_status(writing, [first], "agreed", project.log.now())
    with pytest.raises(UsageError, match="finished"):
        project.work.assign("boss", [first], ["cid"])
