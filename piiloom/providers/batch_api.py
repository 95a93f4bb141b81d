"""Common interface to the vendors' batch APIs: many requests submitted at once, answered within a day, at half the price.

OpenAI and Anthropic differ in file handling, limits and naming; ``BatchApi`` has what they share, and is what ``execution`` uses. A
batch can be found again by our own id, which is stored in its metadata (OpenAI) or in the ids of its requests (Anthropic). Results are read
like the replies to single calls.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeVar

from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import InvalidRequest
from piiloom.providers.protocol import Completion, PromptCall
from piiloom.providers.sdk_errors import ServerFault
from piiloom.providers.sdk_provider import SdkProvider

# Time limit of one upload or download. Files of hundreds of megabytes take longer than the time limit of a single call.
TRANSFER_TIMEOUT_S = 600.0
# Digits of the request number in a custom id. Both vendors accept letters, digits and dashes, at most 64 characters.
_CUSTOM_ID_DIGITS = 6

RemoteState = Literal["working", "ended", "refused"]
Fate = Literal["answered", "errored", "expired", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """The limits of one batch: the number of requests, and the bytes of the uploaded file or request body."""

    requests: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """One request of a batch: its id (see ``custom_id``), and the same body as for a single call."""

    custom_id: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFault:
    """Why a provider refused a whole batch.

    ``code`` is the provider's error code and ``error`` the exception to raise. ``lines`` are the 1-based numbers of the
    requests at fault, if the provider names them. ``queue_full``: the account has too much queued; try again later.
    """

    code: str
    error: ProviderError
    lines: tuple[int, ...] = ()
    queue_full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBatch:
    """A batch as its provider describes it.

    ``id`` is the provider's id. ``state`` is "working"; "ended" once results are available, also after expiry or
    cancellation; or "refused" if the batch never started and nothing is billed. ``cancelled``: cancellation was requested.
    ``cut_short``: it ended early, so requests without a result were not processed. ``files`` are the ids or URLs of the
    result files. ``fault`` is set if the batch was refused.
    """

    id: str
    state: RemoteState
    total: int = 0
    done: int = 0
    cancelled: bool = False
    cut_short: bool = False
    files: tuple[str, ...] = ()
    fault: BatchFault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """Result of ``BatchApi.find``: the batch, or None.

    ``unsure`` counts batches that may be the one looked for but cannot be identified before they end; search again later.
    """

    batch: RemoteBatch | None = None
    unsure: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """Outcome of one request: the ``body`` of the response if "answered", the ``fault`` if "errored"."""

    custom_id: str
    fate: Fate
    body: object = None
    fault: ServerFault | None = None


class BatchUnknown(ProviderError):
    """The provider does not have the batch, or no longer has its results."""


T = TypeVar("T")

_ENDED_EARLY = {"expired": "the batch expired", "cancelled": "the batch was cancelled"}


class BatchApi(ABC):
    """Batch API client for the account and the model of *provider*; *limits* None: those of the vendor.

    All methods may raise ``BatchUnknown`` and the errors in ``piiloom.providers.errors``.
    """

    limits: BatchLimits
    _batches: Any  # the part of the SDK's client that retrieves and cancels batches
    _not_found: type[Exception]  # the SDK's error for a 404

    def __init__(self, provider: SdkProvider[Any], limits: BatchLimits | None = None) -> None:
        self.name, self.endpoint, self.model = provider.name, provider.endpoint, provider.model
        self.limits = limits or self.limits
        self.body = provider.request_body
        self._provider = provider

    @abstractmethod
    def size(self, request: BatchRequest) -> int:
        """Return how many bytes *request* adds to its batch (see ``BatchLimits.bytes``)."""

    @abstractmethod
    async def create(self, batch_id: str, requests: Sequence[BatchRequest]) -> RemoteBatch:
        """Submit *requests* as one batch. *batch_id* is our own id, by which ``find`` finds the batch again."""

    @abstractmethod
    async def find(self, batch_id: str, *, requests: int, since: datetime, known: Collection[str]) -> Sighting:
        """Search the account for the batch with our id *batch_id*, for example after a crash during ``create``.

        It has *requests* requests and was created after *since*. *known* are provider ids of batches known to be other ones.
        """

    async def look_up(self, remote_id: str) -> RemoteBatch:
        """Return the current state of the batch; raises ``BatchUnknown`` if the account has none with this id."""
        return self._read(await self._asked(self._batches.retrieve(remote_id), remote_id))

    async def cancel(self, remote_id: str) -> RemoteBatch:
        """Cancel the batch, which takes some vendors minutes; requests answered so far are kept and billed.

        Does nothing if the batch has ended or is being cancelled.
        """
        before = await self.look_up(remote_id)
        if before.state != "working" or before.cancelled:
            return before
        try:
            return self._read(await self._asked(self._batches.cancel(remote_id), remote_id))
        except InvalidRequest:
            return await self.look_up(remote_id)  # the batch ended between the two requests

    @abstractmethod
    def results(self, batch: RemoteBatch) -> AsyncGenerator[BatchResult, None]:
        """Yield the results of a batch that has ended, in any order; some requests may have none."""

    def read(self, result: BatchResult, call: PromptCall | None, *, latency_s: float) -> Completion:
        """Return the completion in *result*, at batch prices; raise a ``ProviderError`` if the request failed.

        If *call* is None, the reply is not validated against a schema and ``Completion.data`` is None.
        """
        provider = self._provider
        if result.fate == "answered":
            reply = provider.read_body(result.body)
            completion = provider.completion_from(reply, call or _nobodys_call(), latency_s=latency_s, batch=True)
            return completion if call is not None else replace(completion, data=None)
        if result.fault is None:
            # Such requests are not billed.
            raise provider.translator.unavailable(f"{_ENDED_EARLY[result.fate]} before the request was answered")
        if call is None:
            # The prompt is not known here, so quotes of it in the server's message could not be removed.
            raise provider.translator.from_status(replace(result.fault, message=""), model=provider.model)
        raise provider.translator.from_status(result.fault, model=provider.model, prompt=[message.content for message in call.render()])

    @abstractmethod
    def _read(self, batch: Any) -> RemoteBatch:
        """Convert the SDK's *batch*."""

    async def _asked(self, work: Awaitable[T], name: str = "", *, timeout_s: float | None = None) -> T:
        """Await *work*, about the existing batch or file *name* if one is given."""
        return await self._provider.guarded(self._known(work, name) if name else work, timeout_s=timeout_s)

    async def _known(self, work: Awaitable[T], name: str) -> T:
        """Await *work*; raise ``BatchUnknown`` on a 404: *name* does not exist, no longer exists, or is not visible to this key."""
        try:
            return await work
        except self._not_found:
            pass
        raise BatchUnknown(f"{self.name}: there is no {name} at this endpoint for this key", where=self.endpoint)

    async def _streamed(self, work: Awaitable[T]) -> T:
        """Await one part of a streamed response.

        The SDKs do not wrap the HTTP errors of a broken stream, so these are turned into a ``ProviderUnavailable`` here.
        """
        import httpx2  # noqa: PLC0415 - the SDKs have loaded it by now; a run without batches need not import it

        try:
            return await self._asked(work, timeout_s=TRANSFER_TIMEOUT_S)
        except httpx2.HTTPError as error:
            failure = self._provider.translator.from_connection(error)
        raise failure


def custom_id(batch_id: str, ordinal: int) -> str:
    """Return the id of request number *ordinal* (0-based) of our batch *batch_id*."""
    return f"{batch_id}-{ordinal:0{_CUSTOM_ID_DIGITS}d}"


def belongs_to(batch_id: str, request_id: str) -> bool:
    """Whether *request_id* was made by ``custom_id`` for *batch_id*."""
    return request_id.rpartition("-")[0] == batch_id


def encoded(value: Mapping[str, Any]) -> bytes:
    """Encode *value* as compact JSON; raises ``UnicodeEncodeError`` for text that UTF-8 cannot encode (lone surrogates)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _nobodys_call() -> PromptCall:
    return PromptCall(stage="", template="", variables={}, render=tuple, schema_name="", schema={}, item_id="")
