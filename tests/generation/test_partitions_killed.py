"""A driver that is killed leaves partition stores behind; whoever goes on merges them first, once, and pays little again."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from piiloom.corpus.store.costs import open_sends, spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run
from piiloom.generation.running.opening import merge_leftover_partitions
from piiloom.providers.prices import parse_prices
from tests.fakes.llm_author import Author
from tests.forked import Forked
from tests.generation.llm_runs import config_for, exported, resume, set_keys, start
from tests.generation.partition_executors import LocalExecutor, partition_files, run_by
from tests.generation.test_llm_kill import PatientServer, prompts
from tests.longer import EXPLORE, usually

pytestmark = pytest.mark.long

PARTITIONS, CONCURRENCY = 3, 8
PRICE = "input=1,output=2"
# A driver in a process of its own. "after NUMBER": it kills itself when that partition has ended and is not merged yet;
# "copy NUMBER": it keeps a copy of that partition's store then, and goes on.
DRIVER = """
import json, os, shutil, signal, sys
from pathlib import Path
from piiloom.corpus.store.database import Store
from piiloom.generation.settings.setting_checks import make_config
from tests.generation.partition_executors import LocalExecutor, run_by

def after(assignment):
    if assignment.partition.number == int(sys.argv[4]):
        if sys.argv[3] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        shutil.copy(assignment.partition.path, sys.argv[1] + ".copy")

with Store.open(Path(sys.argv[1])) as store:
    progress = run_by(LocalExecutor(3, after=after), store, make_config(json.loads(sys.argv[2])))
    sys.exit(0 if progress.status == "finished" else 3)
"""


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    set_keys(monkeypatch)


def driver(path: Path, settings: Mapping[str, Any], *how: str, code: str = DRIVER) -> Forked:
    return Forked([sys.executable, "-c", code, path, json.dumps(settings), *how])


@pytest.fixture
def server():
    with PatientServer(Author(4), latency_s=0.01) as server:
        yield server


@pytest.fixture
def settings(server):
    return config_for("openai", server, samples=36 if EXPLORE else 18, concurrency=CONCURRENCY, price=PRICE).model_dump(mode="json")


@pytest.fixture
def whole(server, settings, tmp_path) -> tuple[dict[str, bytes], Counter[str]]:
    """The files of a run that nobody disturbs, and what it sends."""
    with Store.open(tmp_path / "whole.duckdb") as store:
        start(store, config_for("openai", server, **{key: settings[key] for key in ("samples", "concurrency", "price")}))
        return exported(store, tmp_path / "whole"), prompts(server)


@pytest.mark.parametrize("by_partitions", usually([False, True], {True}))
def test_killed_between_the_end_of_a_partition_and_its_merge(by_partitions, server, settings, whole, tmp_path):
    files, once = whole
    path = tmp_path / "killed.duckdb"
    with driver(path, settings, "kill", "1") as process:
        process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert len(partition_files(tmp_path)) >= 1
    again_before = prompts(server) - once
    with Store.open(path) as store:
        run_id = get_run(store, "last").id
        answered = spending(store, run_id).answered
        if by_partitions:
            run_by(LocalExecutor(PARTITIONS), store, None, resumed=True)
        else:
            resume(store)
        assert exported(store, tmp_path / "killed") == files
        assert get_run(store, run_id).status == "finished"
        assert open_sends(store, run_id) == []
        spent, spec = spending(store, run_id), parse_prices(PRICE)
        bill = sum(spec.cost_usd(usage) or 0.0 for usage in server.billed_usage[once.total() :])
        assert bill <= spent.cost_usd + spent.charged_usd + 1e-9
    assert answered < once.total()  # the main store did not know of all that had been done
    assert again_before.total() > once.total() / 4
    # Partition 1 had ended: at most the calls of the others in flight, and their open groups, are paid for twice.
    assert (prompts(server) - once - once).total() <= CONCURRENCY
    assert spent.maybe_paid <= 2 * CONCURRENCY
    assert partition_files(tmp_path) == []


def test_killed_between_a_merge_and_the_end_of_its_file(settings, whole, tmp_path):
    path = tmp_path / "killed.duckdb"
    with driver(path, settings, "copy", "1") as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    with Store.open(path) as store:
        run_id = get_run(store, "last").id
        shutil.move(f"{path}.copy", path.with_name(f"killed.{run_id}.part-0001.duckdb"))
        before = spending(store, run_id), store.rows("SELECT count(*) FROM call_events")
        assert merge_leftover_partitions(store, run_id) == 1
        assert (spending(store, run_id), store.rows("SELECT count(*) FROM call_events")) == before
        assert merge_leftover_partitions(store, run_id) == 0
        assert exported(store, tmp_path / "killed") == whole[0]
    assert partition_files(tmp_path) == []


@pytest.mark.long
def test_killed_at_any_moment(server, settings, whole, tmp_path):
    files, once = whole
    path, kills = tmp_path / "killed.duckdb", 0
    resumed = DRIVER.replace("make_config(json.loads(sys.argv[2])))", "None, resumed=True)")
    while True:
        goal = server.requests + 20 + 20 * kills
        with driver(path, settings, "kill", "-1", code=resumed if kills else DRIVER) as process:
            while process.poll() is None and server.requests < goal:
                time.sleep(0.0005)
            process.kill()
            _, said = process.communicate(timeout=60)
        if process.returncode != -signal.SIGKILL:
            assert process.returncode == 0, said
            break
        kills += 1
    assert kills >= 3
    with Store.open(path) as store:
        assert exported(store, tmp_path / "killed") == files
        assert open_sends(store, get_run(store, "last").id) == []
    assert (prompts(server) - once - once).total() <= kills * PARTITIONS * (CONCURRENCY + CONCURRENCY // 2)
    assert partition_files(tmp_path) == []
