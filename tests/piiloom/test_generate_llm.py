"""``piiloom generate`` through the real SDKs against a loopback server: cost, going on, and no key anywhere."""

from __future__ import annotations

import json

import pytest

from tests.fakes import llm_formats
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.longer import mostly_long

KEY = "sk-LOOPBACK-0123456789-front-door"
FEW = ("--recipe", "staged", "--pairs", "health+occupation", "--topics-per-pair", 2, "--subtopics-per-topic", 4)


@pytest.mark.parametrize(
    ("provider", "model"),
    mostly_long([("openai", "gpt-6-luna"), ("anthropic", "claude-haiku-5-5"), ("compatible", "tiny")], quick={("openai", "gpt-6-luna")}),
)
def test_a_run_on_a_paid_provider(cli, store_path, monkeypatch, provider, model):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PIILOOM_COMPATIBLE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    with LLMServer(Author(7)) as server:
        url = server.anthropic_url if provider == "anthropic" else server.openai_url
        words = ("generate", "--provider", provider, "--model", model, "--base-url", url, "--samples", 3, *FEW, "--store", store_path)
        first = cli(*words)
        grown = cli("generate", "--resume", "last", "--samples", 4, "--json", "--store", store_path)
    assert first.code == 0, first.err
    assert ("calls of unknown price" in first.out) == (provider == "compatible")
    result = json.loads(grown.out)
    assert (result["accepted"], result["unpriced_calls"] == 0, result["cost_usd"] > 0) == (
        4,
        provider != "compatible",
        provider != "compatible",
    )
    assert KEY not in first.out + first.err + grown.out + grown.err
    assert KEY.encode() not in store_path.read_bytes()


def test_a_server_without_that_api_ends_the_run_in_one_line(cli, store_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with LLMServer(Author(7)) as server:
        url = server.openai_url.replace("/v1", "/elsewhere")
        outcome = cli("generate", "--provider", "openai", "--base-url", url, "--quiet", "--samples", 3, *FEW, "--store", store_path)
    assert outcome.code == 1
    assert KEY not in outcome.error_line()


@pytest.mark.long
@pytest.mark.parametrize(("manner", "wanted"), [(llm_formats.silent_llama, "json_object"), (llm_formats.ollama, "json_schema")])
def test_a_run_asks_once_what_its_server_takes(cli, store_path, manner, wanted):
    with LLMServer(Author(7), chat_manner=manner) as server:
        words = ("generate", "--provider", "compatible", "--model", "tiny", "--base-url", server.openai_url, *FEW, "--store", store_path)
        estimated = cli(*words, "--samples", 2, "--estimate")
        assert (estimated.code, server.probes) == (0, [])
        first = cli(*words, "--samples", 2)
        assert first.code == 0, first.err
        probes = len(server.probes)
        more = cli("generate", "--resume", "last", "--samples", 3, "--store", store_path)
        assert more.code == 0, more.err
        assert 0 < probes == len(server.probes)
        sent = [body["response_format"]["type"] for body in server.bodies]
        assert set(server.outcomes) == {"ok"}
    assert set(sent) == {wanted}


@pytest.mark.long
def test_a_response_format_can_be_set_and_changed_while_a_run_goes_on(cli, store_path):
    with LLMServer(Author(7), chat_manner=llm_formats.vllm) as server:
        words = ("generate", "--provider", "compatible", "--model", "tiny", "--base-url", server.openai_url, *FEW, "--store", store_path)
        first = cli(*words, "--samples", 2, "--response-format", "json_object")
        once = len(server.bodies)
        again = cli("generate", "--resume", "last", "--samples", 3, "--response-format", "text", "--store", store_path)
        sent = [body.get("response_format", {}).get("type") for body in server.bodies]
        asked = [json.dumps(body["messages"][1:]) for body in server.bodies]
        assert not server.probes
    assert (first.code, again.code) == (0, 0)
    assert (set(sent[:once]), set(sent[once:])) == ({"json_object"}, {None})
    assert not set(asked[:once]) & set(asked[once:])  # what is paid is not asked again in another format


def test_only_compatible_servers_are_told_a_response_format(cli, store_path):
    outcome = cli("generate", "--samples", 2, "--response-format", "text", "--store", store_path)
    assert outcome.code == 2
    assert "only the provider compatible takes a response format" in outcome.error_line()
