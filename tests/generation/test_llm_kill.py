"""Killed at any moment, a run goes on as if nothing had been: the same bytes, nothing twice, little paid again."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.database import Store
from piiloom.foundation.seeding import derive_rng
from tests.fakes.llm_server import LLMServer
from tests.fakes.llm_tricks import TRICKS
from tests.forked import Forked
from tests.generation.case_author import CaseAuthor
from tests.generation.llm_runs import Kept, check_exact, config_for, exported, read_back, set_keys
from tests.longer import EXPLORE, usually

pytestmark = pytest.mark.long

CLUMSY = {trick: 0.03 for tricks in TRICKS.values() for trick in tricks}
CONCURRENCY = 8
KILLS = 10 if EXPLORE else 4
# Calls on disk before their slot (two, at this concurrency), and one on its way through the SDK.
ABOUT_TO_LEAVE = 3
# What a shell would run: the first session starts a run, every later one resumes it.
SESSION = """
import json, sys
from pathlib import Path
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run, list_runs
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import resume_run, start_run

with Store.open(Path(sys.argv[1])) as store:
    started = list_runs(store)
    opened = resume_run(store, get_run(store, "last")) if started else start_run(store, make_config(json.loads(sys.argv[2])))
    sys.exit(0 if run_to_end(opened).status == "finished" else 3)
"""


class PatientServer(LLMServer):
    """Takes it that a client killed between the head and the body of a request sends no body."""

    def take_ordinal(self, body: Mapping[str, Any]) -> int:
        if not body:
            raise ConnectionAbortedError("the client is gone")
        return super().take_ordinal(body)


def open_session(path: Path, settings: Mapping[str, Any]) -> Forked:
    return Forked([sys.executable, "-c", SESSION, path, json.dumps(settings)])


def run_to_the_end(path: Path, settings: Mapping[str, Any]) -> None:
    with open_session(path, settings) as process:
        _, said = process.communicate(timeout=180)
    assert process.returncode == 0, said


def kill_after(path: Path, settings: Mapping[str, Any], server: LLMServer, asked: int) -> None:
    """Start a session and kill it when it has sent *asked* requests."""
    goal = server.requests + asked
    with open_session(path, settings) as process:
        deadline = time.monotonic() + 60
        while server.requests < goal:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.0005)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL


def prompts(server: LLMServer) -> Counter[str]:
    """How often each prompt was answered."""
    return Counter(json.dumps(body, sort_keys=True) for body in server.bodies)


@pytest.mark.parametrize(
    ("name", "seed", "recipe"), usually([("openai", 1, "staged"), ("anthropic", 2, "case")], {("openai", 1, "staged")})
)
def test_killed_runs_end_like_whole_ones(name, seed, recipe, tmp_path, monkeypatch):
    set_keys(monkeypatch)
    rng = derive_rng("kill moments", seed)
    with PatientServer(CaseAuthor(seed, CLUMSY), latency_s=0.01) as server:
        settings = config_for(name, server, recipe=recipe, samples=40, concurrency=CONCURRENCY).model_dump(mode="json")
        run_to_the_end(tmp_path / "whole.duckdb", settings)
        once = prompts(server)
        whole_files, whole, _ = _outcome(tmp_path / "whole.duckdb", tmp_path / "whole")
        # Early (topics), late (the last items) and between: each share of what is left.
        for share in (rng.uniform(0.0, 0.02), *(rng.uniform(0.03, 0.3) for _ in range(KILLS - 1))):
            left = once.total() - ((prompts(server) - once) & once).total()
            kill_after(tmp_path / "killed.duckdb", settings, server, 1 + int(share * left))
        run_to_the_end(tmp_path / "killed.duckdb", settings)
        again = prompts(server) - once
        files, killed, doubted = _outcome(tmp_path / "killed.duckdb", tmp_path / "killed")

    assert files == whole_files
    assert killed.records == whole.records
    assert killed.rejects == whole.rejects
    check_exact(killed.records)
    assert len(set(killed.indexes)) == len(killed.indexes) == 40
    assert len({(row.plan_index, row.key, row.stage) for row in killed.rejects}) == len(killed.rejects)
    assert set(again) == set(once)
    _check_paid(killed, once, again)
    # What the server was sent twice may have been billed twice; beyond it, a kill leaves in doubt only what was about to leave.
    sent_twice = (again - once).total()
    assert sent_twice <= doubted <= sent_twice + KILLS * ABOUT_TO_LEAVE


def _check_paid(killed: Kept, once: Counter[str], again: Counter[str]) -> None:
    """A reply is in the ledger at most once, and each kill cost at most what was in flight or in the open group."""
    keys = Counter(row.key for row in killed.completions if row.reply is not None)
    assert set(keys.values()) == {1}
    # At most CONCURRENCY calls are in flight, and the other items may have a reply in the open group. A prompt that a whole run
    # sends twice (the same fault told again) is no repetition.
    assert 0 < (again - once).total() <= KILLS * (CONCURRENCY + CONCURRENCY // 2)


def _outcome(path: Path, out: Path) -> tuple[dict[str, bytes], Kept, int]:
    with Store.open(path) as store:
        kept = read_back(store)
        assert kept.run.status == "finished"
        return exported(store, out), kept, spending(store, kept.run.id).maybe_paid
