"""``piiloom train openai`` on the command line, against a server that behaves as OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from piiloom.cli.main import app_of, run
from piiloom.detection.training.job_plan import base_model
from piiloom.detection.training.training_options import TuningOptions
from piiloom.detection.training.tuning_job import JobFolder
from tests.detection.training_rows import row, write_jsonl
from tests.fakes.openai_tuning import JobPlan
from tests.fakes.openai_tuning_http import TuningServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TuningServer]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with TuningServer() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        write_jsonl(tmp_path / "train.jsonl", [row(n) for n in range(30)])
        yield running


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    """Run the command; its exit code, the JSON it prints, and what it says beside that."""
    code = run(["train", "openai", *words, "--json"])
    seen = capsys.readouterr()
    return code, json.loads(seen.out), seen.err


def test_a_training_and_what_it_cost(server: TuningServer, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, said = told(capsys, "--train", "train.jsonl", "--out", "tuned", "--yes", "--poll", "0.01", "--validation-size", "10")
    assert (code, found["status"], found["model"]) == (0, "succeeded", "ft:gpt-4.1-mini-2025-04-14:acme:piiloom-markers:0000")
    assert "would be sent to openai" in said
    assert "as noted on 2026-11-27" in said
    assert "turned off on 2027-01-14" in said
    rows = [json.loads(line) for line in Path("tuned/train.jsonl").read_bytes().splitlines()]
    assert len(rows) == 20
    assert [one["role"] for one in rows[0]["messages"]] == ["system", "user", "assistant"]
    assert run(["cost", "--run", found["run"], "--store", "outputs/piiloom.duckdb", "--json"]) == 0
    costs = json.loads(capsys.readouterr().out)["total"]
    assert (costs["cost_usd"], costs["input_tokens"]) == (found["cost_usd"], found["trained_tokens"])
    asked = dict(server.asked)
    assert told(capsys, "--out", "tuned")[1] == found
    assert dict(server.asked) == asked


def test_signs_are_learnt_and_asked_for(server: TuningServer, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--train", "train.jsonl", "--out", "tuned", "--yes", "--poll", "0.01", "--validation-size", "0", "--markers", "privacyai")
    code, found, said = told(capsys, *asked)
    assert (code, found["status"]) == (0, "succeeded")
    assert "no sign for its type" in said
    assert "--detector markers --markers privacyai" in found["use"]
    (first, *_) = [json.loads(line) for line in Path("tuned/train.jsonl").read_bytes().splitlines()]
    assert "@@@value###" in first["messages"][0]["content"]
    assert told(capsys, "--out", "tuned", "--markers", "types")[0] == 2


def test_an_estimate_sends_and_writes_nothing(
    server: TuningServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    code, found, _ = told(capsys, "--train", "train.jsonl", "--estimate", "--task", "verifier-1", "--epochs", "auto")
    assert (code, found["estimate"]["chosen"], found["estimate"]["price"]["usd"]) == (0, True, 5.0)
    assert found["files"]["train"]["examples"] == 108  # of 27 records with two spans, each with a right and a wrong candidate
    assert not server.asked
    assert [path.name for path in Path.cwd().iterdir()] == ["train.jsonl"]


def test_the_bases_of_a_refusal(server: TuningServer, capsys: pytest.CaptureFixture[str]) -> None:
    begin = ("--train", "train.jsonl", "--out", "tuned", "--validation-size", "0")
    cases: dict[tuple[str, ...], tuple[int, str]] = {
        ("--out", "none", "--status"): (2, "there is no job in this folder"),
        (*begin,): (2, "Add --yes"),
        (*begin, "--yes", "--budget-usd", "0.001"): (1, "too small"),
        (*begin, "--yes", "--budget-usd", "9", "--epochs", "auto"): (2, "needs a number of epochs"),
        (*begin, "--yes", "--model", "gpt-9"): (2, "the price of training 'gpt-9' is unknown"),
        (*begin, "--suffix", "a:b"): (2, "cannot be part of a model's name"),
        (*begin, "--epochs", "many"): (2, "no number of epochs"),
        (*begin, "--task", "poems"): (2, "there is no task"),
        (*begin, "--task", "capid", "--markers", "privacyai"): (2, "has no markers"),
        ("--train", "train.jsonl", "--yes"): (2, "--out"),
        (*begin, "--status", "--cancel"): (2, "only one of these"),
        ("--out", "tuned", "--yes"): (2, "release or files"),
    }
    for words, (code, said) in cases.items():
        assert run(["train", "openai", *words]) == code, words
        assert said in capsys.readouterr().err, words
    assert not server.asked
    assert not Path("none").exists()


def test_too_few_examples_are_refused_before_anything_is_sent(server: TuningServer, capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(Path("few.jsonl"), [row(n) for n in range(9)])
    assert run(["train", "openai", "--train", "few.jsonl", "--out", "tuned", "--yes", "--validation-size", "0"]) == 1
    assert "OpenAI takes no file with fewer than 10" in capsys.readouterr().err
    assert not server.asked


def test_a_folder_goes_on_with_its_own_job_only(server: TuningServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.plan = JobPlan(steps=9)
    begin = ("--train", "train.jsonl", "--out", "tuned", "--yes", "--no-wait", "--validation-size", "0", "--poll", "0.01")
    assert told(capsys, *begin)[1]["status"] == "made"
    assert run(["train", "openai", "--out", "tuned", "--epochs", "4"]) == 2
    assert "its --epochs is 3" in capsys.readouterr().err
    for words, said in {("--train", "other.jsonl"): "its --train is train.jsonl", ("--release", "v1"): "its --release is not set"}.items():
        assert run(["train", "openai", "--out", "tuned", *words]) == 2
        assert said in capsys.readouterr().err
    with JobFolder(Path("tuned")):
        code, found, said = told(capsys, "--out", "tuned", "--status")
        assert (code, found["status"]) == (0, "made")
        assert "another process follows the job" in said
    assert told(capsys, "--out", "tuned", "--status")[1]["status"] == "queued"
    assert [job["status"] for job in told(capsys, "--list")[1]["jobs"]] == ["queued"]
    assert told(capsys, "--out", "tuned", "--cancel")[1]["status"] == "cancelled"
    assert told(capsys, "--out", "tuned", "--delete-files")[1] == {"deleted": ["file-0000"]}


def test_a_failed_job_is_an_error_whenever_it_is_asked_for(server: TuningServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.plan = JobPlan(fails_with=("invalid_file_format", "training_file"))
    for _ in range(2):
        code = run(["train", "openai", "--train", "train.jsonl", "--out", "tuned", "--yes", "--poll", "0.01", "--validation-size", "0"])
        assert code == 1
        assert "ftjob-0000: the job failed: invalid_file_format (training_file): The job failed" in capsys.readouterr().err
    assert run(["train", "openai", "--out", "tuned", "--status"]) == 0
    assert "why: invalid_file_format" in capsys.readouterr().out
    assert len(server.jobs) == 1


def test_jobs_are_listed_without_a_model(server: TuningServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "--list")[:2] == (0, {"jobs": []})
    told(capsys, "--train", "train.jsonl", "--out", "tuned", "--yes", "--poll", "0.01", "--validation-size", "0")
    code, listed, _ = told(capsys, "--list")
    assert (code, [(job["id"], job["status"]) for job in listed["jobs"]]) == (0, [("ftjob-0000", "succeeded")])
    assert run(["train", "openai", "--list"]) == 0
    assert "ftjob-0000" in capsys.readouterr().out


def test_the_job_is_named_when_the_server_goes_away(server: TuningServer, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "--train", "train.jsonl", "--out", "tuned", "--yes", "--no-wait", "--validation-size", "0")
    server.hides = True
    assert run(["train", "openai", "--out", "tuned"]) == 1
    assert "ftjob-0000 is not touched by this" in capsys.readouterr().err


def test_the_help_names_the_base_model_in_force() -> None:
    command = typer.main.get_command(app_of()).commands["train"].commands["openai"]
    (model,) = (parameter for parameter in command.params if parameter.name == "model")
    assert f"(default {base_model(TuningOptions())})" in model.help
