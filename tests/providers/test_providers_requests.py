"""What goes over the wire to each API, and what odd answers become. The transport is the boundary that is faked."""

from __future__ import annotations

import json
from dataclasses import replace

import httpx2
import pytest

from piiloom.providers.addresses import WITHHELD
from piiloom.providers.errors import (
    AuthFailed,
    BudgetExceeded,
    InvalidReply,
    InvalidRequest,
    ProviderUnavailable,
    RateLimited,
    Refused,
    Truncated,
)
from tests.fakes.llm_wire import Request, reply_body
from tests.longer import case_by_case
from tests.providers.provider_calls import DATA, KEY, NAMES, PROMPT, complete, make_call, mocked

each_provider = pytest.mark.parametrize("name", NAMES)
APIS = {"openai": "responses", "anthropic": "messages", "compatible": "chat"}


def good(name: str, text: str = json.dumps(DATA), **changes) -> dict:
    request = Request(api=APIS[name], model="m", system="", user="", schema_name="", schema={}, ordinal=0)
    return {**reply_body(request, text, "ok"), **changes}


def answering(status: int, body, headers=None):
    def handler(_: httpx2.Request) -> httpx2.Response:
        if isinstance(body, str | bytes):
            return httpx2.Response(status, content=body, headers=headers)
        return httpx2.Response(status, json=body, headers=headers)

    return handler


def captured(name: str, call=None, **options) -> httpx2.Request:
    seen = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json=good(name))

    complete(mocked(name, handler, **options), call)
    return seen[0]


def test_openai_request():
    request = captured("openai", make_call(limit=300))
    body = json.loads(request.content)
    assert request.url == "http://llm.test/v1/responses"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert body["instructions"] == "You write one sentence."
    assert body["input"] == [{"role": "user", "content": PROMPT}]
    assert body["max_output_tokens"] == 300
    assert body["reasoning"] == {"effort": "none"}
    assert body["store"] is False
    assert body["prompt_cache_key"] == "situation.v1"
    wanted = body["text"]["format"]
    assert (wanted["type"], wanted["name"], wanted["strict"]) == ("json_schema", "situation", True)
    assert wanted["schema"]["required"] == ["sentence", "count"]
    assert "minLength" not in json.dumps(wanted["schema"])


def test_anthropic_request():
    request = captured("anthropic", make_call(limit=300))
    body = json.loads(request.content)
    assert request.url == "http://llm.test/v1/messages"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert body["system"] == [{"type": "text", "text": "You write one sentence.", "cache_control": {"type": "ephemeral"}}]
    assert body["messages"] == [{"role": "user", "content": PROMPT}]
    assert body["max_tokens"] == 300
    assert body["thinking"] == {"type": "disabled"}
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert body["output_config"]["format"]["schema"]["additionalProperties"] is False
    assert body["output_config"]["format"]["schema"]["title"] == "situation"


def test_compatible_request_with_seed():
    request = captured("compatible", make_call(limit=300, seed=11))
    body = json.loads(request.content)
    assert request.url == "http://llm.test/v1/chat/completions"
    assert [turn["role"] for turn in body["messages"]] == ["system", "user"]
    assert body["max_tokens"] == 4396  # with room for thoughts
    assert body["seed"] == 11
    assert body["response_format"]["json_schema"]["strict"] is True


def test_a_model_that_always_thinks_gets_room_for_it():
    body = json.loads(captured("anthropic", make_call(limit=300), model="claude-opus-5-5").content)
    assert body["max_tokens"] == 300 + 4096
    assert body["output_config"]["effort"] == "low"
    assert "thinking" not in body


def test_an_unlisted_model_gets_room_but_no_settings_it_might_refuse():
    body = json.loads(captured("openai", make_call(limit=300), model="gpt-99-unheard-of").content)
    assert body["max_output_tokens"] == 300 + 4096
    assert "reasoning" not in body


def test_nothing_of_an_openai_account_reaches_a_compatible_server(monkeypatch):
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, f"secret-of-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer secret-custom")
    sent = captured("compatible").headers
    assert sent["authorization"] == "Bearer not-needed"
    assert "secret" not in str(sent.raw)
    assert KEY not in str(sent.raw)


def test_a_compatible_server_may_have_a_key(monkeypatch):
    monkeypatch.setenv("PIILOOM_COMPATIBLE_API_KEY", "local-key")
    assert captured("compatible").headers["authorization"] == "Bearer local-key"


@each_provider
@pytest.mark.parametrize(
    ("status", "body", "error", "words"),
    [
        (400, {"error": {"type": "invalid_request_error", "message": "max_tokens: too large"}}, InvalidRequest, "too large"),
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, AuthFailed, "refused"),
        (402, {"error": {"type": "billing_error", "message": "pay first"}}, BudgetExceeded, "no money"),
        (403, {"error": {"message": "Country not supported"}}, AuthFailed, "right"),
        (404, {"error": {"code": "model_not_found", "message": "The model does not exist"}}, InvalidRequest, "no model"),
        (408, {}, ProviderUnavailable, "408"),
        (413, {"error": {"type": "request_too_large", "message": "Request exceeds the size"}}, InvalidRequest, "size"),
        (400, {"error": {"message": "Your credit balance is too low to access the API"}}, BudgetExceeded, "no money"),
        (429, {"error": {"code": "insufficient_quota", "message": "quota"}}, BudgetExceeded, "no money"),
        (429, {"error": {"message": "slow down"}}, RateLimited, "slow down"),
        (500, "<html>Bad gateway</html>", ProviderUnavailable, r"\(500\)$"),
        (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, ProviderUnavailable, "Overloaded"),
    ],
)
def test_status_codes(name, status, body, error, words):
    with pytest.raises(error, match=words) as caught:
        complete(mocked(name, answering(status, body)))
    assert KEY not in str(caught.value)
    assert caught.value.where == ("http://llm.test" if name == "anthropic" else "http://llm.test/v1")


