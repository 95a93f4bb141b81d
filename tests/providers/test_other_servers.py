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
    AuthFailed,
    BudgetExceeded,
    InvalidReply,
    InvalidRequest,
    NotServed,
    ProviderUnavailable,
    RateLimited,
    Refused,
    ServerPaused,
    Truncated,
)
from piiloom.providers.factory import make_provider
from piiloom.providers.protocol import TokenUsage
from piiloom.providers.replies import schema_instruction
from tests.execution.paid_channel import new_run, on_channel, open_store
from tests.providers.provider_calls import DATA, complete, make_call, mocked, run

TEXT = json.dumps(DATA)


def reply(message: Mapping[str, Any] | None = None, *, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"message": message or {"content": TEXT}, "finish_reason": finish}], **more}


MESSAGE = {"type": "message", "model": "m", "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"}


def body(content: Any, status: int = 200, **headers: str) -> Callable[[Mapping[str, Any]], httpx2.Response]:
    """A server that always answers this: an object as JSON, a text as it is."""
    if isinstance(content, str):
        return lambda _: httpx2.Response(status, text=content, headers=headers)
    return lambda _: httpx2.Response(status, json=content, headers=headers)


def unless(refused: Callable[[Mapping[str, Any]], bool], message: str, status: int = 400) -> Callable[[Mapping[str, Any]], httpx2.Response]:
    """A server that answers what is not *refused*."""
    error = httpx2.Response(status, json={"error": {"message": message}})
    return lambda sent: error if refused(sent) else httpx2.Response(200, json=reply())


def without_output_config(error: Any, status: int = 400) -> Callable[[Mapping[str, Any]], httpx2.Response]:
    """A server with Anthropic's API of the time before ``output_config``, which answers *error* to it."""
    return lambda sent: body(error, status)({}) if "output_config" in sent else body(MESSAGE)({})


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
    provider: str = "compatible"
    wait_s: float | None = None


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
    Server(
        "no output_config",
        "Bedrock: vectorize-io/hindsight #3300",
        without_output_config(
            {"type": "error", "error": {"type": "invalid_request_error", "message": "output_config.format: Extra inputs are not permitted"}}
        ),
        provider="anthropic",
    ),
    Server(
        "no output_config, as a 422",
        "FastAPI",
        without_output_config({"detail": [{"type": "extra_forbidden", "loc": ["body", "output_config"], "msg": "Extra inputs"}]}, 422),
        provider="anthropic",
    ),
    Server("an unnamed field", "gateways in Go", without_output_config({"error": "json: unknown field"}), provider="anthropic"),
    Server(
        "another unknown field",
        "gateways",
        body({"error": {"message": "system.0.cache_control: Extra inputs are not permitted"}}, 400),
        InvalidRequest,
        "cache_control",
        provider="anthropic",
    ),
)


def wants_stream(refused: Callable[[Mapping[str, Any]], bool], message: str) -> Callable[[Mapping[str, Any]], httpx2.Response]:
    """A server that answers what is not *refused*, as a stream if it is asked for one, and cuts what has no room for 6,000 tokens."""

    def answer(sent: Mapping[str, Any]) -> httpx2.Response:
        if refused(sent):
            return httpx2.Response(400, json={"error": {"message": message, "code": "invalid_parameter_error"}})
        finish = "stop" if sent["max_tokens"] > 4096 else "length"
        if not sent.get("stream"):
            return body(reply(finish=finish))(sent)
        usage = {"model": "m", "choices": [{"delta": {}, "usage": {"prompt_tokens": 7, "completion_tokens": 3}}]}
        text = events(delta(TEXT), usage, delta(finish=finish), "[DONE]")
        return httpx2.Response(200, text=text, headers={"content-type": "text/event-stream; charset=utf-8"})

    return answer


def json_mode(sent: Mapping[str, Any]) -> bool:
    """Whether DeepSeek refuses *sent*: it has no schemas, and JSON mode wants the word in the prompt."""
    kind = sent.get("response_format", {}).get("type")
    return kind == "json_schema" or (kind == "json_object" and "json" not in str(sent["messages"]).casefold())


