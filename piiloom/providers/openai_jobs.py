"""OpenAI's fine-tuning jobs (``files`` with the purpose "fine-tune", ``fine_tuning.jobs``) through its SDK.

Answers are read with care, because servers that imitate the API leave fields out. Lists are gone through to their end where something
is looked for: to overlook a job would mean to make, and pay for, a second one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping
from typing import Literal, TypeVar

import openai
from openai.types import FileObject
from openai.types.fine_tuning import FineTuningJob, FineTuningJobEvent, SupervisedHyperparametersParam, SupervisedMethodParam

from piiloom.providers.batch_api import TRANSFER_TIMEOUT_S
from piiloom.providers.errors import InvalidRequest
from piiloom.providers.openai_api import OpenAIProvider
from piiloom.providers.sdk_provider import as_count
from piiloom.providers.tuning_api import FileState, JobEvent, JobFault, JobRequest, RemoteFile, RemoteJob, Stage, TuningUnknown

T = TypeVar("T")

_PURPOSE: Literal["fine-tune"] = "fine-tune"
OUR_ID = "piiloom_job"
_PAGE = 100
_STAGES: Mapping[str, Stage] = {
    "pausing": "working",
    "paused": "paused",
    "succeeded": "succeeded",
    "failed": "failed",
    "cancelled": "cancelled",
}
_FILE_STATES: Mapping[str, FileState] = {"uploaded": "uploaded", "processed": "processed", "error": "error"}


class OpenAIJobs:
    """``TuningApi`` for OpenAI: the jobs of *provider*'s account. Its model is the base model."""

    def __init__(self, provider: OpenAIProvider) -> None:
        self.name, self.endpoint = provider.name, provider.endpoint
        self._provider, self._client = provider, provider.client

    async def upload(self, name: str, data: bytes) -> RemoteFile:
        """Upload a file of training or validation rows as *name*."""
        work = self._client.files.create(file=(name, data), purpose=_PURPOSE, timeout=TRANSFER_TIMEOUT_S)
        return self._file(await self._guarded(work, TRANSFER_TIMEOUT_S))

    async def find_file(self, name: str, size: int) -> RemoteFile | None:
        """Return the newest file called *name* with *size* bytes and no error; None if there is none."""

        async def search() -> list[FileObject]:
            files = self._client.files.list(purpose=_PURPOSE, order="desc")
            return [one async for one in files if one.filename == name and one.bytes == size and str(one.status) != "error"]

        found = await self._guarded(search(), TRANSFER_TIMEOUT_S)
        return self._file(max(found, key=lambda one: one.created_at or 0)) if found else None

    async def look_up_file(self, file_id: str) -> RemoteFile:
        """Return the current state of a file."""
        return self._file(await self._guarded(self._known(self._client.files.retrieve(file_id), file_id)))

    async def delete_file(self, file_id: str) -> None:
        """Delete a file; does nothing if it is gone."""
        try:
            await self._guarded(self._known(self._client.files.delete(file_id), file_id))
        except TuningUnknown:
            return

    async def create(self, request: JobRequest) -> RemoteJob:
        """Make a job. What is None in *request* is left out, so that the server chooses."""
        hyperparameters: SupervisedHyperparametersParam = {}
        if request.epochs is not None:
            hyperparameters["n_epochs"] = request.epochs
        if request.batch_size is not None:
            hyperparameters["batch_size"] = request.batch_size
        if request.learning_rate is not None:
            hyperparameters["learning_rate_multiplier"] = request.learning_rate
        supervised: SupervisedMethodParam = {"hyperparameters": hyperparameters} if hyperparameters else {}
        work = self._client.fine_tuning.jobs.create(
            model=request.model,
            training_file=request.training_file,
            validation_file=request.validation_file or openai.omit,
            method={"type": "supervised", "supervised": supervised},
            suffix=request.suffix or openai.omit,
            seed=openai.omit if request.seed is None else request.seed,
            metadata={OUR_ID: request.label},
        )
        return self._job(await self._guarded(work))

    async def find_jobs(self, request: JobRequest, since: float) -> list[RemoteJob]:
        """Return the jobs made by *request*, at most one but for faults of the server, the oldest first."""

        def is_it(job: RemoteJob, bare: bool) -> bool:
            if not bare:
                return job.label == request.label
            return job.training_file == request.training_file and job.created_at >= since

        async def search() -> list[RemoteJob]:
            jobs = self._client.fine_tuning.jobs.list(limit=_PAGE)
            return [self._job(one) async for one in jobs if is_it(self._job(one), bare=not one.metadata)]

        found = await self._guarded(search(), TRANSFER_TIMEOUT_S)
        return sorted(found, key=lambda job: (job.created_at, job.id))

    async def list_jobs(self, limit: int) -> list[RemoteJob]:
        """Return the newest *limit* jobs of the account."""

        async def search() -> list[RemoteJob]:
            found: list[RemoteJob] = []
            async for one in self._client.fine_tuning.jobs.list(limit=min(limit, _PAGE)):
                found.append(self._job(one))
                if len(found) >= limit:
                    break
            return found

        return await self._guarded(search(), TRANSFER_TIMEOUT_S)

    async def look_up(self, job_id: str) -> RemoteJob:
        """Return the current state of a job."""
        return self._job(await self._guarded(self._known(self._client.fine_tuning.jobs.retrieve(job_id), job_id)))

    async def events(self, job_id: str, known: Collection[str]) -> list[JobEvent]:
        """Return the events of a job whose ids are not *known*, the oldest first.

        OpenAI lists the newest first, so that pages behind a known one need not be asked for.
        """

        async def search() -> list[FineTuningJobEvent]:
            page = await self._client.fine_tuning.jobs.list_events(job_id, limit=_PAGE)
            found = list(page.data or ())
            while page.has_next_page() and not (_newest_first(page.data) and any(one.id in known for one in page.data)):
                page = await page.get_next_page()
                found += page.data or ()
            return found

        found = await self._guarded(self._known(search(), job_id), TRANSFER_TIMEOUT_S)
        if _newest_first(found):
            found.reverse()
        new = {one.id: one for one in found if one.id not in known}
        return sorted((self._event(one) for one in new.values()), key=lambda event: event.at)

    async def cancel(self, job_id: str) -> RemoteJob:
        """Cancel a job; does nothing if it has ended."""
        before = await self.look_up(job_id)
        if before.ended:
            return before
        try:
            return self._job(await self._guarded(self._known(self._client.fine_tuning.jobs.cancel(job_id), job_id)))
        except InvalidRequest:
            after = await self.look_up(job_id)  # it may have ended between the two requests
            if after.ended:
                return after
            raise

    async def unpause(self, job_id: str) -> RemoteJob:
        """Let a paused job go on."""
        return self._job(await self._guarded(self._known(self._client.fine_tuning.jobs.resume(job_id), job_id)))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._provider.aclose()

    async def _known(self, work: Awaitable[T], name: str) -> T:
        """Await *work*; raise ``TuningUnknown`` on a 404: *name* does not exist, no longer exists, or is not visible to this key."""
        try:
            return await work
        except openai.NotFoundError:
            pass
        remedy = "Check that the key is one of the account that made it"
        raise TuningUnknown(f"{self.name}: there is no {name} at this endpoint for this key", where=self.endpoint, remedy=remedy)

    async def _guarded(self, work: Awaitable[T], timeout_s: float | None = None) -> T:
        return await self._provider.guarded(work, timeout_s=timeout_s)

    def _shown(self, text: str | None) -> str:
        return self._provider.translator.redactor.presentable(text or "")

    def _file(self, file: object) -> RemoteFile:
        if not isinstance(file, FileObject) or not getattr(file, "id", None):
            raise self._provider.translator.not_our_api(file)
        state = _FILE_STATES.get(str(file.status), "uploaded")
        return RemoteFile(
            id=file.id,
            name=file.filename or "",
            bytes=file.bytes or 0,
            state=state,
            note=self._shown(getattr(file, "status_details", None)),
        )

    def _job(self, job: object) -> RemoteJob:
        if not isinstance(job, FineTuningJob) or not getattr(job, "id", None):
            raise self._provider.translator.not_our_api(job)
        status = str(job.status)
        fault = job.error if job.error is not None and (job.error.code or job.error.message) else None
        epochs = getattr(getattr(job, "hyperparameters", None), "n_epochs", None)
        return RemoteJob(
            id=job.id,
            status=status,
            stage=_STAGES.get(status, "working"),
            model=job.model or "",
            created_at=as_count(getattr(job, "created_at", None)),
            label=(getattr(job, "metadata", None) or {}).get(OUR_ID),
            training_file=getattr(job, "training_file", None) or "",
            tuned_model=getattr(job, "fine_tuned_model", None) or None,
            trained_tokens=job.trained_tokens if isinstance(getattr(job, "trained_tokens", None), int) else None,
            epochs=epochs if isinstance(epochs, int) else None,
            expected_end=getattr(job, "estimated_finish", None),
            result_files=tuple(getattr(job, "result_files", None) or ()),
            fault=None
            if fault is None
            else JobFault(code=str(fault.code or ""), message=self._shown(fault.message), parameter=str(fault.param or "")),
        )

    def _event(self, event: FineTuningJobEvent) -> JobEvent:
        data = getattr(event, "data", None)
        numbers = data.items() if isinstance(data, Mapping) else ()
        metrics = tuple((str(name), float(value)) for name, value in numbers if isinstance(value, int | float))
        return JobEvent(
            id=event.id, at=as_count(event.created_at), level=str(event.level), message=self._shown(event.message), metrics=metrics
        )


def _newest_first(events: list[FineTuningJobEvent]) -> bool:
    """Whether *events* are in OpenAI's order; told by the first and the last."""
    return bool(events) and (events[0].created_at or 0) >= (events[-1].created_at or 0)
