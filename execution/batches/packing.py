"""A wave into batches: as many requests each as the provider takes, by number and by bytes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from piiloom.corpus.store.batches import BatchRow
from piiloom.execution.batches.asks import Ask
from piiloom.foundation.errors import ProviderError
from piiloom.providers.batch_api import BatchApi, BatchRequest, custom_id
from piiloom.providers.errors import InvalidRequest

# What wraps the requests of a batch (brackets, a form's headers) takes far less.
_WRAPPING_BYTES = 4096
# Making a request takes a fraction of a millisecond; with fifty thousand of them the loop has other things to do meanwhile.
_BETWEEN_TURNS = 50


def new_batch_id() -> str:
    """Make an id that no other batch has, in this store or at the provider. It suits as the beginning of request ids."""
    return f"piiloom-{uuid.uuid4().hex[:20]}"


@dataclass(slots=True, kw_only=True)
class Package:
    """The requests of one batch and the asks they are for, by request id. ``refused`` are asks that cannot be sent."""

    batch_id: str = field(default_factory=new_batch_id)
    asks: dict[str, Ask] = field(default_factory=dict)
    requests: list[BatchRequest] = field(default_factory=list)
    refused: list[tuple[Ask, ProviderError]] = field(default_factory=list)
    size: int = _WRAPPING_BYTES

    def row(self, api: BatchApi, run_id: str) -> BatchRow:
        """Make the row of the batch before its provider has heard of it."""
        return BatchRow(
            id=self.batch_id,
            run_id=run_id,
            provider=api.name,
            endpoint=api.endpoint,
            model=api.model,
            remote_id=None,
            state="preparing",
            requests=len(self.asks),
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )


class Packer:
    """Packs asks for *api*. ``most`` is the largest number of requests that one batch is given."""

    def __init__(self, api: BatchApi) -> None:
        self.most = api.limits.requests
        self._api = api

    async def packed(self, parked: dict[str, Ask]) -> AsyncGenerator[Package, None]:
        """Take all asks out of *parked*, package by package; each is made when the one before it has been dealt with."""
        package = Package()
        for number, key in enumerate(list(parked)):
            if number % _BETWEEN_TURNS == 0:
                await asyncio.sleep(0)
            ask = parked.get(key)
            if ask is None:  # withdrawn meanwhile
                continue
            try:
                request, size = self._request(package, ask)
            except ProviderError as error:
                del parked[key]
                package.refused.append((ask, error))
                continue
            if package.asks and (len(package.asks) >= self.most or package.size + size > self._api.limits.bytes):
                yield package
                package = Package()
                if parked.get(key) is not ask:
                    continue
                request, size = self._request(package, ask)
            del parked[key]
            package.asks[request.custom_id] = ask
            package.requests.append(request)
            package.size += size
        if package.asks or package.refused:
            yield package

    def _request(self, package: Package, ask: Ask) -> tuple[BatchRequest, int]:
        """The request of *ask* in *package*, and its size; raises ``InvalidRequest`` for what no batch can hold."""
        assert ask.request is not None  # noqa: S101 - only what this sitting asks for is parked
        try:
            body = self._api.body(ask.request.call, ask.request.messages)
            request = BatchRequest(custom_id=custom_id(package.batch_id, len(package.asks)), body=body)
            size = self._api.size(request)
        except ValueError:  # a lone surrogate, say; the error itself would quote the prompt
            raise InvalidRequest(f"{self._api.name}: the prompt cannot be written as JSON", where=self._api.endpoint) from None
        if size + _WRAPPING_BYTES > self._api.limits.bytes:
            raise InvalidRequest(f"{self._api.name}: the request is larger than a whole batch may be", where=self._api.endpoint)
        return request, size
