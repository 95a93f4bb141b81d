"""The view of a run of paid calls: a table on a terminal, lines or JSON lines elsewhere, and nothing that steers the run."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time

import pytest

from piiloom.cli.live_view import batches_text, chosen_mode, limiter_text, shown_run
from piiloom.cli.terminal import Verbosity, in_columns, set_verbosity
from piiloom.corpus.store.call_events import BatchRow
from piiloom.execution.batches.batch_scheduler import BatchModeState, BatchStatus
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.limits.limiter import LimiterState
from piiloom.execution.watching.events import Braked, CallAnswered, CallFailed, CallStarted, ItemRejected, StageEntered, StagePassed
from piiloom.foundation.noop import noop
from piiloom.generation.running.progress import RunProgress
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.generation.llm_runs import set_keys

STATE = LimiterState(limit=64, in_flight=61, waiting=12, rpm=500, tpm=60_000, braking_for_s=3.2, refused=7)
CALM = LimiterState(limit=64, in_flight=3, waiting=0, rpm=None, tpm=None, braking_for_s=0.0, refused=0)


def progress(accepted=0, wanted=100, **changes):
    return RunProgress(run_id="r0001", wanted=wanted, accepted=accepted, **changes)


def one_call(sink, stage="question", item="0", cost_usd=0.25):
    sink(StageEntered(stage, item))
    sink(CallStarted(stage, item, 0, 1))
    sink(CallAnswered(stage, item, 0, 1.5, 1200, 1000, 80, cost_usd, 0))
    sink(StagePassed(stage, item))


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_quiet_shows_nothing_and_needs_no_event(capfd):
    with shown_run("r0001", mode="quiet") as (watch, sink):
        watch(progress(3))
        assert (watch, sink) == (noop, noop)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("as_json", "quiet", "mode"), [(True, False, "json"), (False, True, "quiet"), (True, True, "quiet"), (False, False, "lines")]
)
def test_the_mode_follows_the_options_and_without_a_terminal_is_lines(as_json, quiet, mode):
    set_verbosity(Verbosity(quiet=quiet))
    try:
        assert chosen_mode(as_json=as_json) == mode
    finally:
        set_verbosity(Verbosity())


def test_json_lines_begin_and_end_with_the_whole_picture(capfd):
    with shown_run("r0001", mode="json", traffic=lambda: STATE, budget_usd=2.0) as (watch, sink):
        watch(progress(1, rejected=1, totals=CallTotals(cost_usd=0.25, charged_usd=0.05)))
        one_call(sink)
        sink(Braked(4.0))
        sink(CallFailed("question", "1", 2, "invalid_request", final=True))
        sink(CallFailed("question", "2", 0, "rate_limited", final=False))
        sink(ItemRejected("question", "1", "invalid_request"))
    out, err = capfd.readouterr()
    assert out == ""
    first, *between, last = json_lines(err)
    assert (first["event"], first["accepted"], first["wanted"]) == ("progress", 0, None)
    assert between == [
        {"event": "brake", "run": "r0001", "seconds": 4.0},
        {"event": "failure", "run": "r0001", "stage": "question", "item": "1", "attempt": 2, "code": "invalid_request"},
        {"event": "reject", "run": "r0001", "stage": "question", "item": "1", "code": "invalid_request"},
    ]
    assert (last["event"], last["accepted"], last["rejected"], last["cost_usd"], last["spent_usd"]) == ("progress", 1, 1, 0.25, 0.3)
    assert (last["budget_usd"], last["limiter"]["braking_for_s"], last["limiter"]["limit"]) == (2.0, 3.2, 64)
    stage = last["stages"]["question"]
    assert (stage["done"], stage["input_tokens"], stage["cached_tokens"], stage["failures"]) == (1, 1200, 1000, 1)
    assert stage["p50_s"] == pytest.approx(1.5, rel=0.02)


def test_a_run_that_breaks_off_still_ends_with_its_picture(capfd):
    def broken_off():
        with shown_run("r0001", mode="json") as (watch, _):
            watch(progress(7))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert json_lines(capfd.readouterr().err)[-1]["accepted"] == 7


def test_lines_come_by_themselves_also_when_the_run_stands_still(capfd):
    with shown_run("r0001", mode="lines", traffic=lambda: STATE, budget_usd=10.0, line_every_s=0.05) as (watch, _):
        watch(progress(5, rejected=2, totals=CallTotals(cost_usd=2.5, charged_usd=0.5)))
        time.sleep(0.4)
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert 3 <= len(lines) <= 9
    assert lines[0].startswith("r0001: 5/100 · ")
    assert "2 rejected · $2.50 + $0.5000 set aside of $10.00 (30%)" in lines[0]
    assert "61 in flight of 64 · 12 waiting · limit 500 rpm, 60k tpm · paused by the server for 3 s · 7 refused by the server" in lines[0]


def test_a_calm_limiter_says_little():
    assert limiter_text(CALM) == "3 in flight of 64"


def out_at_provider(requests, done):
    row = BatchRow(
        id="b1",
        run_id="r0001",
        provider="openai",
        endpoint="https://api.example",
        model="m",
        remote_id="batch_7",
        state="submitted",
        requests=requests,
        created_at="2026-11-01T10:00:00+00:00",
    )
    return BatchStatus(row=row, total=requests, done=done)


def test_batches_show_what_is_out_and_what_gathers(capfd):
    state = BatchModeState(out=[out_at_provider(1000, 400), out_at_provider(234, 100)], gathered=52)
    assert batches_text(state) == "2 open batches: 500 of 1,234 requests done · 52 calls gathered for the next"
    assert batches_text(BatchModeState(out=[out_at_provider(3, 0)], gathered=0)) == "1 open batch: 0 of 3 requests done"
    assert batches_text(BatchModeState(out=[], gathered=4)) == "no open batch · 4 calls gathered for the next"
    with shown_run("r0001", mode="json", traffic=lambda: state) as (watch, _):
        watch(progress(2))
    last = json_lines(capfd.readouterr().err)[-1]
    assert last["limiter"] is None
    assert last["batches"]["gathered"] == 52
    assert last["batches"]["out"][0] == {"id": "batch_7", "state": "submitted", "requests": 1000, "done": 400}


def test_before_the_line_is_open_nothing_is_known_of_the_limiter(capfd):
    with shown_run("r0001", mode="json", traffic=lambda: None) as (watch, sink):
        watch(progress(preparing="topics 1/78"))
        sink(CallStarted("topics", "age+health", 0, 1))
    last = json_lines(capfd.readouterr().err)[-1]
    assert (last["limiter"], last["in_flight"], last["preparing"]) == (None, 1, "topics 1/78")


def test_nobody_reading_the_lines_does_not_end_the_run(monkeypatch):
    class Gone:
        def write(self, _text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    with shown_run("r0001", mode="json") as (watch, sink):
        watch(progress(1))
        sink(ItemRejected("question", "1", "leak"))
        time.sleep(0.05)


def on_a_terminal(code, columns=100):
    """What *code* shows on a terminal of its own at standard error."""
    ours, theirs = pty.openpty()
    env = os.environ | {"COLUMNS": str(columns), "LINES": "30", "TERM": "xterm"}
    child = subprocess.Popen([sys.executable, "-c", code], stderr=theirs, stdout=subprocess.PIPE, env=env)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    out = child.stdout.read()
    child.stdout.close()
    os.close(ours)
    assert (child.wait(), out) == (0, b"")
    return shown.decode()


LIVE = """
import time
from piiloom.corpus.store.call_events import BatchRow
from piiloom.execution.batches.batch_scheduler import BatchStatus, BatchModeState
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.watching.events import *
from piiloom.execution.limits.limiter import LimiterState
from piiloom.generation.running.progress import RunProgress
from piiloom.cli.live_view import chosen_mode, shown_run
state = LimiterState(limit=64, in_flight=61, waiting=0, rpm=None, tpm=None, braking_for_s=0.0, refused=0)
mode = chosen_mode(as_json=False)
assert mode == "live"
with shown_run("r0001", mode=mode, traffic=lambda: state, budget_usd=5.0) as (watch, sink):
    watch(RunProgress(run_id="r0001", wanted=100, accepted=4, totals=CallTotals(cost_usd=1.25)))
    for stage in ("topics", "question"):
        sink(StageEntered(stage, "0")); sink(CallStarted(stage, "0", 0, 1))
        sink(CallAnswered(stage, "0", 0, 1.5, 1200, 1000, 80, 0.25, 0)); sink(StagePassed(stage, "0"))
    began = time.process_time()
    time.sleep({seconds})
    used = time.process_time() - began
