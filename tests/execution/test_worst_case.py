"""The bound on a call's cost holds for what is really sent and billed, at every provider."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.execution.money.budget import estimated_tokens, prompt_bytes, schema_bytes, worst_case_usd
from piiloom.providers.factory import make_provider
from piiloom.providers.prices import ModelSpec, shipped_models
from piiloom.providers.protocol import Message, PromptCall, SamplingSettings, TokenUsage
from tests.fakes.llm_server import LLMServer

MODELS = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5", "compatible": "local-model"}
SPEC = ModelSpec(input=1.0, cached=0.1, cache_write=1.25, output=5.0, overhead_tokens=300, thinking_tokens=200, batch_discount=0.5)
SCHEMAS: dict[str, Mapping[str, Any]] = {
    "text": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False},
    "verdict": {
        "type": "object",
        "properties": {
            "scores": {"type": "array", "items": {"$ref": "#/$defs/Score"}},
            "note": {"anyOf": [{"type": "string", "description": "was sonst noch auffällt"}, {"type": "null"}]},
        },
        "required": ["scores"],
        "additionalProperties": False,
        "$defs": {
            "Score": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "grade": {"type": "string", "enum": ["none", "some", "much"]}},
                "required": ["id", "grade"],
                "additionalProperties": False,
            }
        },
    },
}
PROMPTS = {"english": "I wonder about it. " * 40, "mixed": "naïve – “café” 你好 🙂 " * 30, "empty": ""}


def make_call(user: str, schema: str = "text", limit: int = 1024) -> tuple[PromptCall, tuple[Message, ...]]:
    messages = (Message(role="system", content="You write. Answer with JSON only."), Message(role="user", content=user))
    call = PromptCall(
        stage="situation",
        template="situation.v2",
        variables={},
        render=lambda: messages,
        schema_name=schema,
        schema=SCHEMAS[schema],
        item_id="7",
        settings=SamplingSettings(max_output_tokens=limit),
    )
    return call, messages


def strings(value: Any) -> Iterator[str]:
    """Every text in a request body, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for key, item in value.items() for text in (key, *strings(item)))
    elif isinstance(value, list):
        yield from (text for item in value for text in strings(item))


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("formats", [frozenset({"json_schema"}), frozenset()])
def test_all_that_is_sent_lies_within_the_bound(name, schema, prompt, formats, monkeypatch):
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "sk-test-0123456789-abcdefghij")
    call, messages = make_call(PROMPTS[prompt], schema)
    answer = {"text": {"text": "Well."}, "verdict": {"scores": [], "note": None}}[schema]
    with LLMServer(lambda _: answer, chat_formats=formats) as server:
        url = server.anthropic_url if name == "anthropic" else server.openai_url
        provider = make_provider(name, model=MODELS[name], base_url=url)

        async def work() -> TokenUsage:
            try:
                return (await provider.complete(call)).usage
            finally:
                await provider.aclose()

        usage = asyncio.run(work())
        body = server.bodies[-1]
    sent = sum(len(text.encode()) for text in strings(body))
    spec = shipped_models().resolve(name, MODELS[name], SPEC)
    bound = spec.worst_case_usd(prompt_bytes(messages) + 2 * schema_bytes(schema, call.schema), 1024)
    assert worst_case_usd(call, messages, spec) == bound
    # One token for each byte that was sent, all of them written to the cache, and an answer as long as it may be.
    limit = next(body[key] for key in ("max_output_tokens", "max_tokens") if key in body)
    assert limit == spec.output_limit(1024)
    assert spec.cost_usd(TokenUsage(input=sent, cache_write=sent, output=limit)) <= bound
    assert spec.cost_usd(usage) < bound


def test_the_bound_is_bytes_overhead_and_output_limit_at_the_dearest_price():
    call, messages = make_call("Grüße", limit=100)
    given = len("You write. Answer with JSON only.Grüße".encode()) + 2 * (len("text") + len(json.dumps(SCHEMAS["text"])))
    assert worst_case_usd(call, messages, SPEC) == pytest.approx(((given + 300) * 1.25 + 300 * 5.0) / 1e6)
    assert worst_case_usd(call, messages, SPEC, batch=True) == pytest.approx(((given + 300) * 1.25 + 300 * 5.0) / 2e6)
    assert worst_case_usd(call, messages, ModelSpec()) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_never_costs_less(text, more):
    spec = shipped_models().find("openai", "gpt-6-luna")
    assert worst_case_usd(*make_call(text), spec) <= worst_case_usd(*make_call(text + more), spec)


@pytest.mark.parametrize(
    ("text", "tokens"),
    # What published tokenizers make of such text, within a third.
    [
        ("The quick brown fox jumps over the lazy dog while it rains. " * 20, 260),
        ("我最近在考虑换工作，但是家里的情况让我很难做决定。" * 20, 360),
    ],
)
def test_the_estimate_is_near_what_tokenizers_make_of_a_text(text, tokens):
    bare, full = (estimated_tokens(*make_call(content)) for content in ("", text))
    assert tokens * 2 / 3 < full - bare < tokens * 4 / 3


def test_the_estimate_is_quick_and_never_above_the_output_limit():
    call, messages = make_call("word " * 300, limit=10)
    assert estimated_tokens(call, messages) < estimated_tokens(*make_call("word " * 300))
    best = min(_seconds(call, messages) for _ in range(50))
    assert best < 50e-6  # measured: 1 to 2 microseconds; a test machine may be busy


def _seconds(call: PromptCall, messages: tuple[Message, ...]) -> float:
    started = time.perf_counter()
    estimated_tokens(call, messages)
    return time.perf_counter() - started
