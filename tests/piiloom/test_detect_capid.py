"""``piiloom detect --detector capid`` and ``--verify`` over real HTTP: files, rejects, budget, kills, and what is gone on with."""

from __future__ import annotations

import json
import sys
import time

import pytest

import piiloom
from piiloom.detection.running import running as session
from tests.detection.listing_model import ListingModel
from tests.fakes.llm_server import LLMServer
from tests.forked import Forked
from tests.longer import mostly_long
from tests.providers.provider_calls import MODELS
from tests.taxonomy.own_types_example import written

COUNT = 8


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(session, "_MODEL_DOCUMENTS", 4)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")


def text_of(number):
    return f"Anna {number}: a nurse in Łódź, with asthma. Her asthma is {number}."


def write_texts(path, count=COUNT):
    asked = ({"id": f"d{number}", "text": text_of(number), "locale": "en_US", "question": "Can I?"} for number in range(count))
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in asked), encoding="utf-8")
    return path


@pytest.fixture
def words(tmp_path):
    """The command over a server, but for what is told about sending and money."""
    texts = write_texts(tmp_path / "in.jsonl")

    def make(server, *more, name="found.jsonl", detector="capid", source=texts):
        asked = ("--detector", detector, "--provider", "openai", "--model", MODELS["openai"], "--base-url", server.openai_url)
        return ("detect", source, "--out", tmp_path / name, "--replies", tmp_path / "s.duckdb", *asked, *more)

    return make


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_mentions_with_relevance_and_one_document_that_failed(cli, words, tmp_path):
    def spoilt(request, reply):
        if "Anna 5" in request.user:
            return "I can't tell."
        return json.dumps([*json.loads(reply), {"value": "Bob", "type": "name", "relevance": "low"}], ensure_ascii=False)

    with LLMServer(ListingModel(spoil=spoilt)) as server:
        outcome = cli(*words(server, "--yes", "--unpriced", "--json"))
        asked = server.requests
        assert cli(*words(server, "--yes", "--unpriced", name="again.jsonl")).code == 0
        assert server.requests == asked == COUNT + 2  # three tries for the one; the store has all replies
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert (told["documents"], told["failed"], told["spans"]) == (COUNT - 1, 1, 5 * (COUNT - 1))
    assert told["set_aside"] == {"invented": COUNT - 1}
    spans = rows(tmp_path / "found.jsonl")[0]["spans"]
    assert [(span["text"], span["type"], span["relevance"], span["score"], span["detector"]) for span in spans] == [
        ("Anna", "name", "low", 0.75, "capid"),
        ("nurse", "occupation", "low", 0.75, "capid"),
        ("Łódź", "location", "high", 0.75, "capid"),
        ("asthma", "health", "high", 0.75, "capid"),
        ("asthma", "health", "high", 0.75, "capid"),
    ]
    (rejected,) = rows(tmp_path / "found.detect-rejects.jsonl")
    assert rejected["reason"].startswith("no usable answer came (no_list, attempts: 3)")
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()


def test_the_form_of_the_published_models_and_answers_that_are_not_in_it(cli, words, tmp_path):
    anna = '"Anna": {"type": "name", "relevance": "0"}'

    def model(request):
        assert request.user.rpartition("\n")[2] == "Question: Can I?"
        if "Anna 5" in request.user:
            return "Anna is a name."
        return f'{{{anna}, {anna}, "asthma": {{"type": "health", "relevance": "1"}}}}'

    with LLMServer(model) as server:
        outcome = cli(*words(server, "--yes", "--unpriced", "--json", "--form", "capid"))
        assert cli(*words(server, "--yes", "--unpriced", "--form", "capid", name="again.jsonl", detector="markers")).code == 2
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert (told["documents"], told["failed"], told["spans"]) == (COUNT - 1, 1, 3 * (COUNT - 1))
    assert told["set_aside"] == {"too_often": COUNT - 1}
    spans = rows(tmp_path / "found.jsonl")[0]["spans"]
    assert [(span["text"], span["type"], span["relevance"]) for span in spans] == [
        ("Anna", "name", "low"),
        ("asthma", "health", "high"),
        ("asthma", "health", "high"),
    ]
    (rejected,) = rows(tmp_path / "found.detect-rejects.jsonl")
    assert rejected["reason"].startswith("no usable answer came (no_list, attempts: 3): it has no JSON object")