def failed(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


_RECHARGE = "Insufficient balance or no resource package. Please recharge."
_DAY = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerModel"}, {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
_TPM = (
    "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested {}, please reduce your message size and try again."
)
_SUSPENDED = "Account a is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices."
_FILTER = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt"
_NO_DEPLOYMENT = "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait"
# Found in public issue reports and documentation: after the source, what each of them says.
LOOKED_UP = (
    # a money or quota error of whatever status ends the run
    Server("no balance as a 429", "Z.ai, claude-code#9201", body(failed(_RECHARGE, type="1113"), 429), BudgetExceeded, "recharge"),
    Server(
        "budget of a deployment",
        "LiteLLM 1.106.12, run here",
        body(
            failed("No deployments available - crossed budget: Exceeded budget for deployment model_name: m: 0.32 >= 1d", code="429"), 429
        ),
        BudgetExceeded,
    ),
    Server("no balance in Chinese", "Zhipu, dify#5850", body(failed("您的账户已欠费，请充值后重试。", code="1113"), 429), BudgetExceeded),
    Server(
        "no balance behind a gateway",
        "Moonshot, opencode#24462",
        body(failed("Provider returned error", code=429, metadata={"raw": "Your account is suspended due to insufficient balance"}), 429),
        BudgetExceeded,
        "insufficient balance",
    ),
    Server("no balance as a 500", "MiniMax, hermes-agent#16680", body(failed("insufficient balance (1008)"), 500), BudgetExceeded),
    Server(
        "no balance in a 200",
        "MiniMax, cherry-studio#11287",
        body({"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
        BudgetExceeded,
    ),
    Server(
        "rate limit in a 200 of its own form",
        "MiniMax, cherry-studio#11287",
        body({"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit exceeded"}}),
        RateLimited,
    ),
    Server(
        "no balance as a 401", "OpenCode2API#5", body({"message": "Insufficient balance.", "type": "CreditsError"}, 401), BudgetExceeded
    ),
    Server(
        "no balance as a 403",
        "SiliconFlow, OpenManus#438",
        body({"code": 30011, "message": "The selected model requires paid balance. Your paid balance is insufficient.", "data": None}, 403),
        BudgetExceeded,
    ),
    Server("suspended as a 412", "Fireworks, wayland#545", body(failed(_SUSPENDED, code="PRECONDITION_FAILED"), 412), BudgetExceeded),
    # a quota that does not come back within a run
    Server(
        "quota of a day that says 34 s",
        "Gemini, python-genai#2044",
        body([failed("Quota exceeded. Please retry in 34.07s.", code=429, details=[_DAY, {"retryDelay": "34s"}])], 429),
        ServerPaused,
        "PerDay",
    ),
    Server(
        "quota of 5 hours",
        "Z.ai, model-hotel#955",
        body(failed("Usage limit reached for 5 hour. Your limit will reset at 2026-09-09 05:38:28", code="1308"), 429),
        ServerPaused,
    ),
    Server(
        "quota of 5 hours in Chinese", "dirge#818", body(failed("已达到 5 小时的使用上限。您的限额将在 7:41 重置。"), 429), ServerPaused
    ),
    # the wait, where no header says it
    Server(
        "error in a list",
        "Gemini, gemini-cli#14831",
        body([failed("Resource exhausted.", code=429, status="RESOURCE_EXHAUSTED", details=[{"retryDelay": "26s"}])], 429),
        RateLimited,
        ": RESOURCE_EXHAUSTED: Resource exhausted",
        wait_s=26,
    ),
    Server(
        "wait in the message",
        "Azure, dbchatprov2#2",
        body(failed("exceeded token rate limit of your current pricing tier. Please retry after 86400 seconds.", code="429"), 429),
        RateLimited,
        wait_s=86400,
    ),
    Server(
        "minutes in the message",
        "Groq, continue#10920",
        body(failed("Rate limit reached on tokens per minute (TPM). Please try again in 9m38.016s."), 429),
        RateLimited,
        wait_s=578.016,
    ),
    Server("high concurrency", "Z.ai, ccs#402", body(failed("High concurrency usage of this API", code="1302"), 429), RateLimited),
    # a request that a stream makes acceptable
    Server(
        "thinks in streams only",
        "DashScope, new-api#1109",
        wants_stream(lambda sent: not sent.get("stream"), "parameter.enable_thinking must be set to false for non-streaming calls"),
    ),
    Server(
        "thinks in streams only, in Chinese",
        "DashScope, spring-ai-alibaba#867",
        wants_stream(lambda sent: not sent.get("stream"), "parameter.enable_thinking必须设置为false才能进行非流式调用"),
    ),
    Server(
        "streams only",
        "DashScope, ragflow#5912",
        wants_stream(
            lambda sent: not sent.get("stream"),
            "This model only support stream mode, please enable the stream parameter to access the model.",
        ),
    ),
    Server(
        "long replies as streams only",
        "Fireworks, nullclaw#231",
        wants_stream(
            lambda sent: sent["max_tokens"] > 4096 and not sent.get("stream"), "Requests with max_tokens > 4096 must have stream=true"
        ),
    ),
    Server(
        "ModelScope's words",
        "claude-code-router#948",
        wants_stream(lambda sent: not sent.get("stream"), "enable thinking can not be support when `stream=False`."),
    ),
    # limits, formats and roles by other words
    Server(
        "output counts against the minute", "Groq, koassistant#106", unless(lambda sent: sent["max_tokens"] > 2048, _TPM.format(6210), 413)
    ),
    Server(
        "output counts, as a 429",
        "OpenAI, climb#1",
        unless(lambda sent: sent["max_tokens"] > 2048, "Request too large for m on tokens per min (TPM): Limit 6000, Requested 6601.", 429),
    ),
    Server("prompt above the minute", "Groq, gpt-researcher#985", body(failed(_TPM.format(14368)), 413), InvalidRequest, "too long"),
    Server(
        "max_new_tokens",
        "Together, TGI; chat-ui#1149",
        unless(
            lambda sent: sent["max_tokens"] > 2048,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 30 `inputs` tokens",
            422,
        ),
    ),
    Server(
        "refusal in a 200",
        "TGI#2749",
        lambda sent: body(
            {"error": "Input validation error: `max_new_tokens` must be <= 2048", "error_type": "validation"}
            if sent["max_tokens"] > 2048
            else reply()
        )(sent),
    ),
    Server(
        "max_tokens of a 400",
        "Databricks, sdk-go#1183",
        unless(lambda sent: sent["max_tokens"] > 2048, "max_tokens (4396) cannot exceed 2048"),
    ),
    Server("no schemas", "DeepSeek, inspect_ai#4916", unless(json_mode, "This response_format type is unavailable now")),
    Server(
        "unknown key of a schema",
        "Gemini, new-api#1037",
        unless(
            lambda sent: "json_schema" in str(sent.get("response_format")),
            "Invalid JSON payload. Unknown name \"additionalProperties\" at 'generation_config.response_schema': Cannot find field.",
        ),
    ),
    Server(
        "small schemas",
        "Cerebras, claude-code-router#708",
        unless(lambda sent: "strict" in str(sent.get("response_format")), "Unsupported JSON schema fields: {'minItems', 'items'}"),
    ),
    Server("thought before the schema's JSON", "Perplexity, perplexity-go#89", body(reply({"content": f"<think>Hm.</think>\n\n{TEXT}"}))),
    Server(
        "no system role, by other words",
        "MiniMax, CodexPlusPlus#267",
        unless(
            lambda sent: sent["messages"][0]["role"] == "system", "invalid params, chat content has invalid message role: system (2013)"
        ),
    ),
    # the reply's end
    Server("out of resources", "DeepSeek's API", body(reply({"content": "{"}, finish="insufficient_system_resource")), ProviderUnavailable),
    Server("aborted", "vLLM#57082, SGLang: miles#3337", body(reply({"content": ""}, finish="abort")), ProviderUnavailable),
    Server("network error", "Z.ai's API", body(reply({"content": "{"}, finish="network_error")), ProviderUnavailable),
    Server("sensitive", "Z.ai's API", body(reply({"content": ""}, finish="sensitive")), Refused),
    Server("SAFETY", "Gemini, Vibe-Trading#308", body(reply({"content": None}, finish="SAFETY")), Refused, "SAFETY"),
    Server("MAX_TOKENS", "Gemini, envoy ai-gateway#2107", body(reply({"content": None}, finish="MAX_TOKENS")), Truncated),
    Server("context is full", "Z.ai, opencode#18813", body(reply({"content": "{"}, finish="model_context_window_exceeded")), Truncated),
    # errors of one prompt, of the run, and of a moment
    Server(
        "filter as a 403",
        "xAI, inspect_ai#2267",
        body(
            {
                "code": "The caller does not have permission",
                "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
            },
            403,
        ),
        InvalidRequest,
        "content filter",
    ),
    Server(
        "inspection",
        "DashScope, owl#432",
        body(failed("Input data may contain inappropriate content.", code="data_inspection_failed"), 400),
        InvalidRequest,
        "content filter",
    ),
    Server(
        "inspection by other words",
        "DashScope, qwen-code#3145",
        body(failed("<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content."), 400),
        InvalidRequest,
        "content filter",
    ),
    Server("prompt filter", "Azure, TinyTroupe#85", body(failed(_FILTER, code="content_filter"), 400), InvalidRequest, "content filter"),
    Server("no deployment", "Azure, azure-docs#114013", body(failed(_NO_DEPLOYMENT, code="DeploymentNotFound"), 404), NotServed, "--model"),
    Server(
        "no provider of the model",
        "Hugging Face's router, cline#5098",
        body(failed("The requested model 'm' is not supported by any provider you have enabled."), 400),
        NotServed,
        "--model",
    ),
    Server(
        "crashed model as a 400",
        "LM Studio, lmstudio-bug-tracker#2255",
        body({"error": "The model has crashed without additional information. (Exit code: null)"}, 400),
        ProviderUnavailable,
    ),
    Server(
        "failed generation as a 424",
        "TGI's API",
        body({"error": "Request failed during generation", "error_type": "generation"}, 424),
        ProviderUnavailable,
    ),
    Server(
        "errors of a gateway",
        "Cloudflare, cloudflare-docs#31050",
        body({"success": False, "result": [], "error": [{"code": 2009, "message": "Unauthorized"}]}, 401),
        AuthFailed,
        ": Unauthorized",
    ),
    Server(
        "path of another version",
        "Zhipu, AiMaMi#64",
        body({"timestamp": "2026-06-27T05:18:33", "status": 404, "error": "Not Found", "path": "/v4/v1/chat/completions"}, 404),
        NotServed,
        ": Not Found",
    ),
)


@pytest.mark.parametrize("server", [*SERVERS, *LOOKED_UP], ids=lambda server: server.name)
def test_what_comes_of_a_call(server):
    provider = mocked(server.provider, lambda request: server.answer(json.loads(request.content)))
    if server.error is None:
        assert complete(provider).data == DATA
        return
    with pytest.raises(ProviderError) as caught:
        complete(provider)
    assert type(caught.value) is server.error, caught.value
    assert server.said in str(caught.value)
    assert getattr(caught.value, "retry_after", None) == server.wait_s


@pytest.mark.parametrize(
    ("name", "answer", "error"),
    [
        ("openai", {"error": {"type": "proxy_error", "message": "Could not detect response format from upstream"}}, ProviderUnavailable),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ProviderUnavailable),
        ("openai", {"error": {"code": 402, "message": "Insufficient credits"}}, BudgetExceeded),
    ],
    ids=["aimock 1.43.0, run here", "gateways", "OpenRouter"],
)
def test_errors_in_a_200_of_the_other_apis(name, answer, error, monkeypatch):
    monkeypatch.setenv(f"{name.upper()}_API_KEY", "k-0123456789")
    with pytest.raises(error):
        complete(mocked(name, lambda _: httpx2.Response(200, json=answer)))


def test_a_stream_that_a_server_insists_on_has_its_usage():
    server = next(server for server in LOOKED_UP if server.name == "streams only")
    provider = mocked("compatible", lambda request: server.answer(json.loads(request.content)))
    assert complete(provider).usage == TokenUsage(input=7, output=3)


def test_the_system_text_begins_the_user_message_where_there_is_no_system_role():
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content)["messages"])
        return body({"error": {"message": "System role not supported"}}, 400)({}) if len(seen[-1]) > 1 else body(reply())({})

    complete(mocked("compatible", answer))
    system, user = make_call().render()
    assert seen[-1] == [{"role": "user", "content": f"{system.content}\n\n{user.content}"}]


