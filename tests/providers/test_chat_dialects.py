"""Stepping down to what a compatible server understands."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest

from piiloom.providers.compatible_api import Dialect
from piiloom.providers.errors import InvalidRequest, ProviderUnavailable
from tests.fakes.llm_server import LLMServer
from tests.longer import case_by_case
from tests.providers.provider_calls import DATA, complete, loopback, make_call, mocked


@pytest.mark.parametrize(
    ("formats", "kind", "requests"),
    [({"json_schema", "json_object"}, "json_schema", 1), ({"json_object"}, "json_object", 2), (set(), "plain", 4)],
)
def test_it_finds_the_best_format_the_server_takes_and_remembers(formats, kind, requests):
    async def work(server: LLMServer):
        provider = loopback("compatible", server)
        try:
            first = await provider.complete(make_call())
            paid = server.requests
            second = await provider.complete(make_call())
            return first, second, paid, server.requests, provider.dialect
        finally:
            await provider.aclose()

    with LLMServer(lambda _: DATA, chat_formats=frozenset(formats)) as server:
        first, second, paid, total, dialect = asyncio.run(work(server))
        kinds = [body.get("response_format", {}).get("type", "plain") for body in server.bodies]
    assert first.data == second.data == DATA
    assert paid == requests
    assert total == requests + 1
    assert dialect.reply_format == kind
    assert kinds[-1] == kind


def test_concurrent_calls_step_down_together():
    async def work(server: LLMServer):
        provider = loopback("compatible", server)
        try:
            return await asyncio.gather(*(provider.complete(make_call(user=f"{i}")) for i in range(12)))
        finally:
            await provider.aclose()

    with LLMServer(lambda request: {"sentence": request.user}, chat_formats=frozenset()) as server:
        completions = asyncio.run(work(server))
    assert [completion.data["sentence"] for completion in completions] == [str(i) for i in range(12)]


def test_a_server_of_many_dislikes_is_understood():
    dislikes = [
        ("max_tokens", 400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        ("seed", 422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted: 'seed'"}]}),
        ("response_format", 422, {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}),
    ]
    sent = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        sent.append(body)
        for field, status, said in dislikes:
            if field in body:
                return httpx2.Response(status, json=said if isinstance(said, dict) else {"error": {"message": said}})
        message = {"role": "assistant", "content": json.dumps(DATA)}
        return httpx2.Response(200, json={"object": "chat.completion", "model": "m", "choices": [{"message": message}]})

    completion = complete(mocked("compatible", handler), make_call(seed=4))
    assert completion.data == DATA
    assert len(sent) == 6
    assert "JSON schema (situation)" in sent[-1]["messages"][0]["content"]


def test_a_refusal_for_another_reason_stands():
    def handler(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(400, json={"error": {"message": "This model's maximum context length is 2048 tokens"}})

    with pytest.raises(InvalidRequest, match="maximum context length"):
        complete(mocked("compatible", handler))


@case_by_case("status", [401, 403, 408, 429, 503, 529])
def test_some_statuses_never_speak_of_dialects(status):
    assert Dialect().after_refusal(status, "response_format is not supported") is None


@pytest.mark.parametrize("status", [404, 500, 501])
def test_some_statuses_speak_of_formats_only_where_they_name_them(status):
    assert Dialect().after_refusal(status, "seed is not supported") is None
    assert Dialect().after_refusal(status, "json_schema is not supported") == Dialect(reply_format="json_object")


def test_plain_is_the_last_format():
    assert Dialect(reply_format="plain").after_refusal(400, "response_format is not supported") is None


def test_a_prompt_without_system_message_gets_one_for_the_instruction():
    call = make_call()
    body = Dialect(reply_format="plain").request(call, list(call.render())[1:], model="m", limit=9)
    assert [turn["role"] for turn in body["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("status", "body", "known"), [(404, {}, None), (200, {"data": []}, None), (200, {"data": [{"id": "other"}]}, False)]
)
def test_ping_is_content_with_a_server_that_lists_no_models(status, body, known):
    async def work():
        provider = mocked("compatible", lambda _: httpx2.Response(status, json=body))
        try:
            return (await provider.ping()).model_known
        finally:
            await provider.aclose()

    assert asyncio.run(work()) is known


def test_ping_tells_of_a_failing_server():
    async def work():
        provider = mocked("compatible", lambda _: httpx2.Response(500, json={}))
        try:
            await provider.ping()
        finally:
            await provider.aclose()

    with pytest.raises(ProviderUnavailable, match="500"):
        asyncio.run(work())
