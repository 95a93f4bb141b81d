"""Anthropic's Messages API (``POST /v1/messages``) with structured output through ``output_config``.

The system prompt is sent apart from the messages. This API has no temperature and top_p; they are refused before a run starts.
A server that refuses ``output_config``, as gateways with the API of an earlier year do, gets the schema in the system text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anthropic
import httpx2

from piiloom.providers.chat_dialects import is_certain, schema_instruction
from piiloom.providers.protocol import JsonSchema, Message, PromptCall, TokenUsage
from piiloom.providers.replies import SchemaCache, as_json_types, format_name
from piiloom.providers.sampling import with_sampling
from piiloom.providers.sdk_errors import read_error_body
from piiloom.providers.sdk_provider import SdkOptions, SdkProvider, SdkReply, as_count, part, parts

_CUT = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn"})
# Words in an error message that mean that the server does not have the field ``output_config``, or a model for it.
_UNKNOWN_FIELD_SIGNS = ("output_config", "extra inputs are not permitted", "extra_forbidden", "unknown field", "unrecognized field")


class AnthropicProvider(SdkProvider[anthropic.AsyncAnthropic]):
    """Anthropic's models through its own SDK. ``structured``: the server takes ``output_config``, as far as known."""

    name = "anthropic"
    path = "/v1/messages"

    def __init__(self, options: SdkOptions) -> None:
        super().__init__(options)
        self.structured = True
        self._output_config = SchemaCache(self._output_config_of)

    def request_body(self, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        """Return the body of ``POST /v1/messages``.

        The system prompt is marked for caching, because all calls of a template share it.
        """
        return self._body(call, messages, structured=self.structured)

    def _body(self, call: PromptCall, messages: Sequence[Message], *, structured: bool) -> dict[str, Any]:
        system = [message.content for message in messages if message.role == "system"]
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages if message.role != "system"],
            "max_tokens": self.spec.output_limit(call.settings.max_output_tokens),
        }
        if call.schema is not None and not structured:
            system.append(schema_instruction(call.schema_name, call.schema))
        elif call.schema is not None:
            body["output_config"] = self._output_config(call.schema_name, call.schema)
        elif self.spec.effort and structured:
            body["output_config"] = {"effort": self.spec.effort}
        if system:
            body["system"] = [{"type": "text", "text": "\n\n".join(system), "cache_control": {"type": "ephemeral"}}]
        if self.spec.thinking:
            body["thinking"] = {"type": self.spec.thinking}
        return with_sampling(body, call.settings)

    def read_body(self, body: object) -> SdkReply:
        """Return the reply in *body*, whatever its stop reason; raises ``InvalidRequest`` if it is no response of this API."""
        if part(body, "type") != "message":
            raise self.translator.not_our_api(body)
        text = "".join(str(part(block, "text") or "") for block in parts(body, "content") if part(block, "type") == "text")
        stop = str(part(body, "stop_reason") or "end_turn")
        category = part(part(body, "stop_details"), "category")
        return SdkReply(
            text=text,
            model=str(part(body, "model") or ""),
            usage=_usage(part(body, "usage")),
            finish_reason=stop,
            outcome="refused" if stop == "refusal" else "truncated" if stop in _CUT else "answered",
            note=str(category) if stop == "refusal" and category else stop if stop in _CUT else "",
        )

    async def _ask(self, call: PromptCall, messages: Sequence[Message]) -> SdkReply:
        body = self.request_body(call, messages)
        try:
            return await self._post(body)
        except anthropic.APIStatusError as error:
            said = ": ".join(read_error_body(error.body)).casefold()
            named = any(sign in said for sign in _UNKNOWN_FIELD_SIGNS)
            if "output_config" not in body or not is_certain(error.status_code) or not named:
                raise
        reply = await self._post(self._body(call, messages, structured=False))
        self.structured = False  # the error may have been about another field: only a reply shows that it was about this one
        return reply

    @property
    def _failure(self) -> type[Exception]:
        return anthropic.AnthropicError

    def _connect(self, **options: Any) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(**options)

    @property
    def _http_class(self) -> type[httpx2.AsyncClient]:
        return anthropic.DefaultAsyncHttpxClient

    async def _look_up_model(self) -> bool | None:
        await self.client.models.retrieve(self.model)
        return True

    def _output_config_of(self, name: str, schema: JsonSchema) -> Mapping[str, Any]:
        """Return the ``output_config`` for *schema*; the SDK moves constraints that the API cannot enforce into descriptions."""
        # This API has no field for the schema's name, so it is sent as the title.
        wanted = anthropic.transform_schema(as_json_types({**schema, "title": format_name(name)}))
        config: dict[str, Any] = {"format": {"type": "json_schema", "schema": wanted}}
        if self.spec.effort:
            config["effort"] = self.spec.effort
        return config


def _usage(usage: object) -> TokenUsage:
    """Return the token usage. This API does not include tokens read from or written to the cache in ``input_tokens``."""
    fresh = as_count(part(usage, "input_tokens"))
    cached = as_count(part(usage, "cache_read_input_tokens"))
    written = as_count(part(usage, "cache_creation_input_tokens"))
    return TokenUsage(input=fresh + cached + written, cached=cached, output=as_count(part(usage, "output_tokens")), cache_write=written)
