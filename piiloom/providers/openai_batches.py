"""OpenAI's Batch API: a file of requests is uploaded, a batch is created from it, and the results are downloaded as files.

Replies are in the output file and errors in the error file, both in any order. After expiry or cancellation both hold what was
finished; a request in neither was not processed. Our batch id is stored in the batch's metadata.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeVar

import openai
from openai.types import Batch

from piiloom.providers.batch_api import (
    TRANSFER_TIMEOUT_S,
    BatchFault,
    BatchLimits,
    BatchRequest,
    BatchResult,
    BatchUnknown,
    Fate,
    RemoteBatch,
    Sighting,
    completion_of,
    encoded,
    guarded_reading,
)
from piiloom.providers.errors import BudgetExceeded, InvalidRequest, NotServed
from piiloom.providers.openai_api import OpenAIProvider
from piiloom.providers.protocol import Completion, Message, PromptCall
from piiloom.providers.sdk_errors import ServerFault, read_error_body
from piiloom.providers.sdk_provider import part

T = TypeVar("T")

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


class OpenAIBatches:
    """``BatchApi`` for OpenAI: the batches of *provider*'s account, for its model."""

    def __init__(self, provider: OpenAIProvider, limits: BatchLimits = LIMITS) -> None:
        self.name, self.endpoint, self.model = provider.name, provider.endpoint, provider.model
        self.limits = limits
        self._provider = provider
        self._client = provider.client

    def body(self, call: PromptCall, messages: Sequence[Message]) -> Mapping[str, Any]:
        """Return the request body for *call*; raises ``InvalidRequest`` if it cannot be sent."""
        return self._provider.request_body(call, messages)

    def size(self, request: BatchRequest) -> int:
        """Return how many bytes *request* adds to the file of its batch."""
        return len(self._line(request))

    async def create(self, batch_id: str, requests: Sequence[BatchRequest]) -> RemoteBatch:
        """Upload *requests* and create the batch, with our id *batch_id* in its metadata."""
        data = b"".join(self._line(request) for request in requests)
        upload = self._client.files.create(file=(f"{batch_id}.jsonl", data), purpose="batch", timeout=TRANSFER_TIMEOUT_S)
        file = await self._guarded(upload, TRANSFER_TIMEOUT_S)
        made = self._client.batches.create(input_file_id=file.id, endpoint=_URL, completion_window="24h", metadata={_OUR_ID: batch_id})
        return self._read(await self._guarded(made))

    async def find(self, batch_id: str, *, requests: int, since: datetime, known: Collection[str]) -> Sighting:  # noqa: ARG002 - the protocol's
        """Search for the batch with *batch_id* in its metadata, among those created after *since*."""

        async def search() -> Batch | None:
            async for batch in self._client.batches.list(limit=_PAGE):
                if (batch.metadata or {}).get(_OUR_ID) == batch_id:
                    return batch
                if batch.created_at < since.timestamp():
                    return None
            return None

        found = await self._guarded(search(), TRANSFER_TIMEOUT_S)
        return Sighting(batch=None if found is None else self._read(found))

    async def look_up(self, remote_id: str) -> RemoteBatch:
        """Return the current state of the batch; raises ``BatchUnknown`` if the account has none with this id."""
        return self._read(await self._guarded(self._known(self._client.batches.retrieve(remote_id), remote_id)))

    async def cancel(self, remote_id: str) -> RemoteBatch:
        """Cancel the batch, which takes OpenAI up to ten minutes; does nothing if it has ended or is being cancelled."""
        before = await self.look_up(remote_id)
        if before.state != "working" or before.cancelled:
            return before
        try:
            return self._read(await self._guarded(self._known(self._client.batches.cancel(remote_id), remote_id)))
        except InvalidRequest:
            return await self.look_up(remote_id)  # the batch ended between the two requests

    async def results(self, batch: RemoteBatch) -> AsyncGenerator[BatchResult, None]:
        """Yield the results of a batch that has ended, in any order; some requests may have none."""
        for file in batch.files:
            async for line in self._lines(file):
                yield _result(line)

    def read(self, result: BatchResult, call: PromptCall | None, *, latency_s: float) -> Completion:
        """Return the completion in *result*, at batch prices; raise a ``ProviderError`` if the request failed."""
        return completion_of(self._provider, result, call, latency_s=latency_s)

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
        content = self._client.files.with_streaming_response.content(file, timeout=TRANSFER_TIMEOUT_S)
        response = await self._guarded(self._known(content.__aenter__(), file), TRANSFER_TIMEOUT_S)
        try:
            chunks = response.iter_bytes(1 << 20)
            while (chunk := await guarded_reading(self._provider, anext(chunks, b""))) != b"":
                yield chunk
        finally:
            await content.__aexit__(None, None, None)

    async def _known(self, work: Awaitable[T], name: str) -> T:
        """Await *work*; raise ``BatchUnknown`` on a 404: *name* does not exist, no longer exists, or is not visible to this key."""
        try:
            return await work
        except openai.NotFoundError:
            pass
        raise BatchUnknown(f"{self.name}: there is no {name} at this endpoint for this key", where=self.endpoint)

    async def _guarded(self, work: Awaitable[T], timeout_s: float | None = None) -> T:
        return await self._provider.guarded(work, timeout_s=timeout_s)

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
