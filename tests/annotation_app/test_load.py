"""People at work on the real app while its server is killed: what it acknowledged is there, all else comes again, nothing counts twice."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from piiloom.corpus.store.annotation_events import newest_sequences
from piiloom.corpus.store.database import Store
from tests.annotation_app.loaded_project import Accounted, account, make_project, people_of
from tests.annotation_app.served_app import served
from tests.annotation_app.simulated_people import Pace, SimulatedPerson, all_at_work
from tests.longer import EXPLORE

QUIET = ("--snapshot-every", "0")


@pytest.mark.long
def test_a_kill_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    work_through_kills(tmp_path, ["ana", "ben", "cid"], Pace(20, burst=5, period_s=0.8, gap_s=0.05, retry_s=0.5), kills=1, seed=1)


@pytest.mark.long
@pytest.mark.alone
def test_many_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    names, kills = [f"person{number}" for number in range(8)], 10 if EXPLORE else 3
    work_through_kills(tmp_path, names, Pace(20 * kills, burst=20, period_s=8.0, gap_s=0.05, retry_s=1.0), kills=kills, seed=10)


def work_through_kills(folder: Path, names: list[str], pace: Pace, *, kills: int, seed: int) -> None:
    """Kill the server *kills* times at random moments of the work, and check each time what it had acknowledged."""
    rng = random.Random(seed)
    path = make_project(folder / "store.duckdb", names, records=len(names) * (pace.edits // 20 + 4))
    port, threads, people = "0", [], []
    for number in range(kills + 1):
        with served(path, *QUIET, "--port", port) as server:
            if not people:
                people = people_of(server, names, pace)
                threads = all_at_work(people)
                port = server.host.rpartition(":")[2]
            if number == kills:
                for thread in threads:
                    thread.join(timeout=300)
                break
            # Each kill comes while somebody is at work; where servers start slowly, the work may be done before the last ones.
            if not something_was_heard(people):
                assert number >= kills // 2
                assert [len(person.acknowledged) for person in people] == [pace.edits] * len(people)
                break
            time.sleep(rng.uniform(0.0, pace.period_s / 4))
            server.process.kill()
            server.process.wait()
        acknowledged_is_there(path, people)
    assert [person.troubles for person in people] == [[]] * len(people)
    assert [len(person.acknowledged) for person in people] == [pace.edits] * len(people)
    right = Accounted(applied=pace.edits * len(people), lost=0, duplicated=0, stale=0, refused=0, documents_unlike_log=0)
    assert account(path, people) == right


def something_was_heard(people: list[SimulatedPerson]) -> bool:
    """Wait until something more was acknowledged to somebody; False after half a minute."""
    before = sum(len(person.acknowledged) for person in people)
    until = time.monotonic() + 30
    while sum(len(person.acknowledged) for person in people) <= before and time.monotonic() < until:
        time.sleep(0.02)
    return sum(len(person.acknowledged) for person in people) > before


def acknowledged_is_there(path: Path, people: list[SimulatedPerson]) -> None:
    acknowledged = {person.client: max(person.acknowledged, default=0) for person in people}
    with Store.open(path, create=False) as store:
        stored = newest_sequences(store, acknowledged)
    assert all(stored.get(client, 0) >= newest for client, newest in acknowledged.items())
