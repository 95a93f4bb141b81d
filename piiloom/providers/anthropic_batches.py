"""Anthropic's Message Batches API: requests are sent in one body, results come back as a stream of lines in any order.

The API has no batch metadata, so our batch id is part of the custom ids of the requests. Those can be read only from the
results, once the batch has ended. Until then a running batch of the right size and time may or may not be ours.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

import anthropic
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse
from anthropic.types.messages.batch_create_params import Request

from piiloom.providers.anthropic_api import AnthropicProvider
from piiloom.providers.batch_api import (
    TRANSFER_TIMEOUT_S,
    BatchLimits,
    BatchRequest,
    BatchResult,
    BatchUnknown,
    RemoteBatch,
    Sighting,
    belongs_to,
    completion_of,
    encoded,
    guarded_reading,
)
from piiloom.providers.errors import InvalidRequest
from piiloom.providers.protocol import Completion, Message, PromptCall
from piiloom.providers.sdk_errors import ServerFault, read_error_body

T = TypeVar("T")

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


class AnthropicBatches:
    """``BatchApi`` for Anthropic: the batches of *provider*'s workspace, for its model."""

    def __init__(self, provider: AnthropicProvider, limits: BatchLimits = LIMITS) -> None:
        self.name, self.endpoint, self.model = provider.name, provider.endpoint, provider.model
        self.limits = limits
        self._provider = provider
        self._batches = provider.client.messages.batches

    def body(self, call: PromptCall, messages: Sequence[Message]) -> Mapping[str, Any]:
        """Return the request body for *call*; raises ``InvalidRequest`` if it cannot be sent."""
        return self._provider.request_body(call, messages)

    def size(self, request: BatchRequest) -> int:
        """Return how many bytes *request* adds to the body of its batch (its JSON and a comma)."""
        return len(encoded(_entry(request))) + 1

    async def create(self, batch_id: str, requests: Sequence[BatchRequest]) -> RemoteBatch:  # noqa: ARG002 - their ids carry it
        """Submit *requests*. Their ids, made by ``custom_id``, already contain our batch id."""
        entries = cast("list[Request]", [_entry(request) for request in requests])
        made = self._batches.create(requests=entries, timeout=TRANSFER_TIMEOUT_S)
        return _read(await self._guarded(made, TRANSFER_TIMEOUT_S))

    async def find(self, batch_id: str, *, requests: int, since: datetime, known: Collection[str]) -> Sighting:
        """Search for the batch among those with *requests* requests that were created after *since* and are not in *known*.

        Ended batches are identified by the custom id of their first result. Running ones are counted as ``unsure``.
        """
        return await guarded_reading(self._provider, self._search(batch_id, requests, since, known))

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
                return Sighting(batch=_read(batch))
        return Sighting(unsure=unsure)

    async def _is_ours(self, remote_id: str, batch_id: str) -> bool:
        lines = await self._batches.results(remote_id, timeout=TRANSFER_TIMEOUT_S)
        try:
            async for line in lines:
                return belongs_to(batch_id, line.custom_id)
            return False
        finally:
            await lines.close()

    async def look_up(self, remote_id: str) -> RemoteBatch:
        """Return the current state of the batch; raises ``BatchUnknown`` if the workspace has none with this id."""
        return _read(await self._guarded(self._known(self._batches.retrieve(remote_id), remote_id)))

    async def cancel(self, remote_id: str) -> RemoteBatch:
        """Cancel the batch; does nothing if it has ended or is being cancelled."""
        before = await self.look_up(remote_id)
        if before.state != "working" or before.cancelled:
            return before
        try:
            return _read(await self._guarded(self._known(self._batches.cancel(remote_id), remote_id)))
        except InvalidRequest:
            return await self.look_up(remote_id)  # the batch ended between the two requests

    async def results(self, batch: RemoteBatch) -> AsyncGenerator[BatchResult, None]:
        """Yield the results of a batch that has ended, in any order; raises ``BatchUnknown`` if they are no longer kept."""
        if not batch.files:
            raise BatchUnknown(f"{self.name}: the results of {batch.id} are not kept any longer", where=self.endpoint)
        opened = self._known(self._batches.results(batch.id, timeout=TRANSFER_TIMEOUT_S), batch.id)
        stream = await self._guarded(opened, TRANSFER_TIMEOUT_S)
        lines = aiter(stream)
        try:
            while (line := await guarded_reading(self._provider, anext(lines, None))) is not None:
                yield _result(line)
        finally:
            await stream.close()

    def read(self, result: BatchResult, call: PromptCall | None, *, latency_s: float) -> Completion:
        """Return the completion in *result*, at batch prices; raise a ``ProviderError`` if the request failed."""
        return completion_of(self._provider, result, call, latency_s=latency_s)

    async def _known(self, work: Awaitable[T], name: str) -> T:
        """Await *work*; raise ``BatchUnknown`` on a 404: *name* does not exist, no longer exists, or is not visible to this key."""
        try:
            return await work
        except anthropic.NotFoundError:
            pass
        raise BatchUnknown(f"{self.name}: there is no {name} at this endpoint for this key", where=self.endpoint)

    async def _guarded(self, work: Awaitable[T], timeout_s: float | None = None) -> T:
        return await self._provider.guarded(work, timeout_s=timeout_s)


def _entry(request: BatchRequest) -> dict[str, Any]:
    return {"custom_id": request.custom_id, "params": request.body}


def _total(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired


def _read(batch: MessageBatch) -> RemoteBatch:
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
