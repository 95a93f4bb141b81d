"""``piiloom detect --detector hybrid`` over real HTTP: agreement, money, Ctrl-C, and what is gone on with."""

from __future__ import annotations

import json
import os
import signal

import pytest

import piiloom
from piiloom.detection.running import running as session
from tests.detection.answering_model import Model
from tests.detection.own_entities import member, only_own, own, text_of, write_texts
from tests.fakes.llm_server import LLMServer
from tests.providers.provider_calls import MODELS

__all__ = ["only_own", "own"]
COUNT = 12


@pytest.fixture(autouse=True)
def _small(only_own, monkeypatch):
    monkeypatch.setattr(session, "_MODEL_DOCUMENTS", 4)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")


@pytest.fixture
def texts(tmp_path):
    return write_texts(tmp_path / "in.jsonl", COUNT)


@pytest.fixture
def words(texts, own, tmp_path):
    """The command over a server, but for what is told about sending and money."""

    def make(server, *more, name="found.jsonl"):
        asked = ("--detector", "hybrid", "--provider", "openai", "--model", MODELS["openai"], "--base-url", server.openai_url)
        return ("detect", texts, "--types", own, "--out", tmp_path / name, "--replies", tmp_path / "s.duckdb", *asked, *more)

    return make


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def model(known=None, spoil=None):
    return Model({"Żółw": "test_animal", "Bear": "test_animal"} if known is None else known, spoil)


def invented(kind, data, reply):
    return {"found": [*reply["found"], {"type": "test_animal", "text": "Bear", "before": ""}]} if "found" in reply else reply


def test_patterns_and_a_model_write_one_file(cli, words, tmp_path):
    with LLMServer(model(spoil=invented)) as server:
        outcome = cli(*words(server, "--yes", "--unpriced", "--json"))
        asked = server.requests
        assert cli(*words(server, "--yes", "--unpriced", name="again.jsonl")).code == 0
        assert server.requests == asked  # the store has all replies
    assert outcome.code == 0, outcome.err
    assert "the texts of " in outcome.err
    assert f"would be sent to openai at {server.openai_url}, model {MODELS['openai']}" in outcome.err
    told = json.loads(outcome.out)
    assert (told["documents"], told["spans"], told["model"]["answered"]) == (COUNT, 3 * COUNT, asked)
    assert told["set_aside"] == {"invented": COUNT}
    first = rows(tmp_path / "found.jsonl")[0]
    assert [(span["text"], span["subtype"], span["detector"]) for span in first["spans"]] == [
        ("Żółw", "test_animal", "model"),
        (member(0), "test_member", "patterns"),
        ("nick_aż", "test_nick", "patterns"),
    ]
    assert rows(tmp_path / "found.set-aside.jsonl")[3] == {
        "row": 4,
        "id": "d3",
        "phase": 1,
        "reason": "invented",
        "subtype": "test_animal",
        "value": "Bear",
        "start": None,
        "end": None,
    }
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()


def test_nothing_is_sent_without_agreement(cli, words, tmp_path):
    with LLMServer(model()) as server:
        outcome = cli(*words(server, "--unpriced"))
        assert server.requests == 0
    assert outcome.code == 2
    assert "must be confirmed" in outcome.err
    assert not (tmp_path / "found.jsonl").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.long
def test_a_budget_stops_it_and_a_larger_one_goes_on(cli, words, tmp_path):
    prices = ("--yes", "--price", "input=1000,output=1000", "--concurrency", 1, "--json")
    with LLMServer(model()) as server:
        whole = cli(*words(server, *prices, name="whole.jsonl"))
        cost = json.loads(whole.out)["model"]["cost_usd"]
        (tmp_path / "s.duckdb").unlink()
        stopped = cli(*words(server, *prices, "--budget-usd", cost * 0.9))
        assert stopped.code == 1, stopped
        assert "documents): give the same command with --resume" in stopped.err, stopped.err
        before = server.requests
        done = cli(*words(server, *prices, "--budget-usd", cost * 2, "--resume"))
        assert 0 < server.requests - before < COUNT
    assert done.code == 0, done.err
    assert json.loads(done.out)["kept"] >= 4
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_ctrl_c_stops_it_in_order(cli, words, tmp_path):
    seen = []

    def struck(kind, data, reply):
        seen.append(kind)
        if len(seen) == 7:
            os.kill(os.getpid(), signal.SIGINT)
        return reply

    with LLMServer(model(spoil=struck)) as server:
        outcome = cli(*words(server, "--yes", "--unpriced", "--concurrency", 1))
        assert outcome.code == 1
        assert "error: stopped at once. What is done is kept (4 documents)" in outcome.err, outcome
        done = cli(*words(server, "--yes", "--unpriced", "--resume", "--json"))
        assert done.code == 0, done
        assert server.requests <= COUNT + 1  # the one that was on its way may have been asked again
    assert json.loads(done.out)["kept"] == 4


def test_a_store_that_is_none_is_refused_and_left_alone(cli, words, tmp_path):
    data = tmp_path / "s.duckdb"
    data.write_bytes(b'{"a": 1}\n')
    with LLMServer(model()) as server:
        outcome = cli(*words(server, "--yes", "--unpriced"))
        assert server.requests == 0
    assert outcome.code == 1
    assert "the file is not a piiloom store" in outcome.err
    assert data.read_bytes() == b'{"a": 1}\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "s.duckdb"]


@pytest.mark.long
def test_from_python(own, tmp_path):
    with LLMServer(model()) as server:
        found = piiloom.detect(
            [text_of(0), "nothing"],
            locale="pl_PL",
            types=[own],
            detector="hybrid",
            provider="openai",
            model=MODELS["openai"],
            base_url=server.openai_url,
            replies=tmp_path / "s.duckdb",
            unpriced=True,
            yes=True,
        )
    assert [span.subtype for span in found[0]] == ["test_animal", "test_member", "test_nick"]
    assert found[1] == []
