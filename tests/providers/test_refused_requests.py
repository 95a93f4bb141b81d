"""Requests that no retry will mend: each says what is wrong and what to do about it."""

from __future__ import annotations

import httpx2
import pytest

from piiloom.providers.errors import AuthFailed, BudgetExceeded, InvalidRequest, NotServed, RateLimited
from tests.fakes.llm_server import Fault, LLMServer
from tests.providers.provider_calls import DATA, MODELS, NAMES, complete, loopback, mocked

each_provider = pytest.mark.parametrize("name", NAMES)


def refused(name: str, status: int, code: str, message: str) -> Exception:
    body = {"type": "error", "error": {"type": "invalid_request_error", "code": code, "message": message}}
    with pytest.raises(Exception, match=name) as caught:
        complete(mocked(name, lambda _: httpx2.Response(status, json=body)))
    return caught.value


@each_provider
@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (400, "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again."),
        (400, "", "This model's maximum context length is 2048 tokens, however you requested 2900 tokens"),
        (400, "", "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "", "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000, decrease input length or `max_tokens`"),
        (400, "exceed_context_size_error", "the request exceeds the available context size"),
        (413, "request_too_large", "Request exceeds the maximum size"),
    ],
)
def test_a_prompt_that_is_too_long(name, status, code, message):
    error = refused(name, status, code, message)
    assert type(error) is InvalidRequest
    assert f"the prompt is too long for the model ({status})" in error.message
    assert "larger context" in error.remedy


@each_provider
@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (400, "content_filter", "The response was filtered due to the prompt triggering Azure OpenAI's content management policy"),
        (400, "invalid_prompt", "Invalid prompt: your prompt was flagged as potentially violating our usage policy"),
        (400, "", "Output blocked by content filtering policy"),
        (403, "", "openai/gpt requires moderation and your input was flagged for harassment"),
    ],
)
def test_a_prompt_that_a_filter_stops_is_this_prompts_affair(name, status, code, message):
    error = refused(name, status, code, message)
    assert type(error) is InvalidRequest
    assert f"a content filter of the server refused the prompt ({status})" in error.message
    assert "Other prompts are not affected" in error.remedy


@each_provider
def test_an_unknown_model(name):
    error = refused(name, 404, "model_not_found", f"The model `{MODELS[name]}` does not exist or you do not have access to it.")
    assert type(error) is NotServed
    assert f"there is no model '{MODELS[name]}' here (404)" in error.message
    assert "--model" in error.remedy


@each_provider
def test_an_unknown_path(name):
    error = refused(name, 404, "", "Not Found")
    assert type(error) is NotServed
    assert "no such path" in error.message


@each_provider
@pytest.mark.parametrize("message", ["API key not valid. Please pass a valid API key.", "invalid_api_key"])
def test_a_bad_key_by_another_status(name, message):
    error = refused(name, 400, "", message)
    assert type(error) is AuthFailed
    assert "the key was refused (400)" in error.message


@each_provider
@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."),
        (429, "billing_not_active", "Your account is not active, please check your billing details on our website."),
        (400, "", "Your credit balance is too low to access the Anthropic API."),
        (400, "", "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."),
        (402, "billing_error", "Pay first"),
    ],
)
def test_money_that_has_run_out_is_no_rate_limit(name, status, code, message):
    error = refused(name, status, code, message)
    assert type(error) is BudgetExceeded
    assert "no money or quota left" in error.message


@each_provider
def test_money_that_has_run_out_is_asked_about_once(name):
    with LLMServer(lambda _: DATA, lambda _: Fault(kind="quota")) as server:
        with pytest.raises(BudgetExceeded):
            complete(loopback(name, server))
        assert server.requests == 1


@each_provider
def test_too_many_tokens_a_minute_are_a_rate_limit(name):
    error = refused(name, 429, "rate_limit_exceeded", "Rate limit reached for tokens per min (TPM): Limit 60000, Requested 70000.")
    assert type(error) is RateLimited
