"""Batches: many requests handed over at once, answered within a day, at half the price.

What the two makers offer differs in files, limits and names; ``BatchApi`` is what ``execution`` sees of it. A batch is
found again by our own id: in its metadata at OpenAI, in the ids of its requests at Anthropic.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from piiloom.foundation.errors import ProviderError
from piiloom.providers.protocol import Completion, Message, PromptCall
from piiloom.providers.sdk_errors import ServerFault

# Uploads of hundreds of megabytes, and files of results, take longer than an answer to one call may.
TRANSFER_TIMEOUT_S = 600.0
# What our ids of requests are made of suits both makers: letters, digits and dashes, at most 64 characters.
_CUSTOM_ID_DIGITS = 6

RemoteState = Literal["working", "ended", "refused"]
Fate = Literal["answered", "errored", "expired", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """The most that one batch may hold. ``bytes`` is the size of the file or request that hands it over."""

    requests: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """One request: its id within the provider's account, and the body that would be sent for one call."""

    custom_id: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFault:
    """Why a provider refused a batch as a whole. ``lines`` are the requests at fault, counted from 1, where it names them."""

    code: str
    error: ProviderError
    lines: tuple[int, ...] = ()
    queue_full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBatch:
    """A batch as its provider describes it.

    ``state`` is "ended" as soon as results can be had, also for a batch that expired or was cancelled half-way; "refused":
    it never began, and nothing of it is billed. ``cancelled``: its early end was asked for; ``cut_short``: it ended before
    all was done, so that what has no result was not done. ``files`` name where the results are.
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
    """Whether a batch of ours exists at its provider. ``unsure``: how many others may be it, which time will tell."""

    batch: RemoteBatch | None = None
    unsure: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """What became of one request: the ``body`` of its answer, or the ``fault`` that it errored with."""

    custom_id: str
    fate: Fate
    body: object = None
    fault: ServerFault | None = None


class BatchUnknown(ProviderError):
    """The provider has no such batch, or no results of it any more."""


class BatchApi(Protocol):
    """The batches of one account, for one model. All methods raise what ``piiloom.providers.errors`` lists, and ``BatchUnknown``."""

    name: str
    endpoint: str
    model: str
    limits: BatchLimits

    def body(self, call: PromptCall, messages: Sequence[Message]) -> Mapping[str, Any]:
        """The request for *call*; raises ``InvalidRequest`` for one that cannot be sent."""
        ...

    def size(self, request: BatchRequest) -> int:
        """How many bytes *request* adds to its batch."""
        ...

    async def create(self, batch_id: str, requests: Sequence[BatchRequest]) -> RemoteBatch:
        """Hand *requests* over as the batch that we call *batch_id*."""
        ...

    async def find(self, batch_id: str, *, requests: int, since: datetime, known: Collection[str]) -> Sighting:
        """Look for the batch that we call *batch_id*, of that many requests, made after *since*; *known* ids are others."""
        ...

    async def look_up(self, remote_id: str) -> RemoteBatch:
        """The batch as it is now."""
        ...

    async def cancel(self, remote_id: str) -> RemoteBatch:
        """Have the batch end early; what was answered by then is kept and billed. Does nothing to one that has ended."""
        ...

    def results(self, batch: RemoteBatch) -> AsyncGenerator[BatchResult, None]:
        """What became of the requests of a batch that has ended, in any order; some may be missing."""
        ...

    def read(self, result: BatchResult, call: PromptCall | None, *, latency_s: float) -> Completion:
        """The completion in *result*, at batch prices; raises the ``ProviderError`` that it is otherwise.

        Without its *call* a reply is not held against the schema, and its data is None.
        """
        ...


def custom_id(batch_id: str, ordinal: int) -> str:
    """The id of request number *ordinal* (from 0) of a batch."""
    return f"{batch_id}-{ordinal:0{_CUSTOM_ID_DIGITS}d}"


def belongs_to(batch_id: str, request_id: str) -> bool:
    """Whether *request_id* is one that ``custom_id`` made for the batch."""
    return request_id.rpartition("-")[0] == batch_id
