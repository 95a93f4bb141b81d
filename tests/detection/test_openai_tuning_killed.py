"""A fine-tuning job whose process is killed, for good, at every moment: two uploads, one job, one booking."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from piiloom.tagging.model_folder import CARD
from tests.detection.tuning_jobs import booked, in_session, planned
from tests.fakes.openai_tuning import Operation
from tests.fakes.openai_tuning_http import TuningServer
from tests.forked import Forked
from tests.longer import EXPLORE

pytestmark = pytest.mark.long

# The writes of a whole job: money set aside (1), two files (4), the job (2), its states (3), the booking (1).
WRITES = 11


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TuningServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with TuningServer() as running:
        yield running


def child(folder: Path, when: str = "never", number: int = 0) -> Forked:
    return Forked([sys.executable, "-m", "tests.detection.tuning_child", folder, when, number])


def check(server: TuningServer, folder: Path) -> None:
    """The job is done: each file is uploaded once, there is one job, and its cost is booked once."""
    assert (server.done["upload"], server.done["create"], len(server.jobs)) == (2, 1, 1)
    sent, reply = booked(folder)
    assert (sent["kind"], reply["kind"]) == ("sent", "reply")
    assert reply["cost_usd"] < sent["worst_usd"]
    assert (folder / CARD).is_file()


def moments() -> list[tuple[str, int]]:
    """Before each write (each third one without ``EXPLORE``); behind each intent, when nothing is done yet; and amid one of either kind."""
    return (
        [("before", number) for number in range(1, WRITES + 1, 1 if EXPLORE else 3)]
        + [("after", number) for number in (1, 2, 4, 6)]
        + [("amid", 6), ("amid", 7)]
    )


@pytest.mark.parametrize(("when", "number"), moments())
def test_killed_at_a_write_of_the_ledger(server: TuningServer, tmp_path: Path, when: str, number: int) -> None:
    folder = planned(tmp_path / "job", server.url)
    assert child(folder, when, number).wait() == -signal.SIGKILL
    assert in_session(folder, lambda job: job.run(budget_usd=1))["status"] == "succeeded"
    check(server, folder)


def test_killed_ten_times_in_one_job(server: TuningServer, tmp_path: Path) -> None:
    folder = planned(tmp_path / "job", server.url)
    times = [("before", 1), ("after", 1), ("amid", 2), ("after", 3), ("before", 2), ("after", 2), ("amid", 2), ("after", 3), ("after", 2)]
    for when, number in [*times, ("after", 1)]:
        assert child(folder, when, number).wait() == -signal.SIGKILL
    assert in_session(folder, lambda job: job.run(budget_usd=1))["status"] == "succeeded"
    check(server, folder)


WAITING: tuple[tuple[str, Operation, int], ...] = (
    ("never", "upload", 0),
    ("never", "create", 0),
    ("hang", "files", 0),
    ("hang", "upload", 0),
    ("hang", "upload", 1),
    ("hang", "create", 0),
    ("hang", "events", 0),
    ("hang", "job", 3),
)


@pytest.mark.parametrize(("trouble", "operation", "nth"), WAITING)
def test_killed_while_an_answer_is_waited_for(server: TuningServer, tmp_path: Path, trouble: str, operation: Operation, nth: int) -> None:
    folder = planned(tmp_path / "job", server.url)
    server.trouble = lambda asked, number: trouble if (asked, number) == (operation, nth) else None
    process = child(folder)
    until = time.monotonic() + 60
    while server.asked[operation] <= nth and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    server.let_go.set()
    server.trouble = lambda *_: None
    assert in_session(folder, lambda job: job.run(budget_usd=1))["status"] == "succeeded"
    check(server, folder)
