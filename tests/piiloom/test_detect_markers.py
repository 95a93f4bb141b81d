"""``piiloom detect --detector markers`` over real HTTP: files, examples, rejects, kills, and what is gone on with."""

from __future__ import annotations

import json
import sys
import time

import pytest

from piiloom.corpus.markers import PRIVACYAI
from piiloom.detection.running import running as session
from tests.detection.marking_model import MarkingModel
from tests.detection.training_rows import row, write_jsonl
from tests.fakes.llm_server import LLMServer
from tests.forked import Forked
from tests.providers.provider_calls import MODELS

COUNT = 12
BOB = [{"start": 0, "end": 3, "text": "Bob", "type": "name", "relevance": "low"}]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(session, "_MODEL_DOCUMENTS", 4)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")


def text_of(number):
    return f"Anna {number}: a nurse in Łódź, with asthma. Her asthma is {number}."


def write_texts(path, count=COUNT):
    return write_jsonl(path, ({"id": f"d{n}", "text": text_of(n), "locale": "en_US", "question": "Can I?"} for n in range(count)))


@pytest.fixture
def words(tmp_path):
    """The command over a server, but for what is told about sending and money."""
    texts = write_texts(tmp_path / "in.jsonl")

    def make(server, *more, name="found.jsonl", source=texts):
        asked = ("--detector", "markers", "--provider", "openai", "--model", MODELS["openai"], "--base-url", server.openai_url)
        return ("detect", source, "--out", tmp_path / name, "--replies", tmp_path / "s.duckdb", *asked, *more)

    return make


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_mentions_with_relevance_and_one_document_that_failed(cli, words, tmp_path):
    def spoilt(_, text, reply):
        return "I can't." if "Anna 5" in text else reply.replace("</occupation>", "").replace("<location", "<loaction")

    with LLMServer(MarkingModel(spoilt)) as server:
        outcome = cli(*words(server, "--yes", "--unpriced", "--json"))
        asked = server.requests
        assert cli(*words(server, "--yes", "--unpriced", name="again.jsonl")).code == 0
        assert server.requests == asked == COUNT + 2  # three tries for the one; the store has all replies
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert (told["documents"], told["failed"], told["spans"]) == (COUNT - 1, 1, 4 * (COUNT - 1))
    assert told["set_aside"] == {"misspelt_marker": COUNT - 1, "unclosed": COUNT - 1}
    spans = rows(tmp_path / "found.jsonl")[0]["spans"]
    assert [(span["text"], span["type"], span["relevance"], span["score"], span["detector"]) for span in spans] == [
        ("Anna", "name", "low", 0.75, "markers"),
        ("Łódź", "location", "high", 0.6, "markers"),
        ("asthma", "health", "high", 0.75, "markers"),
        ("asthma", "health", "high", 0.75, "markers"),
    ]
    (rejected,) = rows(tmp_path / "found.detect-rejects.jsonl")
    assert rejected["reason"].startswith("no usable answer came (not_the_text, attempts: 3)")
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()


def test_signs_are_asked_for_and_read(cli, words, tmp_path):
    texts = [f"Anna {n} (@Anna), a nurse. ###" for n in range(3)]
    source = write_jsonl(tmp_path / "in2.jsonl", [{"id": f"d{n}", "text": text, "locale": "en_US"} for n, text in enumerate(texts)])
    examples = write_jsonl(tmp_path / "train.jsonl", [row(number) | {"context": f"Bob {number}", "spans": BOB} for number in range(6)])
    asked = ("--yes", "--unpriced", "--json", "--markers", "privacyai", "--examples", examples, "--shots", 1)
    with LLMServer(MarkingModel(markers=PRIVACYAI)) as server:
        outcome = cli(*words(server, *asked, source=source))
        shown = [message["content"] for message in server.bodies[0]["input"]]
    assert outcome.code == 0, outcome.err
    assert shown[:2] == [f"Text:\nBob {shown[1][-1]}", f"@@@Bob### {shown[1][-1]}"]
    for text, found in zip(texts, rows(tmp_path / "found.jsonl"), strict=True):
        assert [(one["start"], one["text"], one["type"]) for one in found["spans"]] == [
            (0, "Anna", "name"),
            (text.index("@") + 1, "Anna", "name"),
        ]
    refused = cli(*words(server, "--detector", "capid", "--markers", "privacyai"))
    assert (refused.code, "--detector markers" in refused.err) == (2, True)


def test_examples_are_never_of_the_documents_own_group(cli, words, tmp_path):
    records = [row(number, group=f"story {number // 2}") for number in range(6)]
    examples = write_jsonl(tmp_path / "train.jsonl", records)
    own = {one["context"]: {other["context"] for other in records if other["meta"] == one["meta"]} for one in records}
    sister = row(40, group="story 0")  # its text is not among the examples, but its group is
    own[sister["context"]] = {records[0]["context"], records[1]["context"]}
    source = write_jsonl(tmp_path / "test.jsonl", [*records, sister])
    seen = {}

    def watching(request, text, reply):
        seen[text] = {one["context"] for one in records if f"Text:\n{one['context']}\n\n" in request.user}
        return reply

    with LLMServer(MarkingModel(watching)) as server:
        outcome = cli(*words(server, "--yes", "--unpriced", "--examples", examples, "--shots", 2, source=source))
    assert outcome.code == 0, outcome.err
    assert {text: len(shown) for text, shown in seen.items()} == dict.fromkeys(own, 2)
    assert not any(shown & own[text] for text, shown in seen.items())


def test_examples_that_are_none_are_named(cli, words, tmp_path):
    bad = write_jsonl(tmp_path / "bad.jsonl", [{"context": "a", "spans": [{"start": 0, "end": 7, "text": "x", "type": "name"}]}])
    with LLMServer(MarkingModel()) as server:
        outcome = cli(*words(server, "--yes", "--unpriced", "--examples", bad))
        assert (outcome.code, server.requests) == (1, 0)
    assert "bad.jsonl:1" in outcome.err
    outcome = cli("detect", tmp_path / "in.jsonl", "--detector", "markers", "--out", tmp_path / "found.jsonl")
    assert outcome.code == 2
    assert "--provider" in outcome.err


@pytest.mark.long
def test_killed_at_any_call_it_ends_with_the_same_bytes_and_pays_again_only_what_was_in_flight(words, tmp_path):
    count, in_flight = 60, 4
    source = write_texts(tmp_path / "many.jsonl", count)
    records = [row(number, group=f"story {number // 2}") for number in range(6)]
    examples = write_jsonl(tmp_path / "train.jsonl", records)
    with LLMServer(MarkingModel(), latency_s=0.005) as server:

        def command(name):
            more = ("--yes", "--unpriced", "--json", "--resume", "--examples", examples, "--concurrency", in_flight)
            return [sys.executable, "-m", "piiloom", *map(str, words(server, *more, name=name, source=source))]

        assert Forked(command("whole.jsonl")).wait() == 0
        assert server.requests == count
        (tmp_path / "s.duckdb").unlink()
        kills = 0
        for share in (0.1, 0.5, 0.8):
            with Forked(command("found.jsonl")) as process:
                while server.requests - count < share * count and process.poll() is None:
                    time.sleep(0.002)
                kills += process.poll() is None
                process.kill()
        assert kills
        out, err = Forked(command("found.jsonl")).communicate()
        # A commit of replies takes a moment, in which as many more can be under way.
        assert server.requests - count <= count + kills * 2 * in_flight
    assert json.loads(out)["documents"] == count, err
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
