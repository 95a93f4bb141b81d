"""Split a round of calls into batches within the provider's limits on requests and bytes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from piiloom.corpus.store.batches import BatchRow
from piiloom.execution.batches.batch_entries import BatchEntry
from piiloom.foundation.errors import ProviderError
from piiloom.providers.batch_api import BatchApi, BatchRequest, custom_id
from piiloom.providers.errors import InvalidRequest

# Allowance for what surrounds the requests of a batch (brackets, form headers), which takes far less.
_WRAPPING_BYTES = 4096
# Requests built before yielding to the event loop: each takes a fraction of a millisecond, but there may be fifty thousand.
_BETWEEN_TURNS = 50


def new_batch_id() -> str:
    """Return a unique batch id, for the store and the provider. The custom ids of its requests start with it."""
    return f"piiloom-{uuid.uuid4().hex[:20]}"


@dataclass(slots=True, kw_only=True)
class Package:
    """The requests of one batch and their entries, by custom id. ``refused`` are entries that no batch can hold; ``size`` is in bytes."""

    batch_id: str = field(default_factory=new_batch_id)
    entries: dict[str, BatchEntry] = field(default_factory=dict)
    requests: list[BatchRequest] = field(default_factory=list)
    refused: list[tuple[BatchEntry, ProviderError]] = field(default_factory=list)
    size: int = _WRAPPING_BYTES

    def row(self, api: BatchApi, run_id: str) -> BatchRow:
        """Build the row of the batch before it is sent to the provider."""
        return BatchRow(
            id=self.batch_id,
            run_id=run_id,
            provider=api.name,
            endpoint=api.endpoint,
            model=api.model,
            remote_id=None,
            state="preparing",
            requests=len(self.entries),
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )


class Packer:
    """Packs entries into batches for *api*. ``most`` is the maximum number of requests per batch, at first what the API allows."""

    def __init__(self, api: BatchApi) -> None:
        self.most = api.limits.requests
        self._api = api

    def shrink(self, refused: int) -> None:
        """Make batches half as large as one of *refused* requests, which was too large for the account's queue."""
        self.most = max(1, refused // 2)

    def grow(self) -> None:
        """Make batches twice as large again, up to what the API allows."""
        self.most = min(self._api.limits.requests, 2 * self.most)

    async def packed(self, parked: dict[str, BatchEntry]) -> AsyncGenerator[Package, None]:
        """Yield packages until *parked* is empty, removing its entries. Each is built only when the one before it has been handled."""
        package = Package()
        for number, key in enumerate(list(parked)):
            if number % _BETWEEN_TURNS == 0:
                await asyncio.sleep(0)
            entry = parked.get(key)
            if entry is None:  # withdrawn in the meantime
                continue
            try:
                request, size = self._request(package, entry)
            except ProviderError as error:
                del parked[key]
                package.refused.append((entry, error))
                continue
            if package.entries and (len(package.entries) >= self.most or package.size + size > self._api.limits.bytes):
                yield package
                package = Package()
                if parked.get(key) is not entry:
                    continue
                request, size = self._request(package, entry)
            del parked[key]
            package.entries[request.custom_id] = entry
            package.requests.append(request)
            package.size += size
        if package.entries or package.refused:
            yield package

    def _request(self, package: Package, entry: BatchEntry) -> tuple[BatchRequest, int]:
        """Return the request of *entry* in *package* and its size in bytes. Raises ``InvalidRequest`` if no batch can hold it."""
        assert entry.request is not None  # noqa: S101 - only calls of this session are parked
        try:
            body = self._api.body(entry.request.call, entry.request.messages)
            request = BatchRequest(custom_id=custom_id(package.batch_id, len(package.entries)), body=body)
            size = self._api.size(request)
        except ValueError:  # such as a lone surrogate; not chained, since this error would quote the prompt
            raise InvalidRequest(f"{self._api.name}: the prompt cannot be written as JSON", where=self._api.endpoint) from None
        if size + _WRAPPING_BYTES > self._api.limits.bytes:
            raise InvalidRequest(f"{self._api.name}: the request is larger than a whole batch may be", where=self._api.endpoint)
        return request, size