assert used < 0.02 * {seconds}, used  # 0.06 s of 5 were seen on a slow machine, 0.03 on others
"""


def plain(text):
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", text)]


@pytest.mark.long
def test_a_terminal_gets_a_table_of_the_stages():
    lines = plain(on_a_terminal(LIVE.replace("{seconds}", "0.6").replace("assert used", "0 and used")))
    at = max(number for number, line in enumerate(lines) if "r0001: 4/100" in line)
    assert lines[at + 1 : at + 3] == ["  $1.25 of $5.00 (25%)", "  61 in flight of 64"]
    assert lines[at + 3].split() == "stage queued in flight done rejected in cached out cost p50 p95".split()
    assert lines[at + 4].split() == "topics 0 0 1 0 1,200 1,000 80 $0.2500 1.5 s 1.5 s".split()
    assert [line.split()[0] for line in lines[at + 4 : at + 6]] == ["topics", "question"]


@pytest.mark.long
def test_a_narrow_terminal_does_without_some_columns():
    lines = plain(on_a_terminal(LIVE.replace("{seconds}", "0.3").replace("assert used", "0 and used"), columns=50))
    (title,) = {line.strip() for line in lines if line.strip().startswith("stage")}
    assert "cached" not in title
    assert "done  rejected" in title
    assert max(map(len, lines)) <= 50


@pytest.mark.long
def test_the_live_view_takes_less_than_two_percent_of_a_processor():
    assert "r0001" in on_a_terminal(LIVE.replace("{seconds}", "5"))


def test_columns_leave_out_only_what_they_must():
    rows = [("stage", "queued", "cost"), ("topics", "12", "$1.00")]
    assert in_columns(rows, width=80, spared=("cost",)) == ["stage   queued   cost", "topics      12  $1.00"]
    assert in_columns(rows, width=15, spared=("cost", "queued")) == ["stage   queued", "topics      12"]
    assert in_columns(rows, width=3, spared=("cost", "queued")) == ["stage", "topics"]


@pytest.mark.parametrize("mode", ["json", "quiet", "lines"])
def test_a_paid_run_of_the_command_line_keeps_standard_output_for_the_result(cli, store_path, monkeypatch, mode):
    set_keys(monkeypatch)
    flag = {"json": ["--json"], "quiet": ["--quiet"], "lines": []}[mode]
    words = (
        "generate",
        "--provider",
        "openai",
        "--model",
        "gpt-6-luna",
        "--samples",
        2,
        "--recipe",
        "staged",
        "--pairs",
        "health+occupation",
    )
    with LLMServer(Author(7)) as server:
        outcome = cli(*words, "--topics-per-pair", 2, "--base-url", server.openai_url, *flag, "--store", store_path)
    assert outcome.code == 0, outcome.err
    if mode == "json":
        first, *_, last = json_lines(outcome.err)
        result = json.loads(outcome.out)
        assert (first["event"], last["event"], last["accepted"], last["wanted"]) == ("progress", "progress", 2, 2)
        assert last["cost_usd"] == pytest.approx(result["cost_usd"])
        assert sum(stage["answered"] for stage in last["stages"].values()) == result["calls"]
        assert sum(stage["in_flight"] for stage in last["stages"].values()) == 0
        assert last["limiter"]["in_flight"] == 0
    elif mode == "quiet":
        assert (outcome.out, outcome.err) == ("", "")
    else:
        assert "2 of 2 records accepted" in outcome.out
        assert "{" not in outcome.err
