"""OpenAI's Responses API (``POST /v1/responses``) with structured output in strict mode.

Sampling parameters are never sent: the newest models refuse them. ``store`` is off, so OpenAI keeps no copy for retrieval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import httpx2
import openai
from openai.types.responses import ResponseInputItemParam, ResponseTextConfigParam
from openai.types.shared_params import Reasoning

from providers.errors import ProviderUnavailable, RateLimited
from providers.prices import ModelSpec
from providers.protocol import JsonSchema, Message, PromptCall, TokenUsage
from providers.schemas import format_name, strict_schema
from providers.sdk_errors import Translator
from providers.sdk_provider import SdkProvider, SdkReply, as_count

# ``error.code`` of a response whose status is "failed" (openai.types.responses.ResponseError).
_REFUSAL_CODES = frozenset({"invalid_prompt", "bio_policy", "misalignment_policy_violation"})
_TRANSIENT_CODES = frozenset({"server_error", "vector_store_timeout"})


class OpenAIProvider(SdkProvider[openai.AsyncOpenAI]):
    """OpenAI's models through its own SDK."""

    def __init__(
        self,
        *,
        model: str,
        api_key: str,
        base_url: str,
        spec: ModelSpec,
        translator: Translator,
        timeout_s: float,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        client = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, timeout=timeout_s, max_retries=0, http_client=http_client)
        super().__init__(name="openai", model=model, spec=spec, client=client, translator=translator, timeout_s=timeout_s)

    @property
    def _failure(self) -> type[Exception]:
        return openai.OpenAIError

    async def _ask(self, call: PromptCall, messages: Sequence[Message]) -> SdkReply:
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        turns: list[ResponseInputItemParam] = [
            {"role": message.role, "content": message.content} for message in messages if message.role != "system"
        ]
        response = await self._client.responses.create(
            model=self.model,
            instructions=system or openai.omit,
            input=turns,
            text=_text_config(call.schema_name, call.schema),
            max_output_tokens=self._spec.output_limit(call.settings.max_output_tokens),
            reasoning=cast("Reasoning", {"effort": self._spec.effort}) if self._spec.effort else openai.omit,
            store=False,
        )
        return self._read(response)

    async def _look_up_model(self) -> bool | None:
        await self._client.models.retrieve(self.model)
        return True

    def _read(self, response: object) -> SdkReply:
        """The reply in *response*, whatever its status; raises for a response that failed on the server's side."""
        if getattr(response, "object", None) != "response":
            raise self._translator.not_our_api(response)
        texts, refusals = _parts(response)
        status = str(getattr(response, "status", None) or "completed")
        reason = str(getattr(getattr(response, "incomplete_details", None), "reason", None) or "")
        usage, cache_write = _usage(getattr(response, "usage", None))
        reply = SdkReply(
            text="".join(texts),
            model=str(getattr(response, "model", "") or ""),
            usage=usage,
            finish_reason=reason or status,
            cache_write=cache_write,
        )
        if status in {"failed", "cancelled", "queued", "in_progress"}:
            return self._failed(response, status, reply)
        if refusals or reason == "content_filter":
            return replace(reply, outcome="refused", finish_reason="refusal", note=reason, text="".join(refusals) or reply.text)
        if status == "incomplete":
            return replace(reply, outcome="truncated", note=reason)
        return reply

    def _failed(self, response: object, status: str, reply: SdkReply) -> SdkReply:
        """A refusal where the server declined, else the error for a response that came to nothing."""
        error = getattr(response, "error", None)
        code = str(getattr(error, "code", None) or status)
        if code in _REFUSAL_CODES:
            return replace(reply, outcome="refused", finish_reason="refusal", note=code)
        if code == "rate_limit_exceeded":
            raise RateLimited(f"{self.name}: too many requests ({code})", where=self.endpoint)
        if code in _TRANSIENT_CODES or error is None:
            raise ProviderUnavailable(f"{self.name}: the response came to nothing ({code})", where=self.endpoint)
        raise self._translator.invalid(f"the response failed ({code})")


def _text_config(name: str, schema: JsonSchema) -> ResponseTextConfigParam:
    """The request for a reply of *schema*."""
    return {"format": {"type": "json_schema", "name": format_name(name), "schema": strict_schema(schema), "strict": True}}


def _parts(response: object) -> tuple[list[str], list[str]]:
    """Texts and refusals in the message items of *response* (reasoning items are passed over)."""
    texts: list[str] = []
    refusals: list[str] = []
    for item in getattr(response, "output", None) or ():
        for part in getattr(item, "content", None) or ():
            kind = getattr(part, "type", None)
            if kind == "output_text":
                texts.append(str(getattr(part, "text", "") or ""))
            elif kind == "refusal":
                refusals.append(str(getattr(part, "refusal", "") or ""))
    return texts, refusals


def _usage(usage: object) -> tuple[TokenUsage, int]:
    """Token usage and tokens written to the prompt cache; input counts both already."""
    details = getattr(usage, "input_tokens_details", None)
    counted = TokenUsage(
        input=as_count(getattr(usage, "input_tokens", None)),
        cached=as_count(getattr(details, "cached_tokens", None)),
        output=as_count(getattr(usage, "output_tokens", None)),
    )
    return counted, as_count(getattr(details, "cache_write_tokens", None))
