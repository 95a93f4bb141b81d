"""The steps of a job: upload, create, follow, cancel. None is taken twice, whenever the process is killed and whatever answer is lost.

``once`` says how. A file is found again by its name, which is that of its content, and a job by our label in its metadata.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tenacity import AsyncRetrying, retry_if_result, wait_exponential

from piiloom.detection.training.openai_tuning.insisting import Insisting, Timing
from piiloom.detection.training.openai_tuning.job_folder import JobFolder
from piiloom.detection.training.openai_tuning.ledger import Ledger
from piiloom.detection.training.openai_tuning.once import Once
from piiloom.detection.training.openai_tuning.plan import DataFile, Plan
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import DataError, RunError, UsageError
from piiloom.providers.tuning_api import JobRequest, RemoteFile, RemoteJob, TuningApi, TuningUnknown

Tell = Callable[[str], object]

CREATE: Final = "create"
STATE: Final = "state"
CANCEL: Final = "cancel"
# How much the clocks of the server and of this machine may differ, for jobs that bear no label.
_CLOCKS_S: Final = 600.0
_PATIENCE: Final = 6
# What OpenAI's event at the beginning of the training says, after "Fine-tuning job".
_STARTED: Final = "started"


def upload_step(file: DataFile) -> str:
    """Return the name of the step that uploads *file*."""
    return f"upload {file.part}"


class Tuning:
    """One session with the job in *folder*, which is locked. *tell* gets lines for the user."""

    def __init__(self, folder: JobFolder, api: TuningApi, *, policy: RetryPolicy, timing: Timing, tell: Tell) -> None:
        self.plan: Plan = folder.plan()
        self.ledger: Ledger = folder.ledger()
        self._folder, self._api, self._timing, self._tell = folder, api, timing, tell
        self._insist = Insisting(policy, timing, tell)
        self._once = Once(self.ledger, self._insist, timing)
        # Whoever follows a job for hours waits longer for a server that is down: nothing is lost meanwhile.
        self._follow = Insisting(replace(policy, attempts=_PATIENCE * policy.attempts, cap_s=2 * policy.cap_s), timing, tell)
        if api.endpoint != self.plan.endpoint:
            problem = f"the job was begun at {self.plan.endpoint}, and this is {api.endpoint}"
            raise UsageError(problem, where=str(folder.path), remedy="Give the same --base-url as before (or OPENAI_BASE_URL)")

    @property
    def job_id(self) -> str | None:
        """The job's id at the server, if it is known."""
        made = self.ledger.result(CREATE)
        return None if made is None else str(made["job"])

    @property
    def may_exist(self) -> bool:
        """Whether there is a job at the server, or may be one."""
        return self.job_id is not None or self.ledger.unsure_since(CREATE) is not None

    @property
    def was_running(self) -> bool:
        """Whether the job began to train, as far as its states and events tell: then it may be billed, however it ended."""
        seen = any(entry["step"] == STATE and entry.get("status") == "running" for entry in self.ledger)
        return seen or any(event.metrics or _STARTED in event.message.casefold() for event in self._folder.events().values())

    async def start(self) -> RemoteJob:
        """Upload the files and make the job, unless that is done. Return the job."""
        there = await self._existing()
        if there is not None:
            return there
        return await self._created({file.part: (await self._uploaded(file)).id for file in self.plan.files})

    async def follow(self, job: RemoteJob) -> RemoteJob:
        """Tell the events of *job* until it ends or is paused, and return it."""
        known, timing = [job], self._timing

        async def look() -> RemoteJob:
            seen = known.pop() if known else await self._follow(lambda: self._api.look_up(job.id))
            await self._hear(seen)
            return seen

        goes_on = retry_if_result(lambda seen: not seen.ended and seen.stage != "paused")
        interval = wait_exponential(timing.first_poll_s, max=timing.longest_poll_s, exp_base=timing.growth)
        return await AsyncRetrying(retry=goes_on, wait=interval, sleep=timing.sleep)(look)

    async def look(self) -> RemoteJob | None:
        """Return the job as it is now, with its events told; None if there is none."""
        job = await self._existing()
        if job is not None:
            await self._hear(job)
        return job

    async def cancel(self) -> RemoteJob | None:
        """Cancel the job, if there is one. Return what became of it."""
        job = await self._existing()
        if job is None or job.ended:
            return job
        self.ledger.intent(CANCEL)
        job_id = job.id
        after = await self._insist(lambda: self._api.cancel(job_id))
        self.ledger.done(CANCEL, status=after.status)
        await self._hear(after)
        return after

    async def unpause(self) -> RemoteJob:
        """Let the job go on if it is paused."""
        job = await self._existing()
        if job is None or job.stage != "paused":
            said = "there is no job yet" if job is None else f"the job is not paused, but {job.status}"
            raise RunError(said, where=str(self._folder.path), remedy="See it with --status")
        job_id = job.id
        return await self._insist(lambda: self._api.unpause(job_id))

    async def delete_files(self) -> list[str]:
        """Delete the uploaded files; return their ids."""
        gone = []
        for file in self.plan.files:
            made = self.ledger.result(upload_step(file))
            if made is not None:
                await self._insist(lambda made=made: self._api.delete_file(str(made["file"])))  # type: ignore[misc] # a default binds it
                self.ledger.done(f"delete {file.part}", file=made["file"])
                gone.append(str(made["file"]))
        return gone

    async def _existing(self) -> RemoteJob | None:
        if self.job_id is not None:
            return await self._insist(lambda: self._api.look_up(str(self.job_id)))
        if self.ledger.unsure_since(CREATE) is not None:
            return await self._sought()
        return None

    async def _uploaded(self, file: DataFile) -> RemoteFile:
        """Return the uploaded *file*. One of the same content that is there already is taken, whoever uploaded it."""
        step = upload_step(file)
        known = self.ledger.result(step)
        if known is not None:
            try:
                return self._sound(await self._insist(lambda: self._api.look_up_file(str(known["file"]))))
            except TuningUnknown:
                self._tell(f"{file.path} is no longer there")
        content = self._folder.content(file)

        async def upload() -> RemoteFile:
            self._tell(f"uploading {file.path} ({file.bytes:,} bytes)")
            return await self._api.upload(file.name, content)

        made, found = await self._once.taken(step, upload, lambda: self._api.find_file(file.name, file.bytes))
        self.ledger.done(step, file=made.id, how="found" if found else "made")
        if found:
            self._tell(f"{file.path} is there already as {made.id}")
        return self._sound(made)

    async def _created(self, files: dict[str, str]) -> RemoteJob:
        """Make the job of *files* (ids by part) and return it."""
        request = self._request(files)
        made, found = await self._once.taken(CREATE, lambda: self._api.create(request), lambda: self._found(request))
        if not found and any(entry["step"] == CREATE and entry["did"] == "unknown" for entry in self.ledger):
            made = await self._found(request) or made  # an earlier request may have arrived late
        return self._noted(made, "found" if found else "made")

    async def _sought(self) -> RemoteJob | None:
        """Return the job if it was made after all. Raises ``TuningUnknown`` if this key could not see it."""
        self._tell("looking whether the job was made")
        request = self._request({})
        found = await self._once.sought(CREATE, lambda: self._found(request))
        if found is not None:
            return self._noted(found, "found")
        try:
            await self._insist(lambda: self._api.look_up_file(request.training_file))
        except TuningUnknown as error:
            problem = "it is unknown whether the job was made, and this key does not see its training file"
            remedy = (
                "Use a key of the account that uploaded it. If the file was deleted, look with --list and begin another job in a new folder"
            )
            raise TuningUnknown(problem, where=str(self._folder.path), remedy=remedy) from error
        return None

    async def _found(self, request: JobRequest) -> RemoteJob | None:
        """Return the job made by *request*, if there is one. Were there two by a fault of the server, the later ones are cancelled."""
        if self.ledger.unsure_since(CREATE) is None and self.ledger.first_intent(CREATE) is None:
            return None
        jobs = await self._api.find_jobs(request, (self.ledger.first_intent(CREATE) or 0.0) - _CLOCKS_S)
        for extra in jobs[1:]:
            if not extra.ended:
                await self._api.cancel(extra.id)
                self.ledger.done("cancel extra", job=extra.id)
        return jobs[0] if jobs else None

    async def _hear(self, job: RemoteJob) -> None:
        """Keep and tell the new events of *job*, and its state if that is new."""
        events = await self._follow(lambda: self._api.events(job.id, self._folder.events().keys()))
        for event in events:
            self._tell(f"{event.level}: {event.message}" if event.level not in {"", "info"} else event.message)
        self._folder.add_events(events)
        last = self.ledger.result(STATE)
        if last is None or last["status"] != job.status:
            self.ledger.done(STATE, status=job.status, trained_tokens=job.trained_tokens, model=job.tuned_model)
            self._tell(f"{job.id}: {job.status}")

    def _noted(self, job: RemoteJob, how: str) -> RemoteJob:
        self.ledger.done(CREATE, job=job.id, how=how)
        self._tell(f"job {job.id} of {job.model or self.plan.model}" + (" was made before" if how == "found" else ""))
        return job

    def _request(self, files: dict[str, str]) -> JobRequest:
        """Return the request. Without *files*, one to look for a job by: the ledger knows the training file."""
        plan = self.plan
        if not files:
            made = {file.part: self.ledger.result(upload_step(file)) for file in plan.files}
            files = {part: str(entry["file"]) for part, entry in made.items() if entry is not None}
        return JobRequest(
            label=plan.label,
            model=plan.model,
            training_file=files.get("train", ""),
            validation_file=files.get("validation"),
            suffix=plan.suffix,
            seed=plan.seed,
            epochs=plan.epochs,
            batch_size=plan.batch_size,
            learning_rate=plan.learning_rate,
        )

    def _sound(self, file: RemoteFile) -> RemoteFile:
        if file.state == "error":
            said = f": {file.note}" if file.note else ""
            problem = f"{self._api.name} found a fault in the uploaded file{said}"
            raise DataError(problem, where=file.name, remedy="Check the rows in the job's folder; begin another job in a new folder")
        return file