def test_types_of_ones_own_are_asked_for(cli, words, tmp_path):
    source, mine = tmp_path / "pets.jsonl", written(tmp_path)
    text = "Anna, a nurse, drives KLM-4821 and keeps a beagle."
    source.write_text(json.dumps({"id": "a", "text": text, "locale": "en_US"}) + "\n")
    told = [("Anna", "name"), ("KLM-4821", "vehicle plate"), ("beagle", "pet")]
    asked = []

    def model(request):
        asked.append(request.system)
        return json.dumps([{"value": value, "type": kind} for value, kind in told])

    with LLMServer(model) as server:
        outcome = cli(*words(server, "--yes", "--unpriced", "--types", mine, source=source))
        assert outcome.code == 0, outcome.err
        assert "The registration of a vehicle." in asked[0]
        found = piiloom.detect(
            text, locale="en_US", detector="capid", provider="openai", model=MODELS["openai"], base_url=server.openai_url, types=[mine],
            replies=tmp_path / "s.duckdb", unpriced=True, yes=True,
        )  # fmt: skip
    (row,) = rows(tmp_path / "found.jsonl")
    assert [(span["text"], span["type"]) for span in row["spans"]] == told
    assert [(text[span.start : span.end], span.entity_type) for span in found] == told
    mine.write_text("types: [{name: pet}]\n")
    outcome = cli(*words(server, "--yes", "--unpriced", "--types", mine, source=source, name="again.jsonl"))
    assert (outcome.code, "mine.yaml:1" in outcome.err) == (2, True)


@pytest.mark.parametrize("verifier", mostly_long(("1", "2"), {"2"}))
def test_patterns_with_a_verifier_behind_them(cli, words, tmp_path, verifier):
    source = tmp_path / "mails.jsonl"
    texts = [f"Write to a{number}@example.org or b{number}@example.org." for number in range(3)]
    source.write_text("".join(json.dumps({"id": str(n), "text": text, "locale": "en_US"}) + "\n" for n, text in enumerate(texts)))
    with LLMServer(ListingModel(wrong=[f"b{number}@example.org" for number in range(3)])) as server:
        outcome = cli(*words(server, "--yes", "--unpriced", "--json", "--verify", verifier, detector="patterns", source=source))
        assert server.requests == 6
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert (told["spans"], told["set_aside"]) == (3, {"refused_by_verifier": 3})
    aside = rows(tmp_path / "found.set-aside.jsonl")[1]
    assert (aside["row"], aside["value"], aside["start"]) == (2, "b1@example.org", 27)
    assert ("note" in aside) == (verifier == "2")


def test_nothing_is_sent_without_a_provider_or_agreement(cli, words, tmp_path):
    with LLMServer(ListingModel()) as server:
        outcome = cli(*words(server, "--unpriced"))
        assert outcome.code == 2
        assert "must be confirmed" in outcome.err
        assert server.requests == 0
    for more in (("--detector", "capid"), ("--verify", "1")):
        outcome = cli("detect", tmp_path / "in.jsonl", "--out", tmp_path / "found.jsonl", *more)
        assert outcome.code == 2
        assert "--provider" in outcome.err
    outcome = cli("detect", tmp_path / "in.jsonl", "--out", tmp_path / "found.jsonl", "--verify", "3")
    assert outcome.code == 2
    assert "there are the verifiers 1" in outcome.err


@pytest.mark.long
def test_a_budget_stops_it_and_a_larger_one_goes_on(cli, words, tmp_path):
    prices = ("--yes", "--price", "input=1000,output=1000", "--concurrency", 1, "--json", "--verify", 1)
    with LLMServer(ListingModel(wrong=["nurse"])) as server:
        whole = cli(*words(server, *prices, name="whole.jsonl"))
        assert whole.code == 0, whole.err
        asked, cost = server.requests, json.loads(whole.out)["model"]["cost_usd"]
        (tmp_path / "s.duckdb").unlink()
        stopped = cli(*words(server, *prices, "--budget-usd", cost * 0.75))
        assert stopped.code == 1, stopped
        assert "give the same command with --resume" in stopped.err, stopped.err
        done = cli(*words(server, *prices, "--budget-usd", cost * 2, "--resume"))
        assert done.code == 0, done.err
        assert server.requests == 2 * asked
    assert json.loads(done.out)["kept"] >= 4
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert (tmp_path / "found.set-aside.jsonl").read_bytes() == (tmp_path / "whole.set-aside.jsonl").read_bytes()


@pytest.mark.long
def test_killed_at_any_call_it_ends_with_the_same_bytes_and_pays_again_only_what_was_in_flight(words, tmp_path):
    count, in_flight = 40, 4
    source = write_texts(tmp_path / "many.jsonl", count)
    with LLMServer(ListingModel(wrong=["nurse"]), latency_s=0.005) as server:

        def command(name):
            given = words(server, "--yes", "--unpriced", "--json", "--resume", "--verify", "1", "--concurrency", in_flight, name=name)
            return [sys.executable, "-m", "piiloom", *map(str, (given[0], source, *given[2:]))]

        assert Forked(command("whole.jsonl")).wait() == 0
        asked = server.requests
        (tmp_path / "s.duckdb").unlink()
        kills = 0
        for share in (0.1, 0.5, 0.8):
            with Forked(command("found.jsonl")) as process:
                while server.requests - asked < share * asked and process.poll() is None:
                    time.sleep(0.002)
                kills += process.poll() is None
                process.kill()
        assert kills
        out, err = Forked(command("found.jsonl")).communicate()
        # A text has five spans, all of which can be in flight, and a commit of replies takes a moment.
        assert server.requests - asked <= asked + kills * 2 * 5 * in_flight
    assert json.loads(out)["documents"] == count, err
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