def test_a_server_without_output_config_gets_the_schema_in_the_system_text_from_then_on():
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content))
        return without_output_config({"error": {"message": "output_config: Extra inputs are not permitted"}})(seen[-1])

    provider, call = mocked("anthropic", answer), make_call()

    async def two_calls() -> None:
        await provider.complete(call)
        await provider.complete(call)
        await provider.aclose()

    run(two_calls())
    assert ["output_config" in sent for sent in seen] == [True, False, False]
    assert seen[2]["system"][0]["text"] == f"You write one sentence.\n\n{schema_instruction(call.schema_name, call.schema)}"


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


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("https://open.bigmodel.test/api/paas/v4", "Check the base URL"),
        ("https://gemini.test/v1beta/openai", "Check the base URL"),
        ("https://openrouter.test/api", "Check the base URL; did you mean https://openrouter.test/api/v1?"),
    ],
)
def test_a_wrong_path_suggests_v1_unless_the_address_has_a_version(url, remedy):
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda _: body({"error": "Not Found"}, 404)({})))
    with pytest.raises(NotServed) as caught:
        complete(make_provider("compatible", model="m", base_url=url, http_client=client))
    assert caught.value.remedy == remedy


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


def test_a_limit_without_room_is_never_above_the_one_that_was_reserved_for():
    limits = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        limits.append(json.loads(request.content)["max_tokens"])
        refused = body({"error": {"message": "max_tokens is too large"}}, 400)
        return (refused if len(limits) == 1 else body(reply()))({})

    complete(mocked("compatible", answer, output_tokens=200), make_call(limit=300))
    assert limits == [200, 200]
