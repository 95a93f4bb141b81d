"""``piiloom journal``: figures that add up, an export that is whole, texts that are gone, a file that is smaller."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import duckdb
import pytest

from piiloom.corpus.store.call_events import count_events, iter_events
from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run
from tests.corpus.call_stories import failed, new_run, reply, sent, tell

COMMANDS = [
    ("journal", "show"),
    ("journal", "export", "--out", "out.jsonl"),
    ("journal", "purge", "--run", "last", "--yes"),
    ("journal", "vacuum"),
]
COMMANDS += [("rejects",), ("trace", "last:0")]


@pytest.mark.long
def test_the_journal_adds_up(cli, paid):
    outcome = cli("journal", "show", "--json", "--store", paid)
    shown = json.loads(outcome.out)
    with Store.open(paid) as store:
        spent = spending(store, get_run(store, "last").id)
    total = shown["total"]
    assert outcome.err == ""
    assert [line["stage"] for line in shown["lines"]] == ["topics", "subtopics", "situation", "peripheral", "question", "paraphrase"]
    assert (total["replies"], total["retried"], total["failed"]) == (spent.answered, spent.retries, spent.failed)
    assert total["cost_usd"] == pytest.approx(spent.cost_usd)
    assert total["retried"] > 0
    assert total["refused"] > 0
    assert (total["open"], total["maybe_paid"]) == (0, 0)


@pytest.mark.long
def test_the_journal_as_a_table_leaves_out_columns_of_zeros(cli, paid):
    lines = cli("journal", "show", "--store", paid).out.splitlines()
    assert lines[0].split()[:5] == ["run", "stage", "calls", "sent", "replies"]
    assert "purged" not in lines[0]
    assert "retried" in lines[0]
    assert lines[-1].startswith("all ")
    (one,) = cli("journal", "show", "--stage", "topics", "--run", "last", "--store", paid).out.splitlines()[1:]
    assert one.split()[1:5] == ["topics", "2", "2", "2"]
    assert "that match" in cli("journal", "show", "--stage", "none", "--store", paid).out


def test_what_may_have_been_paid_for_is_said(cli, empty_store):
    with Store.open(empty_store) as store:
        new_run(store)
        tell(store, sent("k1"), failed("k1", code="unknown_outcome", charge_usd=0.5, final=True), sent("k2", worst_usd=0.75))
        tell(store, sent("k3", batch="b1"), sent("k4"), reply("k4", cost_usd=None))
    out = cli("journal", "show", "--store", empty_store).out
    assert "$0.5000 for 1 call that ended without an answer" in out
    assert "open      1 request without an outcome on record, which may have been paid for, $0.7500 at most" in out
    assert "1 request in batches that are not answered yet" in out
    assert "1 reply of unknown price" in out
    assert out.splitlines()[1].split()[-1] == "2"


def test_a_journal_without_calls_says_so(cli, empty_store):
    assert "no calls in the journal" in cli("journal", "show", "--store", empty_store).out
    assert json.loads(cli("journal", "show", "--json", "--store", empty_store).out)["lines"] == []


def test_of_the_composer_only_refused_replies_are_in_the_journal(cli, filled):
    total = json.loads(cli("journal", "show", "--json", "--store", filled).out)["total"]
    assert total["replies"] == total["refused"]
    assert (total["tries"], total["cost_usd"], total["open"]) == (0, 0.0, 0)


def test_an_export_holds_every_event_as_the_store_does(cli, paid, tmp_path):
    out = tmp_path / "new" / "calls.jsonl"
    outcome = cli("journal", "export", "--out", out, "--store", paid)
    assert outcome.code == 0
    assert "read back and equal to the store" in outcome.out
    head, *rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    with Store.open(paid) as store:
        events, counts = list(iter_events(store)), count_events(store)
        prompts = store.rows("SELECT sha256, text FROM prompt_texts ORDER BY sha256")
    assert head == {"table": "journal", "schema": 1, "piiloom": head["piiloom"], "runs": [events[0].run_id]}
    assert [(row["sha256"], row["text"]) for row in rows if row["table"] == "prompt_texts"] == prompts
    told = [row for row in rows if row["table"] == "call_events"]
    assert [(row["key"], row["kind"], row["entry"]) for row in told] == [(e.key, e.kind, e.entry) for e in events]
    for kind, number in counts.items():
        assert f"{kind} {number}" in outcome.out
    assert [path.name for path in out.parent.iterdir()] == ["calls.jsonl"]


def test_an_export_of_one_run_and_as_json(cli, paid, tmp_path):
    with Store.open(paid) as store:
        new_run(store, "other")
        tell(store, sent("k1"), run_id="other")
    out = tmp_path / "a.jsonl"
    report = json.loads(cli("journal", "export", "--run", "other", "--out", out, "--json", "--store", paid).out)
    assert (report["run"], report["rows"], report["bytes"]) == ("other", {"prompt_texts": 1, "sent": 1}, out.stat().st_size)


def test_an_export_that_cannot_be_written_leaves_what_was_there(cli, paid, tmp_path):
    assert "that is the store itself" in cli("journal", "export", "--out", paid, "--store", paid).error_line()
    (tmp_path / "folder").mkdir()
    assert "cannot be written" in cli("journal", "export", "--out", tmp_path / "folder", "--store", paid).error_line()
    blocker = tmp_path / "file"
    blocker.write_text("kept")
    assert "cannot be written" in cli("journal", "export", "--out", blocker / "x.jsonl", "--store", paid).error_line()
    assert blocker.read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "work"]


def test_purging_deletes_texts_and_keeps_costs(cli, paid):
    before = json.loads(cli("journal", "show", "--json", "--store", paid).out)["total"]
    outcome = cli("journal", "purge", "--run", "last", "--yes", "--store", paid)
    after = json.loads(cli("journal", "show", "--json", "--store", paid).out)["total"]
    assert outcome.code == 0
    assert f"piiloom journal vacuum --store {paid}" in outcome.out
    assert after == before | {"purged": before["replies"]}
    with Store.open(paid) as store:
        assert not [e for e in iter_events(store) if e.entry.get("reply") or e.entry.get("user")]


def test_a_purge_has_to_be_confirmed(cli, paid):
    assert "Add --yes" in cli("journal", "purge", "--run", "last", "--store", paid).error_line()
    assert "no run is chosen" in cli("journal", "purge", "--store", paid).error_line()
    assert json.loads(cli("journal", "show", "--json", "--store", paid).out)["total"]["purged"] == 0


@pytest.mark.long
@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 1), (b"y\n", 0)])
def test_a_purge_asks_on_a_terminal(paid, answer, code):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "piiloom", "journal", "purge", "--run", "last", "--store", str(paid)]
    child = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy())
    os.write(ours, answer)
    out, err = child.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert b"the texts of its prompts and replies will be deleted" in err
    assert (child.returncode, b"purged" in out, b"nothing was purged" in err) == (code, code == 0, code == 1)


def test_purging_by_age_takes_only_runs_whose_age_is_known(cli, paid):
    with Store.open(paid) as store:
        for name, at in (("old", "2024-01-01T00:00:00.000+00:00"), ("undated", None)):
            new_run(store, name)
            tell(store, *([sent("k1", at=at)] if at else []), reply("k1"), run_id=name)
    report = cli("journal", "purge", "--older-than", 30, "--yes", "--json", "--store", paid)
    assert json.loads(report.out) == {"store": str(paid), "runs": ["old"], "prompts": 2, "replies": 1, "reject_replies": 0}
    assert report.err == "the calls of undated have no date; name such runs with --run\n"
    again = cli("journal", "purge", "--older-than", 99_999, "--yes", "--store", paid)
    assert (again.code, "no run is that old" in again.out) == (0, True)


def test_vacuum_prints_the_sizes(cli, paid):
    cli("journal", "purge", "--run", "last", "--yes", "--store", paid)
    size = paid.stat().st_size
    report = json.loads(cli("journal", "vacuum", "--json", "--store", paid).out)
    assert (report["before_bytes"], report["after_bytes"]) == (size, paid.stat().st_size)
    assert f"{paid.stat().st_size:,} bytes before" in cli("journal", "vacuum", "--store", paid).out
    with Store.open(paid) as store:
        assert get_run(store, "last").status == "finished"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_store_of_a_newer_piiloom_is_left_alone(cli, paid, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect(str(paid)) as connection:
        connection.execute("INSERT INTO schema_version VALUES (99, 'piiloom', 'from the future')")
    before = paid.read_bytes()
    message = cli(*words, "--store", paid).error_line()
    assert "schema version 99" in message
    assert "Upgrade piiloom" in message
    assert paid.read_bytes() == before


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_store_and_no_run_are_one_clear_line(cli, empty_store, tmp_path, words, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no store here" in cli(*words, "--store", tmp_path / "absent.duckdb").error_line()
    if "last" in words or words == ("rejects",) or words[0] == "trace":
        assert "no runs yet" in cli(*words, "--store", empty_store).error_line()
