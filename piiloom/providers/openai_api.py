"""OpenAI's Responses API (``POST /v1/responses``) with structured output in strict mode, and its Batch API.

Sampling parameters are sent only if the user set them, because the newest models refuse them while reasoning. ``store`` is off,
so that OpenAI keeps no copy for retrieval.

For a batch, a file of requests is uploaded, a batch is created from it, and the results are downloaded as files. Replies are in the output
file and errors in the error file, both in any order. After expiry or cancellation both hold what was finished; a request in neither was not
processed. Our batch id is stored in the batch's metadata.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

import openai
from openai.types import Batch

from piiloom.providers.batch_api import (
    TRANSFER_TIMEOUT_S,
    BatchApi,
    BatchFault,
    BatchLimits,
    BatchRequest,
    BatchResult,
    Fate,
    RemoteBatch,
    Sighting,
    encoded,
)
from piiloom.providers.errors import BudgetExceeded, InvalidRequest, NotServed, ProviderUnavailable, RateLimited
from piiloom.providers.protocol import JsonSchema, Message, PromptCall, TokenUsage
from piiloom.providers.replies import SchemaCache, format_name, strict_schema
from piiloom.providers.sampling import with_sampling
from piiloom.providers.sdk_errors import ServerFault, read_error_body
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
    failure = openai.OpenAIError
    http_class = openai.DefaultAsyncHttpxClient
    sdk = openai.AsyncOpenAI

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


# https://developers.openai.com/api/docs/guides/batch: 50,000 requests and 200 MB a file.
LIMITS = BatchLimits(requests=50_000, bytes=200_000_000)
_URL: Literal["/v1/responses"] = "/v1/responses"
_OUR_ID = "piiloom_batch"
_PAGE = 100
_WORKING = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
# Error codes of a batch that was refused because the account has too many tokens queued.
_QUEUE_FULL = frozenset({"token_limit_exceeded", "request_limit_exceeded", "rate_limit_exceeded"})
_NO_MODEL = "model_not_found"
_NO_MONEY = frozenset({"billing_hard_limit_reached", "insufficient_quota", "billing_not_active"})
# Error codes of single requests in a batch that ended early.
_FATES: Mapping[str, Fate] = {"batch_expired": "expired", "batch_cancelled": "cancelled"}


class OpenAIBatches(BatchApi):
    """``BatchApi`` for OpenAI: the batches of *provider*'s account, for its model."""

    limits = LIMITS
    _not_found = openai.NotFoundError

    def __init__(self, provider: OpenAIProvider, limits: BatchLimits | None = None) -> None:
        super().__init__(provider, limits)
        self._batches, self._files = provider.client.batches, provider.client.files

    def size(self, request: BatchRequest) -> int:
        """Return how many bytes *request* adds to the file of its batch."""
        return len(self._line(request))

    async def create(self, batch_id: str, requests: Sequence[BatchRequest]) -> RemoteBatch:
        """Upload *requests* and create the batch, with our id *batch_id* in its metadata."""
        data = b"".join(self._line(request) for request in requests)
        upload = self._files.create(file=(f"{batch_id}.jsonl", data), purpose="batch", timeout=TRANSFER_TIMEOUT_S)
        file = await self._asked(upload, timeout_s=TRANSFER_TIMEOUT_S)
        made = self._batches.create(input_file_id=file.id, endpoint=_URL, completion_window="24h", metadata={_OUR_ID: batch_id})
        return self._read(await self._asked(made))

    async def find(self, batch_id: str, *, requests: int, since: datetime, known: Collection[str]) -> Sighting:  # noqa: ARG002 - the protocol's
        """Search for the batch with *batch_id* in its metadata, among those created after *since*."""

        async def search() -> Sighting:
            async for batch in self._batches.list(limit=_PAGE):
                if (batch.metadata or {}).get(_OUR_ID) == batch_id:
                    return Sighting(batch=self._read(batch))
                if batch.created_at < since.timestamp():
                    break
            return Sighting()

        return await self._asked(search(), timeout_s=TRANSFER_TIMEOUT_S)

    async def results(self, batch: RemoteBatch) -> AsyncGenerator[BatchResult, None]:
        """Yield the results of a batch that has ended, in any order; some requests may have none."""
        for file in batch.files:
            async for line in self._lines(file):
                yield _result(line)

    def _line(self, request: BatchRequest) -> bytes:
        return encoded({"custom_id": request.custom_id, "method": "POST", "url": _URL, "body": request.body}) + b"\n"

    async def _lines(self, file: str) -> AsyncIterator[Mapping[str, Any]]:
        r"""Yield the parsed JSON lines of a result file.

        Lines are split at ``\n`` here, because the SDK also splits at characters that may occur inside a JSON string.
        """
        rest = b""
        async for chunk in self._chunks(file):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in self._parsed(whole):
                yield line
        for line in self._parsed([rest], last=True):
            yield line

    def _parsed(self, found: Sequence[bytes], *, last: bool = False) -> Iterator[Mapping[str, Any]]:
        for line in found:
            if line.strip():
                try:
                    value = json.loads(line)
                except ValueError:
                    if last:
                        raise self._provider.translator.unavailable("a result file was cut short") from None
                    continue  # the line cannot be assigned to a request, which then has no result
                yield value

    async def _chunks(self, file: str) -> AsyncIterator[bytes]:
        content = self._files.with_streaming_response.content(file, timeout=TRANSFER_TIMEOUT_S)
        response = await self._asked(content.__aenter__(), file, timeout_s=TRANSFER_TIMEOUT_S)
        try:
            chunks = response.iter_bytes(1 << 20)
            while (chunk := await self._streamed(anext(chunks, b""))) != b"":
                yield chunk
        finally:
            await content.__aexit__(None, None, None)

    def _read(self, batch: Batch) -> RemoteBatch:
        """Convert the SDK's *batch*. Fields may be missing, because servers that imitate the API omit many."""
        status = str(batch.status)
        counts = batch.request_counts
        files = tuple(file for file in (batch.output_file_id, batch.error_file_id) if file)
        failed = status == "failed" and not files
        return RemoteBatch(
            id=batch.id,
            state="working" if status in _WORKING else "refused" if failed else "ended",
            total=counts.total if counts else 0,
            done=(counts.completed + counts.failed) if counts else 0,
            cancelled=status in {"cancelling", "cancelled"},
            cut_short=status in {"cancelled", "expired"},
            files=files,
            fault=self._fault(batch) if failed else None,
        )

    def _fault(self, batch: Batch) -> BatchFault:
        """Return why *batch* was refused. The server's messages are not shown, because they may quote a request."""
        errors = (batch.errors.data if batch.errors else None) or []
        code = next((error.code for error in errors if error.code), "") or "unknown"
        lines = tuple(sorted({error.line for error in errors if error.line}))
        message = f"{self.name}: the batch was refused ({code})"
        remedy = "Check the model and its settings, and whether the model can be used in batches"
        error = BudgetExceeded if code in _NO_MONEY else NotServed if code == _NO_MODEL else InvalidRequest
        return BatchFault(code=code, error=error(message, where=self.endpoint, remedy=remedy), lines=lines, queue_full=code in _QUEUE_FULL)


def _result(line: Mapping[str, Any]) -> BatchResult:
    """Convert one line of an output or error file."""
    custom_id = str(part(line, "custom_id") or "")
    response, error = part(line, "response"), part(line, "error")
    status, body = part(response, "status_code"), part(response, "body")
    if error is None and isinstance(status, int) and 200 <= status < 300:
        return BatchResult(custom_id=custom_id, fate="answered", body=body)
    code, message = read_error_body(error if error is not None else body)
    if code in _FATES:
        return BatchResult(custom_id=custom_id, fate=_FATES[code])
    # A line without a status, or with status 0, is a failure inside the batch service.
    fault = ServerFault(status=status if isinstance(status, int) and status >= 400 else 500, code=code, message=message)
    return BatchResult(custom_id=custom_id, fate="errored", fault=fault)
