"""Every fault a server or a network can have, through both SDKs and real sockets."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from piiloom.providers.errors import (
    AuthFailed,
    BudgetExceeded,
    InvalidReply,
    InvalidRequest,
    ProviderUnavailable,
    RateLimited,
    Refused,
    ReplyRejected,
    Truncated,
)
from piiloom.providers.factory import make_provider
from tests.fakes.llm_server import FAULT_KINDS, LOST, Fault, FaultKind, LLMServer, seeded_faults
from tests.longer import mostly_long
from tests.providers.provider_calls import DATA, KEY, MODELS, NAMES, PROMPT, complete, loopback, make_call

each_provider = pytest.mark.parametrize("name", NAMES)


def always(kind: FaultKind, **options: float):
    return lambda _: Fault(kind=kind, **options)


def first(kind: FaultKind, **options: float):
    return lambda ordinal: Fault(kind=kind, **options) if ordinal == 0 else None


@each_provider
def test_a_reply_comes_back_parsed_with_usage_and_cost(name):
    with LLMServer(lambda _: DATA) as server:
        completion = complete(loopback(name, server))
    assert completion.data == DATA
    assert json.loads(completion.text) == DATA
    assert completion.model == MODELS[name]
    assert completion.usage.input > completion.usage.cached == 4
    assert completion.usage.output > 0
    assert completion.latency_s > 0
    assert (completion.cost_usd is None) == (name == "compatible")
    assert completion.retries == 0


@each_provider
def test_the_server_sees_prompt_schema_and_no_sampling_parameter(name):
    seen = []
    with LLMServer(lambda request: seen.append(request) or DATA) as server:
        complete(loopback(name, server))
        body = server.bodies[0]
    assert seen[0].user == PROMPT
    assert seen[0].system == "You write one sentence."
    assert seen[0].schema_name == "situation"
    assert seen[0].schema["properties"]["sentence"]["type"] == "string"
    assert not {"temperature", "top_p", "top_k", "stream"} & set(body)


@each_provider
@pytest.mark.parametrize(
    "kind", mostly_long(["rate_limit", "server_error", "overloaded", "cut", "bad_json_body", "timeout"], quick={"rate_limit", "cut"})
)
def test_a_call_after_a_passing_fault_is_answered(name, kind):
    async def work(server: LLMServer):
        provider = loopback(name, server, timeout_s=1.5 if kind == "timeout" else 30.0)  # a busy machine answers late
        try:
            with pytest.raises((RateLimited, ProviderUnavailable)):
                await provider.complete(make_call())
            return await provider.complete(make_call())
        finally:
            await provider.aclose()

    with LLMServer(lambda _: DATA, first(kind)) as server:
        completion = asyncio.run(work(server))
        assert server.requests == 2
    assert completion.data == DATA
    assert completion.retries == 0


@each_provider
@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("rate_limit", RateLimited),
        ("server_error", ProviderUnavailable),
        ("overloaded", ProviderUnavailable),
        ("cut", ProviderUnavailable),
        ("bad_json_body", ProviderUnavailable),
        ("quota", BudgetExceeded),
        ("refusal", Refused),
        ("truncation", Truncated),
        ("bad_json_reply", InvalidReply),
    ],
)
def test_every_fault_is_an_error_of_its_own_after_one_request(name, kind, error):
    with LLMServer(lambda _: DATA, always(kind)) as server:
        with pytest.raises(error) as caught:
            complete(loopback(name, server))
        assert server.requests == 1
    assert name in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@each_provider
@pytest.mark.parametrize("kind", ["refusal", "truncation", "bad_json_reply"])
def test_an_unusable_reply_is_accounted_for(name, kind):
    with LLMServer(lambda _: DATA, always(kind)) as server, pytest.raises(ReplyRejected) as caught:
        complete(loopback(name, server))
    completion = caught.value.completion
    assert completion.usage.output > 0
    assert completion.data is None
    assert DATA["sentence"] not in str(caught.value)


@each_provider
def test_a_fenced_reply_is_read(name):
    with LLMServer(lambda _: DATA, always("fenced")) as server:
        assert complete(loopback(name, server)).data == DATA


@each_provider
def test_a_time_out_names_the_limit(name):
    with LLMServer(lambda _: DATA, always("timeout")) as server, pytest.raises(ProviderUnavailable, match="time"):
        complete(loopback(name, server, timeout_s=0.1))


@each_provider
def test_a_reply_that_lacks_a_key_names_it(name):
    with LLMServer(lambda _: {"count": 3}) as server, pytest.raises(InvalidReply, match="lacks 'sentence'"):
        complete(loopback(name, server))


@each_provider
def test_retry_after_is_told(name):
    with LLMServer(lambda _: DATA, always("rate_limit", retry_after=0.75)) as server, pytest.raises(RateLimited) as caught:
        complete(loopback(name, server))
    assert caught.value.retry_after == 0.75


@each_provider
def test_nobody_listening_names_the_url_without_credentials(name):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    url = f"http://user:hunter2secret@127.0.0.1:{port}/v1?token=queryvalue"
    with pytest.raises(ProviderUnavailable) as caught:
        complete(make_provider(name, model="m", base_url=url))
    text = str(caught.value)
    assert f"http://127.0.0.1:{port}/v1: " in text
    assert "reached" in text
    assert "hunter2secret" not in text
    assert "queryvalue" not in text
    assert caught.value.remedy


@each_provider
def test_a_refused_key_ends_the_run_without_showing_it(name, monkeypatch):
    monkeypatch.setenv("MY_KEY", "bad-key")
    with LLMServer(lambda _: DATA) as server, pytest.raises(AuthFailed, match="MY_KEY") as caught:
        complete(loopback(name, server, api_key_env="MY_KEY"))
    assert "bad-key" not in str(caught.value)


@each_provider
def test_a_wrong_path_asks_for_the_right_one(name):
    with LLMServer(lambda _: DATA) as server:
        wrong = f"{server.root}/v1" if name == "anthropic" else server.root
        right = server.anthropic_url if name == "anthropic" else server.openai_url
        with pytest.raises(InvalidRequest) as caught:
            complete(make_provider(name, model="m", base_url=wrong))
    assert f"did you mean {right}?" in str(caught.value)


@each_provider
def test_ping_tells_a_known_model_from_an_unknown_one(name):
    async def ping(server: LLMServer):
        provider = loopback(name, server)
        try:
            return await provider.ping()
        finally:
            await provider.aclose()

    with LLMServer(lambda _: DATA, models=(MODELS[name],)) as server:
        found = asyncio.run(ping(server))
        assert server.requests == 0
    assert found.model_known is True
    with LLMServer(lambda _: DATA, models=("another",)) as server:
        if name == "compatible":
            assert asyncio.run(ping(server)).model_known is False
        else:
            with pytest.raises(InvalidRequest, match="no model"):
                asyncio.run(ping(server))


@pytest.mark.long
@each_provider
def test_many_calls_under_mixed_faults_all_end_well_or_in_a_known_error(name):
    rates = {kind: 0.05 for kind in FAULT_KINDS if kind not in {"quota", "timeout"}}

    async def work(server: LLMServer) -> list[object]:
        provider = loopback(name, server)
        calls = (provider.complete(make_call(user=f"item {i}")) for i in range(160))
        try:
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await provider.aclose()

    with LLMServer(lambda request: {"sentence": request.user}, seeded_faults(3, rates)) as server:
        results = asyncio.run(work(server))
        billed, outcomes = server.billed, server.outcomes
    rejected = [result for result in results if isinstance(result, ReplyRejected)]
    answered = [result.data["sentence"] for result in results if not isinstance(result, BaseException)]
    unanswered = [result for result in results if isinstance(result, RateLimited | ProviderUnavailable)]
    assert len(rejected) + len(answered) + len(unanswered) == 160
    assert answered == [f"item {i}" for i, result in enumerate(results) if not isinstance(result, BaseException)]
    assert len(answered) == billed["ok"] + billed["fenced"]
    assert len(rejected) == billed["refusal"] + billed["truncation"] + billed["bad_json_reply"]
    in_doubt = [error for error in unanswered if getattr(error, "maybe_billed", False)]
    assert len(in_doubt) == sum(outcomes[kind] for kind in LOST)
    assert len(outcomes) > 5


@each_provider
def test_a_cancelled_call_leaves_the_provider_usable(name):
    async def work(server: LLMServer):
        provider = loopback(name, server)
        task = asyncio.create_task(provider.complete(make_call()))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        try:
            return await provider.complete(make_call())
        finally:
            await provider.aclose()

    with LLMServer(lambda _: DATA, first("timeout")) as server:
        assert asyncio.run(work(server)).data == DATA


@each_provider
def test_the_key_is_in_no_message_even_when_the_server_repeats_it(name):
    with LLMServer(lambda _: DATA, always("server_error")) as server:
        provider = loopback(name, server, api_key_env="OPENAI_API_KEY")
        with pytest.raises(ProviderUnavailable) as caught:
            complete(provider)
    assert KEY not in repr(provider) + repr(vars(provider)) + repr(caught.value)
