"""Anthropic's Messages API (``POST /v1/messages``) with structured output through ``output_config``.

The system prompt travels apart from the messages. Sampling parameters do not exist in this SDK and are never sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import anthropic
import httpx2
from anthropic.types import MessageParam, OutputConfigParam, ThinkingConfigParam

from providers.prices import ModelSpec
from providers.protocol import JsonSchema, Message, PromptCall, TokenUsage
from providers.schemas import format_name, plain
from providers.sdk_errors import Translator
from providers.sdk_provider import SdkProvider, SdkReply, as_count

_CUT = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn"})


class AnthropicProvider(SdkProvider[anthropic.AsyncAnthropic]):
    """Anthropic's models through its own SDK."""

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
        client = anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url, timeout=timeout_s, max_retries=0, http_client=http_client)
        super().__init__(name="anthropic", model=model, spec=spec, client=client, translator=translator, timeout_s=timeout_s)

    @property
    def _failure(self) -> type[Exception]:
        return anthropic.AnthropicError

    async def _ask(self, call: PromptCall, messages: Sequence[Message]) -> SdkReply:
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        turns = [cast("MessageParam", {"role": m.role, "content": m.content}) for m in messages if m.role != "system"]
        response = await self._client.messages.create(
            model=self.model,
            system=system or anthropic.omit,
            messages=turns,
            output_config=self._output_config(call.schema_name, call.schema),
            max_tokens=self._spec.output_limit(call.settings.max_output_tokens),
            thinking=cast("ThinkingConfigParam", {"type": self._spec.thinking}) if self._spec.thinking else anthropic.omit,
        )
        return self._read(response)

    async def _look_up_model(self) -> bool | None:
        await self._client.models.retrieve(self.model)
        return True

    def _output_config(self, name: str, schema: JsonSchema) -> OutputConfigParam:
        """The request for a reply of *schema*; what the API cannot enforce moves into descriptions (the SDK's own rule)."""
        # There is no name beside the schema in this API, so it travels as the title.
        wanted = anthropic.transform_schema(plain({**schema, "title": format_name(name)}))
        config: dict[str, Any] = {"format": {"type": "json_schema", "schema": wanted}}
        if self._spec.effort:
            config["effort"] = self._spec.effort
        return cast("OutputConfigParam", config)

    def _read(self, response: object) -> SdkReply:
        """The reply in *response*, whatever its stop reason."""
        if getattr(response, "type", None) != "message":
            raise self._translator.not_our_api(response)
        blocks = getattr(response, "content", None) or ()
        text = "".join(str(getattr(block, "text", "") or "") for block in blocks if getattr(block, "type", None) == "text")
        stop = str(getattr(response, "stop_reason", None) or "end_turn")
        usage, cache_write = _usage(getattr(response, "usage", None))
        category = getattr(getattr(response, "stop_details", None), "category", None)
        return SdkReply(
            text=text,
            model=str(getattr(response, "model", "") or ""),
            usage=usage,
            finish_reason=stop,
            outcome="refused" if stop == "refusal" else "truncated" if stop in _CUT else "answered",
            note=str(category) if stop == "refusal" and category else stop if stop in _CUT else "",
            cache_write=cache_write,
        )


def _usage(usage: object) -> tuple[TokenUsage, int]:
    """Token usage and tokens written to the cache. This API counts cached and written tokens beside ``input_tokens``."""
    fresh = as_count(getattr(usage, "input_tokens", None))
    cached = as_count(getattr(usage, "cache_read_input_tokens", None))
    written = as_count(getattr(usage, "cache_creation_input_tokens", None))
    counted = TokenUsage(input=fresh + cached + written, cached=cached, output=as_count(getattr(usage, "output_tokens", None)))
    return counted, written
