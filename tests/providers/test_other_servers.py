"""Servers as users meet them: each row is one, as its documentation or a public report describes it, and what comes of a call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import httpx2
import pytest

from piiloom.execution.call_channel import CallChannel
from piiloom.execution.calls import FailureLimit, ask_model
from piiloom.foundation.errors import ProviderError, UsageError
from piiloom.providers.errors import (
    BudgetExceeded,
    InvalidReply,
    InvalidRequest,
    NotServed,
    ProviderUnavailable,
    RateLimited,
    ServerPaused,
    Truncated,
)
from piiloom.providers.factory import make_provider
from tests.execution.paid_channel import new_run, on_channel, open_store
from tests.providers.provider_calls import DATA, complete, make_call, mocked

TEXT = json.dumps(DATA)


def reply(message: Mapping[str, Any] | None = None, *, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"message": message or {"content": TEXT}, "finish_reason": finish}], **more}


def body(content: Any, status: int = 200, **headers: str) -> Callable[[Mapping[str, Any]], httpx2.Response]:
    """A server that always answers this: an object as JSON, a text as it is."""
    if isinstance(content, str):
        return lambda _: httpx2.Response(status, text=content, headers=headers)
    return lambda _: httpx2.Response(status, json=content, headers=headers)


def unless(refused: Callable[[Mapping[str, Any]], bool], message: str, status: int = 400) -> Callable[[Mapping[str, Any]], httpx2.Response]:
    """A server that answers what is not *refused*."""
    error = httpx2.Response(status, json={"error": {"message": message}})
    return lambda sent: error if refused(sent) else httpx2.Response(200, json=reply())


def events(*chunks: Any) -> str:
    return "".join(f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n" for chunk in chunks)


def delta(content: Any = None, finish: str | None = None) -> dict[str, Any]:
    return {"model": "m", "choices": [{"delta": {"content": content}, "finish_reason": finish}]}


class Server(NamedTuple):
    """A server, and the error that a call ends with, or None if it is answered; *said* is part of the error's text."""

    name: str
    source: str
    answer: Callable[[Mapping[str, Any]], httpx2.Response]
    error: type[ProviderError] | None = None
    said: str = ""


_OPENROUTER, _GROQ = "openrouter.ai/docs: errors", "console.groq.com/docs: structured outputs"
SERVERS = (
    Server("upstream failed", _OPENROUTER, body({"error": {"code": 502, "message": "Provider returned error"}}), ProviderUnavailable),
    Server("rate limit in a 200", _OPENROUTER, body({"error": {"code": 429, "message": "Rate limited"}, "choices": None}), RateLimited),
    Server("no credit in a 200", _OPENROUTER, body({"error": {"code": 402, "message": "Insufficient credits"}}), BudgetExceeded, "credit"),
    Server("error in the choice", _OPENROUTER, body({"choices": [{"error": {"code": 503, "message": "busy"}}]}), ProviderUnavailable),
    Server("code as a text", "LiteLLM", body({"error": {"code": "429", "message": "slow down"}}), RateLimited),
    Server("kind without a code", "one-api", body({"error": {"type": "rate_limit_error", "message": "slow"}}), RateLimited),
    Server("error without a kind", "new-api", body({"error": {"message": "upstream error"}}), ProviderUnavailable),
    Server("broken off", _OPENROUTER, body(reply({"content": "{"}, finish="error")), ProviderUnavailable, "broke off"),
    Server("wrong path with a 200", "LM Studio", body({"error": "Unexpected endpoint"}), InvalidRequest, "Check the base URL"),
    Server(
        "free quota of a day",
        _OPENROUTER,
        body({"error": {"code": 429, "message": "Rate limit exceeded: free-models-per-day"}}, 429),
        ServerPaused,
        "free-models-per-day",
    ),
    Server("budget of a key", "docs.litellm.ai: budgets", body({"error": {"message": "Budget has been exceeded!"}}, 400), BudgetExceeded),
    Server(
        "unknown model as a 400",
        "LiteLLM proxy",
        body({"error": {"message": "Invalid model name passed in model=local-model"}}, 400),
        NotServed,
        "--model",
    ),
    Server(
        "refused temperature",
        "OpenAI's reasoning models behind gateways",
        body({"error": {"message": "Unsupported value: 'temperature' does not support 0.7 with this model."}}, 400),
        NotServed,
        "Leave temperature out",
    ),
    Server(
        "invalid JSON as a 400",
        _GROQ,
        body({"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed", "failed_generation": "{no"}}, 400),
        InvalidReply,
    ),
    Server(
        "JSON that did not get ready",
        _GROQ,
        body({"error": {"message": "max completion tokens reached before a valid document", "code": "json_validate_failed"}}, 400),
        Truncated,
    ),
    Server("thought without an opening", "vLLM, SGLang", body(reply({"content": f"Hm.\n</think>\n{TEXT}"}))),
    Server("thinking", "Qwen templates", body(reply({"content": f"<thinking>Hm.</thinking>{TEXT}"}))),
    Server(
        "nothing but a thought", "vLLM", body(reply({"content": "", "reasoning_content": "Hm."})), InvalidReply, "thoughts but no answer"
    ),
    Server("answer taken for a thought", "vLLM #18066", body(reply({"content": None, "reasoning_content": TEXT}))),
    Server("cut in a thought", "llama.cpp", body(reply({"content": "<think>Hm"}, finish="length")), Truncated),
    Server(
        "parts",
        "docs.mistral.ai: reasoning",
        body(reply({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": TEXT}]})),
    ),
    Server("tool call", "Fireworks", body(reply({"content": None, "tool_calls": [{"function": {"name": "f", "arguments": TEXT}}]}))),
    Server("tool call with an object", "Ollama", body(reply({"content": "", "tool_calls": [{"function": {"arguments": DATA}}]}))),
    Server("stream", "Open WebUI", body(events(delta(TEXT[:9]), delta(TEXT[9:]), delta(finish="stop"), "[DONE]"))),
    Server("stream with comments", _OPENROUTER, body(": OPENROUTER PROCESSING\n\n" + events(delta(TEXT, "stop"), "[DONE]"))),
    Server("stream that ends early", "nginx", body(events(delta(TEXT[:9]))), ProviderUnavailable),
    Server("error in a stream", _OPENROUTER, body(events(delta("{"), {"error": {"code": 502, "message": "gone"}})), ProviderUnavailable),
    Server("blank lines before JSON as text", "Cloudflare", body("\n\n\n" + json.dumps(reply()))),
    Server("prose around JSON", "small models", body(reply({"content": f"Sure! Here it is: {TEXT} Anything else?"}))),
    Server("two objects", "small models", body(reply({"content": f'{{"plan": "a sentence"}}\n{TEXT}'}))),
    Server(
        "no system role",
        "Gemma's chat template",
        unless(lambda sent: sent["messages"][0]["role"] == "system", "System role not supported"),
    ),
    Server(
        "no system role, as a 500",
        "llama-cpp-python",
        unless(lambda sent: len(sent["messages"]) > 1, "Conversation roles must alternate user/assistant/user/assistant/...", 500),
    ),
    Server(
        "small context",
        "vLLM",
        unless(
            lambda sent: sent["max_tokens"] > 2048, "'max_tokens' is too large: 4396. This model's maximum context length is 4096 tokens"
        ),
    ),
)


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_what_comes_of_a_call(server):
    provider = mocked("compatible", lambda request: server.answer(json.loads(request.content)))
    if server.error is None:
        assert complete(provider).data == DATA
        return
    with pytest.raises(ProviderError) as caught:
        complete(provider)
    assert type(caught.value) is server.error, caught.value
    assert server.said in str(caught.value)


def test_the_system_text_begins_the_user_message_where_there_is_no_system_role():
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content)["messages"])
        return body({"error": {"message": "System role not supported"}}, 400)({}) if len(seen[-1]) > 1 else body(reply())({})

    complete(mocked("compatible", answer))
    system, user = make_call().render()
    assert seen[-1] == [{"role": "user", "content": f"{system.content}\n\n{user.content}"}]


