"""Runs in partitions with a real Ray on this machine: the same bytes, whatever is killed, and no key in Ray's files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from piiloom.corpus.store.costs import open_sends
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run
from piiloom.execution.money.budget import BudgetReached
from piiloom.execution.ordering import StopSignal
from piiloom.execution.watching.events import CallAnswered
from piiloom.foundation.errors import PiiloomError
from piiloom.generation.running.session import call_policy
from piiloom.generation.settings.setting_checks import make_config
from piiloom.providers.prices import parse_prices
from tests.fakes.llm_author import Author
from tests.generation.llm_runs import KEY, QUICK, config_for, exported, read_back, resume, set_keys, start
from tests.generation.partition_executors import partition_files, run_by_ray
from tests.generation.test_llm_kill import PatientServer, prompts
from tests.longer import explored
from tests.one_at_a_time import alone_with_ray

pytest.importorskip("ray", reason="needs the extra [ray]: pip install -e '.[ray]'")
pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
# As a shell would run it.
DRIVER = """
import json, sys
from pathlib import Path
from piiloom.corpus.store.database import Store
from piiloom.generation.settings.setting_checks import make_config
from tests.generation.partition_executors import run_by_ray

with Store.open(Path(sys.argv[1])) as store:
    run_by_ray(store, make_config(json.loads(sys.argv[2])), 2)
"""


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    set_keys(monkeypatch)


@pytest.fixture(autouse=True)
def _no_other_ray(tmp_path_factory):
    with alone_with_ray(tmp_path_factory):
        yield


def below(pid: int) -> dict[int, str]:
    """The processes that *pid* has started, and theirs, by what they call themselves."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
            names[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found and child in names} - found:
        found |= more
    return {child: names[child] for child in found - {pid}}


def of_ray(pid: int) -> dict[int, str]:
    """Those of them that Ray made: its servers, and workers (which call themselves ``ray::…``). A browser's words hold "ray" too."""
    return {child: name for child, name in below(pid).items() if "/ray/" in name or "ray::" in name}


def workers_of(pid: int) -> list[int]:
    """Those that are workers of the run; Ray's spare processes call themselves otherwise."""
    return [child for child, name in below(pid).items() if name.startswith("ray::Worker")]


def until(condition: Callable[[], Any], seconds: float = 180.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)
    return found


def ray_files() -> Iterator[Path]:
    """All that the newest Ray session of this machine has written."""
    session = Path("/tmp/ray/session_latest")  # noqa: S108 - where Ray writes
    return (path for path in session.resolve().rglob("*") if path.is_file())


def test_ray_gives_what_one_process_gives_and_a_worker_that_is_killed_costs_its_calls_in_flight(tmp_path):
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    before = of_ray(os.getpid())
    with PatientServer(Author(1), latency_s=0.05) as server:
        config = config_for("openai", server, samples=40)
        with Store.open(tmp_path / "one.duckdb") as store:
            start(store, config)
            expected = exported(store, tmp_path / "one"), read_back(store).records
        once, asked = prompts(server), server.requests
        killed: list[int] = []

        def kill_one() -> None:
            until(lambda: server.requests > asked + 120)
            killed.append(until(lambda: workers_of(os.getpid()))[0])
            os.kill(killed[0], signal.SIGKILL)

        thread = threading.Thread(target=kill_one)
        thread.start()
        with Store.open(tmp_path / "many.duckdb") as store:
            progress = run_by_ray(store, config, 2)
            thread.join()
            assert (exported(store, tmp_path / "many"), read_back(store).records) == expected
            assert open_sends(store, progress.run_id) == []
            partitions = len(store.rows("SELECT DISTINCT payload->>'$.number' FROM shared_results WHERE stage = 'partition'"))
        again = prompts(server) - once - once
    assert len(killed) == 1
    assert again.total() <= config.concurrency
    assert progress.totals.maybe_paid <= config.concurrency + config.concurrency // 2 + 1  # those that waited for their turn, too
    assert (progress.status, progress.accepted) == ("finished", 40)
    assert partitions >= 2
    assert partition_files(tmp_path) == []
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == handlers
    files = list(ray_files())
    assert files
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    until(lambda: of_ray(os.getpid()).keys() <= before.keys())


@explored  # without Ray, test_partitions.py has the same
def test_the_composer_too(tmp_path):
    config = make_config({"recipe": "staged", "samples": 80, "max_attempts": 1, "situation_words": (25, 25), "seed": 3})
    with Store.open(tmp_path / "one.duckdb") as store:
        start(store, config)
        expected = exported(store, tmp_path / "one"), read_back(store).rejects
    with Store.open(tmp_path / "many.duckdb") as store:
        assert run_by_ray(store, config, 2).status == "finished"
        assert (exported(store, tmp_path / "many"), read_back(store).rejects) == expected


def test_a_driver_that_is_killed_leaves_nothing_unmerged(tmp_path):
    with PatientServer(Author(1), latency_s=0.05) as server:
        config = config_for("openai", server, samples=40)
        with Store.open(tmp_path / "one.duckdb") as store:
            start(store, config)
            expected = exported(store, tmp_path / "one")
        once, asked = prompts(server), server.requests
        path, settings = tmp_path / "many.duckdb", config.model_dump(mode="json")
        with started(path, settings) as process:
            until(lambda: server.requests > asked + 150 or process.poll() is not None)
            workers = workers_of(process.pid)
            process.kill()
            process.wait()
        assert partition_files(tmp_path) != []
        with Store.open(path) as store:
            assert resume(store).status == "finished"
            assert exported(store, tmp_path / "many") == expected
            assert open_sends(store, get_run(store, "last").id) == []
        assert (prompts(server) - once - once).total() <= 2 * config.concurrency
    assert partition_files(tmp_path) == []
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def started(path: Path, settings: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", DRIVER, str(path), json.dumps(settings)]
    return subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), stderr=subprocess.DEVNULL)


def test_a_stop_and_a_budget_reach_all_workers(tmp_path):
    price = "input=1000,output=2000"
    with PatientServer(Author(2), latency_s=0.02) as server, Store.open(tmp_path / "many.duckdb") as store:
        config = config_for("openai", server, samples=24, price=price, budget_usd=25.0)
        stop, answers = StopSignal(), []

        def heard(event: object) -> None:
            answers.append(isinstance(event, CallAnswered))
            if sum(answers) > 60:
                stop.request()

        progress = run_by_ray(store, config, 2, stop=stop, policy=replace(call_policy(config), retry=QUICK, sink=heard))
        assert progress.status == "interrupted"
        assert 60 < server.requests < 110
        with pytest.raises(BudgetReached):
            run_by_ray(store, config, 2, resumed=True)
        assert sum(parse_prices(price).cost_usd(usage) or 0.0 for usage in server.billed_usage) <= 25.0
        assert resume(store, budget_usd=500.0).accepted == 24
        assert max(prompts(server).values()) == 1


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "no Ray cluster answers there"),
        ("ray://head:10001", "not the address of a Ray cluster"),
        ("auto", "cannot be joined"),
    ],
)
def test_a_cluster_that_is_not_there_is_one_clear_error(address, said, tmp_path):
    with Store.open(tmp_path / "s.duckdb") as store, pytest.raises(PiiloomError, match=said):
        run_by_ray(store, make_config({"samples": 40}), 2, address=address)
