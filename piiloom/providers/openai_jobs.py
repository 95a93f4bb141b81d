"""OpenAI's fine-tuning jobs: the SDK's own calls with our errors, and searches in its lists.

Servers that imitate the API leave fields out, which the SDK then reads as None. A search reads a list to its end: an overlooked job would
be made, and paid for, a second time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from openai import AsyncOpenAI
from openai.types.fine_tuning import FineTuningJob, FineTuningJobEvent

from piiloom.foundation.errors import ProviderError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.providers.batch_api import TRANSFER_TIMEOUT_S
from piiloom.providers.errors import NotServed
from piiloom.providers.factory import make_provider
from piiloom.providers.sdk_provider import SdkProvider, as_count

T = TypeVar("T")
RemoteJob: TypeAlias = FineTuningJob
LABEL: Final = "piiloom_job"  # the key of our own id in a job's metadata
ENDED: Final = frozenset({"succeeded", "failed", "cancelled"})
_PAGE: Final = 100


class TuningUnknown(ProviderError):
    """The server has no such job or file, or does not show it to this key."""


class OpenAIJobs:
    """The files and fine-tuning jobs of *provider*'s account. All methods raise the errors in ``piiloom.providers.errors``."""

    def __init__(self, provider: SdkProvider[AsyncOpenAI]) -> None:
        self.endpoint, self.name = provider.endpoint, provider.name
        self.files, self.jobs = provider.client.files, provider.client.fine_tuning.jobs
        self.present = provider.translator.redactor.presentable
        self._provider = provider

    async def ask(self, call: Awaitable[T], name: str = "", *, timeout_s: float | None = None) -> T:
        """Return the answer to *call*, one of ``files`` or ``jobs``, about the existing file or job *name*.

        Raises ``TuningUnknown`` if *name* does not exist, or is not visible to this key.
        """
        try:
            answer = await self._provider.guarded(call, timeout_s=timeout_s)
        except NotServed:
            if not name:
                raise
            problem, remedy = f"there is no {name} at this endpoint for this key", "Check that the key is one of the account that made it"
            raise TuningUnknown(f"{self.name}: {problem}", where=self.endpoint, remedy=remedy) from None
        if not getattr(answer, "id", None):
            raise self._provider.translator.not_our_api(answer)
        return answer

    async def upload(self, name: str, data: bytes) -> str:
        """Upload a file of training or validation rows as *name*, and return its id."""
        call = self.files.create(file=(name, data), purpose="fine-tune", timeout=TRANSFER_TIMEOUT_S)
        return (await self.ask(call, timeout_s=TRANSFER_TIMEOUT_S)).id

    async def find_file(self, name: str, size: int) -> str | None:
        """Return the id of the newest file called *name* with *size* bytes and no error; None if there is none."""

        async def search() -> str | None:
            async for one in self.files.list(purpose="fine-tune", order="desc"):
                if (one.filename, one.bytes) == (name, size) and str(one.status) != "error":
                    return one.id
            return None

        return await self._provider.guarded(search(), timeout_s=TRANSFER_TIMEOUT_S)

    async def create(self, label: str, request: Mapping[str, Any]) -> RemoteJob:
        """Make a job with our *label*; *request* has the arguments of the SDK's call."""
        return await self.ask(self.jobs.create(**request, metadata={LABEL: label}))

    async def find_jobs(self, label: str, training_file: str, since: float) -> list[RemoteJob]:
        """Return the jobs with our *label*, the oldest first. Several are a fault of the server.

        A job without any metadata counts if it trains *training_file* and was made after *since*.
        """

        def alike(job: RemoteJob) -> bool:
            if job.metadata:
                return job.metadata.get(LABEL) == label
            return job.training_file == training_file and as_count(job.created_at) >= since

        async def search() -> list[RemoteJob]:
            return [job async for job in self.jobs.list(limit=_PAGE) if alike(job)]

        found = await self._provider.guarded(search(), timeout_s=TRANSFER_TIMEOUT_S)
        return sorted(found, key=lambda job: (as_count(job.created_at), job.id))

    async def newest_jobs(self, limit: int) -> list[dict[str, Any]]:
        """Return the newest *limit* jobs of the account as JSON values."""
        page = await self._provider.guarded(self.jobs.list(limit=limit))
        return [self._row(job) for job in page.data or ()]

    async def events(self, job_id: str, known: Collection[str]) -> list[dict[str, Any]]:
        """Return the events of a job whose ids are not *known* as JSON values, the oldest first.

        OpenAI lists the newest first, so the pages behind a known event are not requested. "metrics" are the numbers of a training step.
        """

        async def search() -> list[FineTuningJobEvent]:
            found: list[FineTuningJobEvent] = []
            first = await self.jobs.list_events(job_id, limit=_PAGE)
            async for page in first.iter_pages():
                found += page.data or ()
                newest_first = page.data and as_count(page.data[0].created_at) >= as_count(page.data[-1].created_at)
                if newest_first and any(one.id in known for one in page.data):
                    break
            return found[::-1]

        found = await self._provider.guarded(search(), timeout_s=TRANSFER_TIMEOUT_S)
        new = {one.id: one for one in found if one.id not in known}
        return sorted(map(self._event, new.values()), key=lambda event: int(event["at"]))

    def _row(self, job: RemoteJob) -> dict[str, Any]:
        status, error = str(job.status), job.error
        fault = {"code": error.code, "message": self.present(error.message or ""), "parameter": error.param or ""} if error else {}
        epochs = job.hyperparameters.n_epochs if job.hyperparameters else None
        return {
            "id": job.id,
            "status": status,
            "stage": status if status in ENDED | {"paused"} else "working",
            "model": job.model or "",
            "created_at": as_count(job.created_at),
            "label": (job.metadata or {}).get(LABEL),
            "training_file": job.training_file,
            "tuned_model": job.fine_tuned_model,
            "trained_tokens": job.trained_tokens,
            "epochs": epochs if isinstance(epochs, int) else None,
            "expected_end": job.estimated_finish,
            "result_files": job.result_files or [],
            "fault": fault if fault.get("code") or fault.get("message") else None,
        }

    def _event(self, event: FineTuningJobEvent) -> dict[str, Any]:
        numbers = event.data.items() if isinstance(event.data, Mapping) else ()
        metrics = [(str(name), float(value)) for name, value in numbers if isinstance(value, int | float)]
        message = self.present(event.message or "")
        return {"id": event.id, "at": as_count(event.created_at), "level": event.level, "message": message, "metrics": metrics}


def with_openai_jobs(
    work: Callable[[OpenAIJobs], Awaitable[T]], *, base_url: str | None, timeout_s: float | None = None, model: str | None = None
) -> T:
    """Return the result of *work* with the account that the environment and *base_url* name (see ``make_provider``)."""

    async def whole() -> T:
        provider = make_provider("openai", model=model, base_url=base_url, timeout_s=timeout_s)
        try:
            return await work(OpenAIJobs(provider))
        finally:
            await provider.aclose()

    return run_in_own_loop(whole)