@each_provider
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.01"}, 0.01),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"date": "Tue, 03 Nov 2026 10:00:00 GMT", "retry-after": "Tue, 03 Nov 2026 10:00:07 GMT"}, 7.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(name, headers, seconds):
    for status, error in ((429, RateLimited), (503, ProviderUnavailable)):
        with pytest.raises(error) as caught:
            complete(mocked(name, answering(status, {"error": {"message": "wait"}}, headers)))
        assert caught.value.retry_after == seconds


@each_provider
def test_a_server_that_repeats_the_prompt_is_not_quoted(name):
    body = {"error": {"message": f"cannot parse: {PROMPT}"}}
    with pytest.raises(InvalidRequest) as caught:
        complete(mocked(name, answering(400, body)))
    assert WITHHELD in str(caught.value)
    assert "plumber" not in str(caught.value)


@each_provider
@pytest.mark.parametrize("body", [b'{"a": ', b"", b"\xff\xfe", b"null", b"[1, 2]", b'"text"', b"{}", b'{"error": "Unexpected endpoint"}'])
def test_a_success_that_is_no_answer_is_a_known_error(name, body):
    handler = answering(200, body, {"content-type": "application/json"})
    with pytest.raises((ProviderUnavailable, InvalidRequest)) as caught:
        complete(mocked(name, handler))
    assert caught.value.where


@each_provider
def test_a_web_page_is_told_from_an_answer(name):
    handler = answering(200, "<html>Welcome</html>", {"content-type": "text/html"})
    with pytest.raises(InvalidRequest, match="not one of this API"):
        complete(mocked(name, handler))


@each_provider
def test_connection_errors_by_kind(name):
    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused", request=request)

    def cut(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadError("reset", request=request)

    def wait(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("slow", request=request)

    for handler, words in ((refuse, "cannot be reached"), (cut, "connection was lost"), (wait, "in time")):
        with pytest.raises(ProviderUnavailable, match=words):
            complete(mocked(name, handler))


@each_provider
def test_missing_usage_counts_as_nothing(name):
    completion = complete(mocked(name, answering(200, good(name, usage=None))))
    assert (completion.usage.input, completion.usage.output) == (0, 0)


@case_by_case(
    ("changes", "error"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, Truncated),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, Refused),
        ({"status": "failed", "error": {"code": "server_error", "message": "x"}}, ProviderUnavailable),
        ({"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "x"}}, RateLimited),
        ({"status": "failed", "error": {"code": "bio_policy", "message": "x"}}, Refused),
        ({"status": "failed", "error": {"code": "image_too_large", "message": "x"}}, InvalidRequest),
        ({"status": "queued"}, ProviderUnavailable),
    ],
)
def test_openai_status_of_a_response(changes, error):
    with pytest.raises(error):
        complete(mocked("openai", answering(200, good("openai", **changes))))


@pytest.mark.parametrize(
    ("stop", "error"),
    [("max_tokens", Truncated), ("model_context_window_exceeded", Truncated), ("pause_turn", Truncated), ("refusal", Refused)],
)
def test_anthropic_stop_reasons(stop, error):
    with pytest.raises(error) as caught:
        complete(mocked("anthropic", answering(200, good("anthropic", stop_reason=stop))))
    assert caught.value.completion.finish_reason == stop


def test_anthropic_thinking_blocks_are_passed_over():
    content = [{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "text", "text": json.dumps(DATA)}]
    assert complete(mocked("anthropic", answering(200, good("anthropic", content=content)))).data == DATA


def test_anthropic_cost_counts_cached_and_written_tokens_at_their_own_price():
    usage = {"input_tokens": 1000, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 100, "output_tokens": 50}
    completion = complete(mocked("anthropic", answering(200, good("anthropic", usage=usage))))
    assert (completion.usage.input, completion.usage.cached, completion.usage.output) == (1300, 200, 50)
    assert completion.cost_usd == pytest.approx((1000 * 0.10 + 200 * 0.01 + 100 * 0.125 + 50 * 0.50) / 1e6)


def test_openai_cost_counts_cached_and_written_tokens_at_their_own_price():
    details = {"cached_tokens": 200, "cache_write_tokens": 100}
    usage = {"input_tokens": 1300, "input_tokens_details": details, "output_tokens": 50}
    completion = complete(mocked("openai", answering(200, good("openai", usage=usage))))
    assert (completion.usage.input, completion.usage.cached, completion.usage.output) == (1300, 200, 50)
    assert completion.cost_usd == pytest.approx((1000 * 0.10 + 200 * 0.01 + 100 * 0.125 + 50 * 0.50) / 1e6)


@each_provider
def test_a_plain_text_is_asked_for_without_a_format(name: str) -> None:
    call = replace(make_call(), schema=None)
    request = captured(name, call)
    assert not {"text", "response_format", "format"} & json.loads(request.content).keys()
    assert "schema" not in request.content.decode()
    handler = answering(200, good(name, "<think>hm</think>I have <health>asthma</health>.\n"))
    assert complete(mocked(name, handler), call).data == "I have <health>asthma</health>.\n"


@each_provider
def test_a_blank_text_is_no_reply(name: str) -> None:
    with pytest.raises(InvalidReply, match="empty"):
        complete(mocked(name, answering(200, good(name, " \n"))), replace(make_call(), schema=None))
