"""Runs that are killed go on where they were: the same final bytes, nothing twice, the store never the worse."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records, iter_records
from piiloom.corpus.store.runs import get_run, list_runs, load_plan_items, load_rejects, plan_indexes
from piiloom.generation.running.session import UNPAID_PACE_S
from tests.forked import Forked
from tests.generation.composer_settings import at_work, exported, finished, script
from tests.longer import EXPLORE, explored, usually
from tests.one_at_a_time import made_once

pytestmark = pytest.mark.long

SAMPLES = 1500 if EXPLORE else 200
SETTINGS = {"recipe": "story", "samples": SAMPLES, "seed": 13, "concurrency": 8}


@dataclass(frozen=True, slots=True)
class Calm:
    """The export of a run that nothing disturbed; how long a process takes to have its first item, and then to do the rest (s)."""

    export: str
    boot_s: float
    work_s: float


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    return Calm(**json.loads((made_once(tmp_path_factory, "calm", _make_calm) / "calm.json").read_text()))


def _make_calm(folder):
    path = folder / "s.duckdb"
    finished(Forked([sys.executable, "-c", ""]))  # that from which processes are forked begins with the first of them
    began = time.monotonic()
    process = script("start", str(path), json.dumps(SETTINGS))
    begun_work(process, path)
    boot_s = time.monotonic() - began
    code, output, errors = finished(process)
    assert (code, output.split()[:2]) == (0, ["finished", str(SAMPLES)]), errors
    calm = Calm(exported(path), boot_s, time.monotonic() - began - boot_s)
    (folder / "calm.json").write_text(json.dumps(asdict(calm)))


def look(path):
    """The state of the last run: its status and how many records it has; nothing may be there twice."""
    with Store.open(path) as store:
        if not list_runs(store):
            return "no run", 0
        run = get_run(store, "last")
        accepted = plan_indexes(store, run.id)
        rejected = [row.plan_index for row in load_rejects(store, run.id) if row.plan_index is not None]
        planned = [index for index, _ in load_plan_items(store, run.id)]
        assert len(accepted) == count_records(store, run_id=run.id)
        assert len({record.id for record in iter_records(store)}) == len(accepted)
        assert max(Counter(planned).values(), default=1) == 1
        assert sorted(accepted + rejected) == planned == list(range(len(planned)))
        assert len(list_runs(store)) == 1
    return run.status, len(accepted)


def struck(process, after_s, number):
    """Send *process* the signal *number* after *after_s*; whether it was still at work."""
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    finished(process)
    return process.returncode == -number


def begun_work(process, path):
    """Wait until the run on the store at *path* has an item; whether *process*, which makes it, is still there."""
    while process.poll() is None and not at_work(path).exists():
        time.sleep(0.01)
    return process.poll() is None


def going_on(path):
    """A process that resumes the last run of the store at *path*, or starts it where there is none yet."""
    begun = path.exists() and look(path)[0] != "no run"
    return script("resume", str(path)) if begun else script("start", str(path), json.dumps(SETTINGS))


def test_kills_and_the_same_bytes_in_the_end(tmp_path, calm):
    rng = random.Random(41)
    # Paces of commits, from the first item on: before the first commit, between two, near the end; None is before there is an item.
    paces = [None, 0.0, 0.5, 1.2, 1.5, 1.5, 1.8, 1.8, 2.2, 2.6] if EXPLORE else [None, 0.0, 1.2, 1.5, 1.8]
    rng.shuffle(paces)
    path, kills, seen, haste = tmp_path / "s0.duckdb", 0, [0], 1.0
    while kills < len(paces):
        at_work(path).unlink(missing_ok=True)
        process, pace = going_on(path), paces[kills]
        if pace is None:
            killed = struck(process, rng.uniform(0.2, 0.9) * calm.boot_s, signal.SIGKILL)
        else:
            begun_work(process, path)
            killed = struck(process, haste * pace * rng.uniform(0.9, 1.2) * UNPAID_PACE_S, signal.SIGKILL)
        status, accepted = look(path)
        assert accepted >= seen[-1]
        seen.append(accepted)
        if not killed:
            # It came to its end before the blow: the remaining blows hit a run on another store.
            assert (status, accepted, exported(path)) == ("finished", SAMPLES, calm.export)
            path = tmp_path / f"s{len(seen)}.duckdb"
            seen.append(0)
            haste *= 0.7  # a machine that is quicker than that
        kills += killed
    assert any(0 < accepted < SAMPLES for accepted in seen), seen
    code, _, errors = finished(going_on(path))
    assert code == 0, errors
    assert look(path) == ("finished", SAMPLES)
    assert exported(path) == calm.export


@pytest.mark.parametrize("number", usually([signal.SIGINT, signal.SIGTERM], {signal.SIGTERM}))
def test_ctrl_c_stops_cleanly_and_the_run_goes_on(tmp_path, calm, number):
    path = tmp_path / "s.duckdb"
    process = script("start", str(path), json.dumps(SETTINGS))
    assert begun_work(process, path), "it ended before it began"
    process.send_signal(number)
    code, output, errors = finished(process)
    assert (code, errors) == (0, "")
    status, accepted = look(path)
    assert output.split()[:2] == [status, str(accepted)]
    assert status == "interrupted"
    assert accepted < SAMPLES
    code, output, errors = finished(script("resume", str(path)))
    assert (code, output.split()[0]) == (0, "finished"), errors
    assert exported(path) == calm.export


def test_a_killed_run_may_be_resumed_with_more_samples(tmp_path, calm):
    path = tmp_path / "s.duckdb"
    process = script("start", str(path), json.dumps({**SETTINGS, "samples": SAMPLES // 2}))
    struck(process, calm.boot_s + 0.25 * calm.work_s, signal.SIGKILL)
    assert look(path)[1] <= SAMPLES // 2
    code, output, errors = finished(script("resume", str(path), json.dumps({"samples": SAMPLES, "concurrency": 2})))
    assert (code, output.split()[:2]) == (0, ["finished", str(SAMPLES)]), errors
    assert exported(path) == calm.export


@explored
def test_a_run_from_scenarios_goes_on_after_kills(tmp_path):
    settings = json.dumps({"samples": SAMPLES // 5, "seed": 5, "recipe": "staged"})
    whole, path = tmp_path / "whole.duckdb", tmp_path / "s.duckdb"
    assert finished(script("start", str(whole), settings))[0] == 0
    for number in range(3 if EXPLORE else 2):
        process = script("resume", str(path)) if number else script("start", str(path), settings)
        assert begun_work(process, path), "it ended before it began"
        time.sleep(0.3 * (number + 1))
        process.kill()
        finished(process)
    code, _, errors = finished(script("resume", str(path)))
    assert code == 0, errors
    assert look(path) == ("finished", SAMPLES // 5)
    assert exported(path) == exported(whole)