@pytest.mark.parametrize(
    ("url", "sent", "key"),
    [
        (
            "https://x.openai.azure.test/openai/deployments/d?api-version=2024-10-21",
            "/openai/deployments/d/chat/completions?api-version=2024-10-21",
            "api-key",
        ),
        ("http://llm.test/v1/?tenant=a%20b", "/v1/chat/completions?tenant=a+b", "authorization"),
    ],
)
def test_the_query_of_a_base_url_goes_with_every_request(url, sent, key, monkeypatch):
    monkeypatch.setenv("PIILOOM_COMPATIBLE_API_KEY", "k-0123456789")
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return body(reply())({})

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    complete(make_provider("compatible", model="m", base_url=url, http_client=client))
    (request,) = seen
    assert request.url.raw_path.decode() == sent
    assert [name for name in ("api-key", "authorization") if name in request.headers] == [key]


@pytest.mark.parametrize(
    ("name", "url", "meant"),
    [
        ("compatible", "https://openrouter.ai/api/v1/chat/completions", "https://openrouter.ai/api/v1"),
        ("compatible", "https://u:p@x.test/v1/chat/completions/?key=s", "https://x.test/v1"),
        ("anthropic", "https://api.anthropic.com/v1/messages", "https://api.anthropic.com"),
    ],
)
def test_the_address_of_a_path_suggests_its_base(name, url, meant):
    with pytest.raises(UsageError, match="which is added to it") as caught:
        make_provider(name, model="m", base_url=url)
    assert caught.value.remedy == f"Did you mean {meant}?"


class Thinker:
    """A server whose model thinks for 6,000 tokens before it answers."""

    def __init__(self) -> None:
        self.limits: list[int] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.limits.append(json.loads(request.content)["max_tokens"])
        if self.limits[-1] < 6000:
            return body(reply({"content": "", "reasoning_content": "Hm."}, finish="length"))({})
        return body(reply())({})


@pytest.mark.parametrize(
    ("output_tokens", "limits", "code"), [(None, [4396, 12588], None), (7000, [7000], None), (5000, [5000], "truncated")]
)
def test_a_model_that_thinks_has_room_and_once_gets_more(output_tokens, limits, code):
    server = Thinker()
    provider = mocked("compatible", server, output_tokens=output_tokens)

    async def work(channel: CallChannel) -> Any:
        async def judged(data: Any, _: int) -> Any:
            return data

        limit = FailureLimit(channel.calls, 1)
        return await ask_model(channel.calls, lambda _, __: make_call(), judged, attempts=1, failure_limit=limit)

    with open_store() as store:
        found = on_channel(store, new_run(store), provider, work)
    assert server.limits == limits
    if code is None:
        assert found == (DATA, 0)
    else:
        assert found.code == code
        assert "cut while the model thought (length); --max-output-tokens sets its limit" in found.message
