"""Many operations, tabs and people at once: few statements, nothing lost."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import pytest

from piiloom.annotation_app.sync.service import DocumentService
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from tests.annotation_app.sync_stories import CONTEXT, Tab, documents, events, insert, service_over


class Counted:
    """Counts what is asked of the stores."""

    VERBS = ("rows", "integers", "change", "append")

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = 0
        for verb in self.VERBS:
            self._watch(monkeypatch, verb, getattr(Store, verb))

    def _watch(self, monkeypatch: pytest.MonkeyPatch, verb: str, call: Any) -> None:
        def counted(*given: Any, **named: Any) -> Any:
            self.number += 1
            return call(*given, **named)

        monkeypatch.setattr(Store, verb, counted)

    def of(self, work: Any) -> int:
        before = self.number
        work()
        return self.number - before


def test_a_batch_of_twenty_costs_as_many_statements_as_one(service: DocumentService, monkeypatch: pytest.MonkeyPatch) -> None:
    tab = Tab("t")
    service.deliver("ada", [*tab.send("r1", 0, insert("a")), *tab.send("r2", 0, insert("a"))])
    counted = Counted(monkeypatch)
    twenty = [*tab.send("r1", 1, *[insert("b")] * 10), *tab.send("r2", 1, *[insert("b")] * 10)]
    assert counted.of(lambda: service.deliver("ada", tab.send("r1", 11, insert("c")))) <= 5
    fresh = Tab("u")
    assert counted.of(lambda: service.deliver("ada", fresh.send("r2", 1, *[insert("b")] * 20))) <= 5
    assert counted.of(lambda: service.deliver("ada", twenty)) <= 6  # all of it heard before
    assert counted.of(lambda: service.open("ada", "r1")) == 1


def test_a_first_batch_reads_all_its_records_together(
    shared: SharedStore, service: DocumentService, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, three = Tab("one"), Tab("three")
    counted = Counted(monkeypatch)
    cost = counted.of(lambda: service.deliver("ada", one.send("r1", 0, insert("a"))))
    sent = [*three.send("r1", 0, insert("a")), *three.send("r2", 0, insert("a")), *three.send("r3", 0, insert("a"))]
    assert counted.of(lambda: service.deliver("bo", sent)) == cost <= 10


@pytest.mark.long
def test_eight_people_at_once(shared: SharedStore) -> None:
    service = service_over(shared)
    failures: list[BaseException] = []

    def work(who: str, tab: Tab) -> None:
        try:
            for version in range(0, 30, 3):
                tab.send("r1", version, insert("x"), insert("y"), insert("z"))
                assert service.deliver(who, tab.sent[-6:]).acknowledged == {tab.name: version + 3}
                assert service.open(who, "r1").version == version + 3
        except BaseException as error:  # noqa: BLE001 - told below, in the thread of the test
            failures.append(error)

    workers = [threading.Thread(target=work, args=(f"person-{n}", Tab(f"tab-{n}"))) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    found = events(shared)
    assert len(found) == 8 * 30
    assert {event.kind for event in found} == {"edit"}
    assert all(before.at <= after.at and before.event < after.event for before, after in pairwise(found))
    assert [row.version for row in documents(shared)] == [30] * 8


@pytest.mark.long
def test_tabs_of_one_person_at_once_lose_nothing(shared: SharedStore) -> None:
    service = service_over(shared)
    outcomes: list[tuple[int, int]] = []

    def work(tab: Tab) -> None:
        for _ in range(15):
            sent = tab.send("r1", service.open("ada", "r1").version, insert("x"), insert("y"))
            outcomes.append((len(sent), len(service.deliver("ada", sent).stale)))

    workers = [threading.Thread(target=work, args=(Tab(f"tab-{n}"),)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    done = sum(sent - stale for sent, stale in outcomes)
    assert len(events(shared)) == 4 * 15 * 2
    assert service.open("ada", "r1").version == done
    assert len(service.open("ada", "r1").state.document.context) == done + len(CONTEXT)
    documents(shared)
