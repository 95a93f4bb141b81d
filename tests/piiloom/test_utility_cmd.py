"""``piiloom utility``: the stand-in, a model over HTTP, estimates, and what is refused before anything is sent."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.registry import get_format
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.utility_panel import Panel, asthmatics
from tests.fakes.llm_server import LLMServer
from tests.providers.provider_calls import MODELS


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "test.jsonl"
    get_format("native").write(asthmatics(2), path, WriteOptions(taxonomy=shipped_taxonomy()))
    return path


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")


def _asking(server, file, *more):
    url = ("--base-url", server.openai_url, "--replies", file.parent / "kept" / "replies.duckdb")
    return ("utility", file, "--provider", "openai", "--model", MODELS["openai"], *url, *more)


def test_without_a_provider_a_rule_stands_in_and_says_so_everywhere(cli, file, tmp_path):
    outcome = cli("utility", file, "--out", tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("stand-in (a rule, no judge)") == 2
    assert "No model was asked" in outcome.out
    told = json.loads(cli("utility", file, "--json").out)
    assert (told["stand_in"], told["judge"], told["cost"], told["records"]) == (True, None, None, 2)
    assert "no judge" in told["method"]
    for name in ("answers.jsonl", "comparisons.jsonl"):
        assert all(json.loads(line)["by"] == "stand-in" for line in (tmp_path / "out" / name).read_text().splitlines())
    assert "no judge" in (tmp_path / "out" / "utility.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "test.jsonl"]


def test_what_is_left_out_is_told(cli, file):
    with file.open("a") as fh:
        fh.write('{"id": "b", "context": "I am 34.", "question": null, "spans": []}\n{"id": "c"}\n')
    assert json.loads(cli("utility", file, "--json").out)["left_out"] == {"no question": 1, "a row that is no record": 1}
    assert "left out: 1 (no question)" in cli("utility", file).out


def test_a_release_is_read_from_its_store(cli, released):
    told = json.loads(cli("utility", "v1", "--store", released, "--split", "train", "--json").out)
    assert (told["records"], told["source"]) == (12, "release v1 of test.duckdb")
    few = json.loads(cli("utility", "v1", "--store", released, "--limit", 5, "--json").out)
    assert few["records"] == 5
    assert few == json.loads(cli("utility", "v1", "--store", released, "--limit", 5, "--json").out)
    missing = cli("utility", "v1", "--store", released, "--split", "nights")
    assert missing.code == 2
    assert "train" in missing.error_line()


def test_a_model_answers_and_judges_and_is_paid_once(cli, file, key, tmp_path):
    with LLMServer(Panel()) as server:
        outcome = cli(*_asking(server, file, "--yes", "--json", "--out", tmp_path / "out"))
        assert outcome.code == 0, outcome.err
        assert server.requests == 2 * 24
        again = cli(*_asking(server, file, "--yes", "--concurrency", 3))
        assert server.requests == 2 * 24
    told = json.loads(outcome.out)
    assert (told["stand_in"], told["judge"]) == (False, {"provider": "openai", "model": MODELS["openai"]})
    assert told["cost"]["usd"] > 0
    assert told["files"] == ["answers.jsonl", "comparisons.jsonl", "utility.md", "utility.json"]
    assert "2 contexts with questions and labelled values would leave this machine: 8 requests for answers to openai" in outcome.err
    assert "sk-test" not in outcome.out + outcome.err
    assert "position bias: 0.000" in again.out
    assert f"piiloom cost --run {told['cost']['run']} --store " in again.out
    costs = json.loads(cli("cost", "--store", tmp_path / "kept" / "replies.duckdb", "--json").out)
    assert {one["name"]: one["answered"] for one in costs["by_stage"]} == {
        "utility_answer": 8,
        "utility_judge_pair": 24,
        "utility_judge_completeness": 8,
        "utility_judge_disclosure": 8,
    }


@pytest.mark.long
def test_the_costs_of_another_judge_are_those_of_its_provider(cli, file, key, tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-0123456789-abcdefghij")
    with LLMServer(Panel()) as server:
        judge = ("--judge-provider", "anthropic", "--judge-base-url", server.anthropic_url)
        outcome = cli(*_asking(server, file, "--yes", "--variants", "original,all_masked", *judge))
    assert "judged by anthropic claude-haiku-5-5" in outcome.out
    costs = json.loads(cli("cost", "--store", tmp_path / "kept" / "replies.duckdb", "--json").out)
    assert {one["name"]: one["answered"] for one in costs["by_model"]} == {"openai gpt-6-luna": 4, "anthropic claude-haiku-5-5": 12}


def test_a_second_judge_compares_the_answers_too(cli, file, key, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-0123456789-abcdefghij")
    with LLMServer(Panel()) as server:
        judge = ("--second-judge-provider", "anthropic", "--second-judge-base-url", server.anthropic_url)
        outcome = cli(*_asking(server, file, "--yes", "--variants", "relevance_aware,all_masked", *judge))
    assert outcome.code == 0, outcome.err
    assert "pairs: the same answers, judged by anthropic claude-haiku-5-5" in outcome.out
    assert "agreement of the two judges: win, tie or loss" in outcome.out
    assert "for judgements to openai gpt-6-luna at" in outcome.err
    assert " and anthropic claude-haiku-5-5 at" in outcome.err


def test_nothing_is_sent_when_nobody_can_agree(cli, file, key, monkeypatch):
    with LLMServer(Panel()) as server, Path(os.devnull).open() as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        outcome = cli(*_asking(server, file))
        assert server.requests == 0
    assert outcome.code == 2
    assert "Add --yes" in outcome.err.splitlines()[-1]
    assert not (file.parent / "kept").exists()


@pytest.mark.long
def test_a_budget_that_is_reached_says_how_to_go_on(cli, file, key):
    with LLMServer(Panel()) as server:
        stopped = cli(*_asking(server, file, "--yes", "--price", "input=1000,output=1000", "--budget-usd", 10))
        paid = server.requests
        done = cli(*_asking(server, file, "--yes", "--price", "input=1000,output=1000", "--budget-usd", 1000))
        assert server.requests == 2 * 24
    assert (stopped.code, done.code) == (1, 0)
    assert 0 < paid < 2 * 24
    assert "Give the same command again: what was paid for is kept" in stopped.err.splitlines()[-1]


def test_an_estimate_needs_no_key_and_sends_nothing(cli, file):
    told = json.loads(cli("utility", file, "--provider", "anthropic", "--estimate", "--json").out)
    assert [stage["calls"] for stage in told["stages"]] == [8, 24, 8, 8]
    assert told["total"]["most_usd"] > told["total"]["about_usd"] > 0
    assert told["prices_dated"]
    shown = cli("utility", file, "--provider", "anthropic", "--estimate").out
    assert "utility_judge_pair" in shown
    assert "Nothing was sent." in shown
    assert "costs nothing" in cli("utility", file, "--estimate").out
    assert json.loads(cli("utility", file, "--estimate", "--json").out)["stand_in"] is True
    assert sorted(path.name for path in file.parent.iterdir()) == ["test.jsonl"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("absent.jsonl",), 1, "there is no such file"),
        (("FILE", "--split", "test"), 2, "a file has no splits"),
        (("FILE", "--variants", "original,typed"), 2, "there is no variant 'typed'"),
        (("FILE", "--provider", "composer"), 2, "there is no LLM provider 'composer'"),
        (("FILE", "--model", "gpt-6-luna"), 2, "no model is asked offline"),
        (("FILE", "--provider", "openai", "--judge-price", "input=1,output=1"), 2, "no separate judge is named"),
        (("FILE", "--provider", "openai", "--yes"), 1, "leave --provider out"),
        (("FILE", "--provider", "compatible"), 2, "needs the name of a model"),
        (("FILE", "--out", "FILE"), 1, "this is not a folder"),
        (("v1", "--input-format", "capid"), 2, "a release has its own format"),
        (("FILE", "--provider", "openai", "--model", "nobodys", "--yes"), 2, "the price of the model 'nobodys' is unknown"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(cli, file, words, code, told, monkeypatch):
    if "nobodys" in words:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    outcome = cli("utility", *(file if word == "FILE" else word for word in words), "--replies", file.parent / "r.duckdb")
    assert outcome.code == code
    assert told in outcome.error_line()
    assert sorted(path.name for path in file.parent.iterdir()) == ["test.jsonl"]


def test_records_that_cannot_be_compared_are_told(cli, tmp_path):
    path = tmp_path / "bare.jsonl"
    path.write_text('{"id": "a", "context": "I am 34.", "question": null, "spans": []}\n')
    outcome = cli("utility", path)
    assert outcome.code == 1
    assert "nothing can be compared (1 × no question)" in outcome.error_line()
