"""Whole runs in batch mode: the records of a live run at half its price, also when the process dies while it waits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.corpus.store.call_events import load_batches
from piiloom.corpus.store.database import Store
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import start_run
from piiloom.generation.running.session import call_policy
from tests.execution.batch_sessions import impatient
from tests.fakes.llm_author import Author
from tests.fakes.llm_batches import BatchPlan
from tests.fakes.llm_server import LLMServer
from tests.fakes.llm_tricks import TRICKS
from tests.generation.llm_runs import check_exact, config_for, exported, read_back, set_keys
from tests.longer import EXPLORE, explored, mostly_long, usually

CLUMSY = {trick: 0.03 for tricks in TRICKS.values() for trick in tricks}
SITTING = """
import json, sys
from dataclasses import replace
from pathlib import Path
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run, list_runs
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.running.session import call_policy
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import resume_run, start_run
from tests.execution.batch_sessions import impatient

with Store.open(Path(sys.argv[1])) as store:
    started = list_runs(store)
    opened = resume_run(store, get_run(store, "last")) if started else start_run(store, make_config(json.loads(sys.argv[2])))
    progress = run_to_end(opened, policy=replace(call_policy(opened.config), batch_policy=impatient(sends=9)))
    sys.exit(0 if progress.status == "finished" else 3)
"""


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch)


def run_whole(path, config):
    with Store.open(path) as store:
        opened = start_run(store, config)
        run_to_end(opened, policy=replace(call_policy(opened.config), batch_policy=impatient(sends=9)))
        kept = read_back(store)
        assert kept.run.status == "finished"
        return kept, exported(store, path.parent / f"out-{path.stem}")


def partly_expired(nth):
    """Every third batch expires half-way."""
    return BatchPlan(polls=4, expires_after=2 if nth % 3 == 1 else None)


@pytest.mark.long
@pytest.mark.parametrize("name", mostly_long(["openai", "anthropic"], quick={"openai"}))
def test_a_run_in_batches_gives_the_records_of_a_live_run(name, tmp_path):
    with LLMServer(Author(5, CLUMSY)) as server:
        config = config_for(name, server, samples=20)
        live, live_files = run_whole(tmp_path / "live.duckdb", config)
        sent_live = server.requests
        server.batches.plan = partly_expired
        batched, files = run_whole(tmp_path / "batch.duckdb", config.model_copy(update={"batch": True}))
    assert server.requests == sent_live
    assert files == live_files
    assert batched.records == live.records
    assert batched.rejects == live.rejects
    check_exact(batched.records)
    billed = server.batches.billed_prompts
    assert len([row for row in batched.completions if row.reply is not None]) == billed.total() == sent_live
    cost = [sum(row.cost_usd for row in kept.completions if row.cost_usd is not None) for kept in (live, batched)]
    assert cost[1] == pytest.approx(cost[0] / 2)


@explored
@pytest.mark.long
@pytest.mark.parametrize("name", usually(["openai", "anthropic"], {"anthropic"}))
def test_a_batch_run_that_is_killed_while_it_waits_pays_for_nothing_twice(name, tmp_path):
    rng = derive_rng("batch kills", name)
    with LLMServer(Author(5, CLUMSY)) as server:
        server.batches.plan = partly_expired
        config = config_for(name, server, samples=20 if EXPLORE else 12, batch=True)
        whole, files = run_whole(tmp_path / "whole.duckdb", config)
        once = server.batches.billed_prompts
        path, settings = tmp_path / "killed.duckdb", json.dumps(config.model_dump(mode="json"))
        command = [sys.executable, "-c", SITTING, str(path), settings]
        for _ in range(6 if EXPLORE else 3):
            asked = server.batches.asked.total()
            with subprocess.Popen(command, cwd=Path(__file__).parents[2], env=dict(os.environ)) as process:
                goal = asked + rng.randint(1, 20)
                while process.poll() is None and server.batches.asked.total() < goal:
                    time.sleep(0.001)
                process.send_signal(signal.SIGKILL)
        assert subprocess.run(command, cwd=Path(__file__).parents[2], check=False).returncode == 0
        with Store.open(path) as store:
            killed = read_back(store)
            assert exported(store, tmp_path / "killed") == files
            assert {row.state for row in load_batches(store)} <= {"collected", "failed"}
    assert killed.records == whole.records
    assert server.batches.billed_prompts - once == once
    assert len([row for row in killed.completions if row.reply is not None]) == once.total()
