"""OpenAI's Responses API (``POST /v1/responses``) with structured output in strict mode.

Sampling parameters are sent only if the user set them, because the newest models refuse them while reasoning. ``store`` is off,
so that OpenAI keeps no copy for retrieval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx2
import openai

from piiloom.providers.errors import ProviderUnavailable, RateLimited
from piiloom.providers.protocol import JsonSchema, Message, PromptCall, TokenUsage
from piiloom.providers.replies import SchemaCache, format_name, strict_schema
from piiloom.providers.sampling import with_sampling
from piiloom.providers.sdk_provider import SdkOptions, SdkProvider, SdkReply, as_count, part, parts

# ``error.code`` of a response whose status is "failed" (openai.types.responses.ResponseError).
_REFUSAL_CODES = frozenset({"invalid_prompt", "bio_policy", "misalignment_policy_violation"})
_TRANSIENT_CODES = frozenset({"server_error", "vector_store_timeout"})
# Maximum length of ``prompt_cache_key``.
_CACHE_KEY_CHARS = 64


class OpenAIProvider(SdkProvider[openai.AsyncOpenAI]):
    """OpenAI's models through its own SDK."""

    name = "openai"
    path = "/responses"

    def __init__(self, options: SdkOptions) -> None:
        super().__init__(options)
        self._text_config = SchemaCache(_text_config)

    def request_body(self, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        """Return the body of ``POST /v1/responses``.

        Calls of one template share a prompt cache key, because they have the same system prompt.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "input": [{"role": message.role, "content": message.content} for message in messages if message.role != "system"],
            "max_output_tokens": self.spec.output_limit(call.settings.max_output_tokens),
            "prompt_cache_key": call.template[:_CACHE_KEY_CHARS],
            "store": False,
        }
        if call.schema is not None:
            body["text"] = self._text_config(call.schema_name, call.schema)
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        if system:
            body["instructions"] = system
        if self.spec.effort:
            body["reasoning"] = {"effort": self.spec.effort}
        return with_sampling(body, call.settings)

    def read_body(self, body: object) -> SdkReply:
        """Return the reply in *body*, also if it is refused or truncated.

        Raises ``InvalidRequest`` if *body* is no response of this API, and what ``_failed`` raises for a failed response.
        """
        if part(body, "object") != "response":
            raise self.translator.not_our_api(body)
        texts, refusals = _texts(body)
        status = str(part(body, "status") or "completed")
        reason = str(part(part(body, "incomplete_details"), "reason") or "")
        reply = SdkReply(
            text="".join(texts), model=str(part(body, "model") or ""), usage=_usage(part(body, "usage")), finish_reason=reason or status
        )
        if status in {"failed", "cancelled", "queued", "in_progress"}:
            return self._failed(body, status, reply)
        if refusals or reason == "content_filter":
            return replace(reply, outcome="refused", finish_reason="refusal", note=reason, text="".join(refusals) or reply.text)
        if status == "incomplete":
            return replace(reply, outcome="truncated", note=reason)
        return reply

    @property
    def _failure(self) -> type[Exception]:
        return openai.OpenAIError

    def _connect(self, **options: Any) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(**options)

    @property
    def _http_class(self) -> type[httpx2.AsyncClient]:
        return openai.DefaultAsyncHttpxClient

    async def _look_up_model(self) -> bool | None:
        await self.client.models.retrieve(self.model)
        return True

    def _failed(self, body: object, status: str, reply: SdkReply) -> SdkReply:
        """Handle a response that failed or did not finish: return a refusal if the server declined, otherwise raise.

        Raises ``RateLimited``, ``ProviderUnavailable`` for transient failures, or ``InvalidRequest``.
        """
        error = part(body, "error")
        code = str(part(error, "code") or status)
        if code in _REFUSAL_CODES:
            return replace(reply, outcome="refused", finish_reason="refusal", note=code)
        if code == "rate_limit_exceeded":
            raise RateLimited(f"{self.name}: too many requests ({code})", where=self.endpoint)
        if code in _TRANSIENT_CODES or error is None:
            # Unlike a request with an error status, it may have been processed and billed before it failed.
            raise ProviderUnavailable(
                f"{self.name}: the server did not complete the response ({code})", where=self.endpoint, maybe_billed=True
            )
        raise self.translator.invalid(f"the response failed ({code})")


def _text_config(name: str, schema: JsonSchema) -> Mapping[str, Any]:
    """Return the ``text`` field that requests a reply of *schema*."""
    return {"format": {"type": "json_schema", "name": format_name(name), "schema": strict_schema(schema), "strict": True}}


def _texts(body: object) -> tuple[list[str], list[str]]:
    """Return the texts and the refusals in the message items of *body*; reasoning items are ignored."""
    texts: list[str] = []
    refusals: list[str] = []
    for item in parts(body, "output"):
        for content in parts(item, "content"):
            kind = part(content, "type")
            if kind == "output_text":
                texts.append(str(part(content, "text") or ""))
            elif kind == "refusal":
                refusals.append(str(part(content, "refusal") or ""))
    return texts, refusals


def _usage(usage: object) -> TokenUsage:
    """Return the token usage; ``input_tokens`` already includes cached and written tokens."""
    details = part(usage, "input_tokens_details")
    return TokenUsage(
        input=as_count(part(usage, "input_tokens")),
        cached=as_count(part(details, "cached_tokens")),
        output=as_count(part(usage, "output_tokens")),
        cache_write=as_count(part(details, "cache_write_tokens")),
    )
