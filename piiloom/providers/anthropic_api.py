"""Anthropic's Messages API (``POST /v1/messages``) with structured output through ``output_config``, and its Message Batches API.

The system prompt is sent apart from the messages. This API has no temperature and top_p; they are refused before a run starts.
A server that refuses ``output_config``, as gateways with the API of an earlier year do, gets the schema in the system text.

Requests of a batch are sent in one body, results come back as a stream of lines in any order. The API has no batch metadata, so our batch
id is part of the custom ids of the requests. Those can be read only from the results, once the batch has ended. Until then a running batch
of the right size and time may or may not be ours.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import anthropic
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

from piiloom.providers.batch_api import (
    TRANSFER_TIMEOUT_S,
    BatchApi,
    BatchLimits,
    BatchRequest,
    BatchResult,
    BatchUnknown,
    RemoteBatch,
    Sighting,
    belongs_to,
    encoded,
)
from piiloom.providers.protocol import JsonSchema, Message, PromptCall, TokenUsage
from piiloom.providers.replies import SchemaCache, as_json_types, format_name, schema_instruction
from piiloom.providers.sampling import with_sampling
from piiloom.providers.sdk_errors import ServerFault, is_certain, read_error_body
from piiloom.providers.sdk_provider import SdkOptions, SdkProvider, SdkReply, as_count, part, parts

_CUT = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn"})
# Words in an error message that mean that the server does not have the field ``output_config``, or a model for it.
_UNKNOWN_FIELD_SIGNS = ("output_config", "extra inputs are not permitted", "extra_forbidden", "unknown field", "unrecognized field")


class AnthropicProvider(SdkProvider[anthropic.AsyncAnthropic]):
    """Anthropic's models through its own SDK. ``structured``: the server takes ``output_config``, as far as known."""

    name = "anthropic"
    path = "/v1/messages"
    failure = anthropic.AnthropicError
    http_class = anthropic.DefaultAsyncHttpxClient
    sdk = anthropic.AsyncAnthropic

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


# https://platform.claude.com/docs/en/build-with-claude/batch-processing: 100,000 requests or 256 MB a batch.
LIMITS = BatchLimits(requests=100_000, bytes=256_000_000)
_PAGE = 100
# Error type in a batch result -> the HTTP status that a single call would have failed with.
_STATUS: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class AnthropicBatches(BatchApi):
    """``BatchApi`` for Anthropic: the batches of *provider*'s workspace, for its model."""

    limits = LIMITS
    _not_found = anthropic.NotFoundError

    def __init__(self, provider: AnthropicProvider, limits: BatchLimits | None = None) -> None:
        super().__init__(provider, limits)
        self._batches = provider.client.messages.batches

    def size(self, request: BatchRequest) -> int:
        """Return how many bytes *request* adds to the body of its batch (its JSON and a comma)."""
        return len(encoded(_entry(request))) + 1

    async def create(self, batch_id: str, requests: Sequence[BatchRequest]) -> RemoteBatch:  # noqa: ARG002 - their ids carry it
        """Submit *requests*. Their ids, made by ``custom_id``, already contain our batch id."""
        made = self._batches.create(requests=[_entry(request) for request in requests], timeout=TRANSFER_TIMEOUT_S)
        return self._read(await self._asked(made, timeout_s=TRANSFER_TIMEOUT_S))

    async def find(self, batch_id: str, *, requests: int, since: datetime, known: Collection[str]) -> Sighting:
        """Search for the batch among those with *requests* requests that were created after *since* and are not in *known*.

        Ended batches are identified by the custom id of their first result. Running ones are counted as ``unsure``.
        """
        return await self._streamed(self._search(batch_id, requests, since, known))

    async def _search(self, batch_id: str, requests: int, since: datetime, known: Collection[str]) -> Sighting:
        unsure = 0
        async for batch in self._batches.list(limit=_PAGE):
            if batch.created_at < since:
                break
            if batch.id in known or _total(batch) != requests:
                continue
            if batch.processing_status != "ended":
                unsure += 1
            elif batch.results_url and await self._is_ours(batch.id, batch_id):
                return Sighting(batch=self._read(batch))
        return Sighting(unsure=unsure)

    async def _is_ours(self, remote_id: str, batch_id: str) -> bool:
        lines = await self._batches.results(remote_id, timeout=TRANSFER_TIMEOUT_S)
        try:
            async for line in lines:
                return belongs_to(batch_id, line.custom_id)
            return False
        finally:
            await lines.close()

    async def results(self, batch: RemoteBatch) -> AsyncGenerator[BatchResult, None]:
        """Yield the results of a batch that has ended, in any order; raises ``BatchUnknown`` if they are no longer kept."""
        if not batch.files:
            raise BatchUnknown(f"{self.name}: the results of {batch.id} are not kept any longer", where=self.endpoint)
        opened = self._batches.results(batch.id, timeout=TRANSFER_TIMEOUT_S)
        stream = await self._asked(opened, batch.id, timeout_s=TRANSFER_TIMEOUT_S)
        lines = aiter(stream)
        try:
            while (line := await self._streamed(anext(lines, None))) is not None:
                yield _result(line)
        finally:
            await stream.close()

    def _read(self, batch: MessageBatch) -> RemoteBatch:
        """Convert the SDK's *batch*."""
        counts = batch.request_counts
        return RemoteBatch(
            id=batch.id,
            state="ended" if batch.processing_status == "ended" else "working",
            total=_total(batch),
            done=counts.succeeded + counts.errored,
            cancelled=batch.cancel_initiated_at is not None,
            cut_short=counts.canceled + counts.expired > 0,
            files=(batch.results_url,) if batch.results_url else (),
        )


def _entry(request: BatchRequest) -> dict[str, Any]:
    return {"custom_id": request.custom_id, "params": request.body}


def _total(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired


def _result(line: MessageBatchIndividualResponse) -> BatchResult:
    """Convert one line of the results."""
    found = line.result
    if found.type == "succeeded":
        return BatchResult(custom_id=line.custom_id, fate="answered", body=found.message.to_dict(mode="json"))
    if found.type == "errored":
        code, message = read_error_body(found.error.to_dict(mode="json"))
        return BatchResult(
            custom_id=line.custom_id, fate="errored", fault=ServerFault(status=_STATUS.get(code, 500), code=code, message=message)
        )
    return BatchResult(custom_id=line.custom_id, fate="expired" if found.type == "expired" else "cancelled")
