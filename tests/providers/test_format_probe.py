"""What a compatible server takes is found before a run, whatever way it has of saying so."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from piiloom.providers import compatible_api
from piiloom.providers.compatible_api import CompatibleProvider
from piiloom.providers.errors import InvalidReply, InvalidRequest, ProviderUnavailable
from piiloom.providers.format_probe import FormatReport, probe_formats
from piiloom.providers.protocol import Completion
from tests.fakes import llm_formats
from tests.fakes.llm_server import Fault, LLMServer
from tests.providers.provider_calls import DATA, complete, loopback, make_call

SERVERS = [
    (llm_formats.vllm, "json_schema", "json_schema yes"),
    (llm_formats.ollama, "json_schema", "json_schema yes"),
    (llm_formats.lm_studio, "json_schema", "json_schema yes"),
    (llm_formats.llama_cpp, "json_object", "json_schema refused (500); json_object with a schema yes"),
    (llm_formats.silent_llama, "json_object", "json_schema refused (500); json_object with a schema yes"),
    (llm_formats.not_implemented, "json_object", "json_schema refused (501); json_object with a schema yes"),
    (llm_formats.strict_objects, "json_object_bare", "json_schema refused (422); json_object yes"),
    (llm_formats.text_gateway, "plain", "json_schema refused (404); json_object with a schema refused (404); text yes"),
    (llm_formats.careless, "json_object", "json_schema accepted but not kept to; json_object with a schema yes"),
]


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch):
    monkeypatch.setattr(compatible_api, "_FOUND", {})


async def probed(server: LLMServer, *, every: bool = False) -> tuple[FormatReport, Completion, CompatibleProvider]:
    provider = loopback("compatible", server)
    assert isinstance(provider, CompatibleProvider)
    try:
        report = await probe_formats(provider, every=every)
        return report, await provider.complete(make_call()), provider
    finally:
        await provider.aclose()


@pytest.mark.parametrize(("manner", "kind", "said"), SERVERS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_best_format_that_a_server_keeps_to_is_found_and_used(manner, kind, said):
    with LLMServer(lambda _: DATA, chat_manner=manner) as server:
        report, completion, provider = asyncio.run(probed(server))
        again = loopback("compatible", server)
        sent = server.bodies
    assert completion.data == DATA
    assert provider.dialect.reply_format == again.dialect.reply_format == kind
    assert str(report).startswith(said)
    assert len(sent) == 1  # the run itself asks nothing twice


def test_llama_cpp_is_given_the_schema_beside_json_object():
    with LLMServer(lambda _: DATA, chat_manner=llm_formats.llama_cpp) as server:
        asyncio.run(probed(server))
        (body,) = server.bodies
    assert body["response_format"]["type"] == "json_object"
    assert body["response_format"]["schema"]["properties"].keys() == {"sentence", "count"}


def test_llama_cpp_is_understood_without_a_probe_too():
    with LLMServer(lambda _: DATA, chat_manner=llm_formats.llama_cpp) as server:
        provider = loopback("compatible", server)
        assert complete(provider).data == DATA
        assert provider.dialect.reply_format == "json_object"


def test_a_probe_of_every_format_says_all():
    with LLMServer(lambda _: DATA, chat_manner=llm_formats.lm_studio) as server:
        report, _, _ = asyncio.run(probed(server, every=True))
    assert str(report) == "json_schema yes; json_object with a schema refused (400); text yes: --response-format auto takes json_schema"


@pytest.mark.parametrize("failing", [{1}, {1, 2}, {1, 2, 3}])
def test_a_server_that_stumbles_is_not_taken_for_one_that_refuses(failing):
    with LLMServer(lambda _: DATA, chat_manner=llm_formats.vllm, probe_fault=lambda number: number in failing) as server:
        report, _, provider = asyncio.run(probed(server))
    assert provider.dialect.reply_format == "json_schema"
    assert report.chosen is not None
    assert report.chosen.kind == "json_schema"


@pytest.mark.long
def test_a_server_that_is_down_is_not_judged():
    async def work(server: LLMServer) -> tuple[FormatReport, str]:
        provider = loopback("compatible", server)
        try:
            return await probe_formats(provider), provider.dialect.reply_format
        finally:
            await provider.aclose()

    with LLMServer(lambda _: DATA, chat_manner=llm_formats.vllm, probe_fault=lambda _: True) as server:
        report, kind = asyncio.run(work(server))
        known = loopback("compatible", server).probed
    assert (report.chosen, kind, known) == (None, "json_schema", False)
    assert str(report).endswith("could not be determined")


def test_a_server_that_cannot_be_reached_is_not_judged():
    server = LLMServer(lambda _: DATA)
    with server:
        provider = loopback("compatible", server)

    async def work() -> FormatReport:
        try:
            return await probe_formats(provider)
        finally:
            await provider.aclose()

    report = asyncio.run(work())
    assert report.chosen is None
    assert len(report.findings) == 1


def test_an_error_of_the_run_that_names_no_format_stays_an_error():
    with LLMServer(lambda _: DATA, schedule=lambda _: Fault(kind="server_error")) as server:
        provider = loopback("compatible", server)
        with pytest.raises(ProviderUnavailable, match="500"):
            complete(provider)
        assert server.requests == 1
    assert provider.dialect.reply_format == "json_schema"


def test_a_500_that_names_the_format_but_stays_is_the_servers_own():
    def broken(wanted):
        raise llm_formats.BadCall(500, "server_error", "json_schema worker crashed")

    with LLMServer(lambda _: DATA, chat_manner=broken) as server:
        provider = loopback("compatible", server)
        with pytest.raises(ProviderUnavailable, match="500"):
            complete(provider)
    assert provider.dialect.reply_format == "json_schema"


@pytest.mark.parametrize(
    ("choice", "wire"), [("json_schema", {"json_schema"}), ("json_object", {"json_object"}), ("text", {None})], ids=str
)
def test_a_format_that_is_set_is_kept_to(choice, wire):
    with LLMServer(lambda _: DATA, chat_manner=llm_formats.vllm) as server:
        assert complete(loopback("compatible", server, response_format=choice)).data == DATA
        kinds = Counter(body.get("response_format", {}).get("type") for body in server.bodies)
    assert set(kinds) == wire
    assert not server.probes


def test_a_format_that_is_set_and_refused_is_an_error():
    with LLMServer(lambda _: DATA, chat_manner=llm_formats.lm_studio) as server:
        provider = loopback("compatible", server, response_format="json_object")
        with pytest.raises(InvalidRequest, match=r"response_format\.type"):
            complete(provider)


def test_a_format_that_is_set_and_ignored_shows_in_the_reply():
    with LLMServer(lambda _: DATA, chat_manner=llm_formats.careless) as server, pytest.raises(InvalidReply):
        complete(loopback("compatible", server, response_format="json_schema"))
