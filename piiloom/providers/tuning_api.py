"""Interface to a vendor's fine-tuning jobs: files are uploaded, a job is made of them, and it ends with a model.

A file can be found again by its name, and a job by our own id in its metadata, if the answer to the request that made it was lost.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from piiloom.foundation.errors import ProviderError

FileState = Literal["uploaded", "processed", "error"]
# How far a job is, whatever a server calls it.
Stage = Literal["working", "paused", "succeeded", "failed", "cancelled"]


class TuningUnknown(ProviderError):
    """The server has no such job or file, or does not show it to this key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """An uploaded file. ``note``: what the server says of a file with an error."""

    id: str
    name: str
    bytes: int
    state: FileState
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What a job is made of. ``label`` is our own id, by which it is found again. None leaves a choice to the server."""

    label: str
    model: str
    training_file: str
    validation_file: str | None = None
    suffix: str | None = None
    seed: int | None = None
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFault:
    """Why a job failed: the server's code, the parameter at fault, and its message, which may quote the data."""

    code: str
    message: str
    parameter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteJob:
    """A job as its server describes it.

    ``status`` is the server's word and ``stage`` what it means. ``trained_tokens`` are those that are billed, and ``epochs`` the number
    that was chosen, once they are known. Times are seconds since 1970.
    """

    id: str
    status: str
    stage: Stage
    model: str
    created_at: int = 0
    label: str | None = None
    training_file: str = ""
    tuned_model: str | None = None
    trained_tokens: int | None = None
    epochs: int | None = None
    expected_end: int | None = None
    result_files: tuple[str, ...] = ()
    fault: JobFault | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing will change any more."""
        return self.stage in {"succeeded", "failed", "cancelled"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """A message about a job. ``metrics`` are numbers of a training step (``step``, ``train_loss`` …), if it has any."""

    id: str
    at: int
    level: str
    message: str
    metrics: tuple[tuple[str, float], ...] = ()


class TuningApi(Protocol):
    """The fine-tuning jobs of one account. All methods may raise ``TuningUnknown`` and the errors in ``piiloom.providers.errors``."""

    name: str
    endpoint: str

    async def upload(self, name: str, data: bytes) -> RemoteFile:
        """Upload a file of training or validation rows as *name*."""
        ...

    async def find_file(self, name: str, size: int) -> RemoteFile | None:
        """Return the newest file called *name* with *size* bytes and no error; None if there is none."""
        ...

    async def look_up_file(self, file_id: str) -> RemoteFile:
        """Return the current state of a file."""
        ...

    async def delete_file(self, file_id: str) -> None:
        """Delete a file; does nothing if it is gone."""
        ...

    async def create(self, request: JobRequest) -> RemoteJob:
        """Make a job."""
        ...

    async def find_jobs(self, request: JobRequest, since: float) -> list[RemoteJob]:
        """Return the jobs made by *request*, at most one but for faults of the server, the oldest first.

        They bear its label. A job without any metadata counts if it trains the same file and was made after *since*.
        """
        ...

    async def list_jobs(self, limit: int) -> list[RemoteJob]:
        """Return the newest *limit* jobs of the account."""
        ...

    async def look_up(self, job_id: str) -> RemoteJob:
        """Return the current state of a job."""
        ...

    async def events(self, job_id: str, known: Collection[str]) -> list[JobEvent]:
        """Return the events of a job whose ids are not *known*, the oldest first."""
        ...

    async def cancel(self, job_id: str) -> RemoteJob:
        """Cancel a job; does nothing if it has ended."""
        ...

    async def unpause(self, job_id: str) -> RemoteJob:
        """Let a paused job go on."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
