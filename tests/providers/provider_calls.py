"""Calls and providers as the tests of this room use them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import httpx2

from piiloom.providers.factory import make_provider
from piiloom.providers.protocol import Message, PromptCall, Provider, SamplingSettings
from piiloom.providers.sdk_provider import SdkProvider

T = TypeVar("T")

KEY = "sk-test-0123456789-abcdefghij"
PROMPT = "A plumber with asthma asks whether the dusty attic job can be refused without losing pay"
SCHEMA = {
    "type": "object",
    "properties": {"sentence": {"type": "string", "minLength": 3}, "count": {"type": "integer"}},
    "required": ["sentence"],
    "additionalProperties": False,
}
DATA = {"sentence": "I wonder – “quietly” – about it: é, 你好."}
NAMES = ("openai", "anthropic", "compatible")
MODELS = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5", "compatible": "local-model"}


def make_call(*, user: str = PROMPT, schema: Mapping[str, Any] | None = None, seed: int | None = None, limit: int = 300) -> PromptCall:
    return PromptCall(
        stage="situation",
        template="situation.v1",
        variables={},
        render=lambda: [Message(role="system", content="You write one sentence."), Message(role="user", content=user)],
        schema_name="situation",
        schema=SCHEMA if schema is None else schema,
        item_id="item-1",
        settings=SamplingSettings(max_output_tokens=limit, seed=seed),
    )


def run(work: Awaitable[T]) -> T:
    async def wait() -> T:
        return await work

    return asyncio.run(wait())


def complete(provider: Provider, call: PromptCall | None = None) -> Any:
    """One completion; the provider is closed whatever happens."""

    async def work() -> Any:
        try:
            return await provider.complete(call or make_call())
        finally:
            await provider.aclose()

    return asyncio.run(work())


def loopback(name: str, server: Any, **options: Any) -> SdkProvider[Any]:
    """Provider *name*, talking to a fake server over real sockets."""
    url = server.anthropic_url if name == "anthropic" else server.openai_url
    return make_provider(name, model=MODELS[name], base_url=url, **options)


def mocked(name: str, handler: Callable[[httpx2.Request], httpx2.Response], **options: Any) -> SdkProvider[Any]:
    """Provider *name*, whose SDK's transport is *handler*."""
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(handler))
    url = {"anthropic": "http://llm.test", "openai": "http://llm.test/v1", "compatible": "http://llm.test/v1"}[name]
    return make_provider(name, model=options.pop("model", MODELS[name]), base_url=url, http_client=client, **options)
