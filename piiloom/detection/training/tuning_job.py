"""A job at OpenAI: upload, create, follow, cancel, and its cost in a store. No kill and no lost answer repeats an upload or a payment.

Before each upload and the creation, an intent is written to the ledger, and the outcome afterwards (a refusal is an outcome). An intent
without an outcome may have been carried out, so the server is searched first: for a file by its name, which is that of its content, and
for a job by our label in its metadata.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, Final, Self, TypeVar

from tenacity import AsyncRetrying, RetryCallState

from piiloom.corpus.store.store_files import sync
from piiloom.detection.training.job_plan import LEFT_OUT, PLAN, DataFile, TuningPlan, book, read_plan, write_call
from piiloom.execution.call_entries import failure_entry, sent_entry
from piiloom.execution.retrying import RetryPolicy, awaited, error_of
from piiloom.foundation.errors import DataError, OutputError, ProviderError, RunError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.whole_files import LOCK, lock, output_errors, write_folder
from piiloom.providers.errors import InvalidRequest, ProviderUnavailable
from piiloom.providers.openai_jobs import ENDED, OpenAIJobs, RemoteJob, TuningUnknown
from piiloom.tagging.model_folder import CARD, write_about

T = TypeVar("T")
LEDGER, EVENTS = "ledger.jsonl", "events.jsonl"
_OURS: Final = frozenset({PLAN, LEFT_OUT, LEDGER, EVENTS, CARD, LOCK, "train.jsonl", "validation.jsonl"})
# The steps in the ledger besides the uploads.
CREATE, STATE, CANCEL, RESERVE, BOOK = "create", "state", "cancel", "reserve", "book"
_CLOCKS_S: Final = 600.0  # the largest difference of the server's clock and ours, for jobs without a label
_PATIENCE: Final = 6  # the factor by which more often a server that is down is asked while a job is followed
_GROWTH: Final = 1.3  # of the time between two looks at a job
_STARTED: Final = "started"  # in OpenAI's event at the beginning of the training, after "Fine-tuning job"


class JobBusy(UsageError):
    """Another process works on the job."""


class JsonLines:
    """The rows of a file of JSON objects, which only grows. The next ``append`` removes a line that a kill cut short.

    ``damaged`` are the numbers of the lines that lack one of *keys*.
    """

    def __init__(self, path: Path, *keys: str) -> None:
        self.rows: list[Mapping[str, Any]] = []
        self.damaged: list[int] = []
        self._path = path
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        self._size = sum(len(line) + 1 for line in lines)
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                self.rows.append({key: row[key] for key in keys} | row)
            except (ValueError, KeyError, TypeError):
                self.damaged.append(number)

    def append(self, *rows: Mapping[str, Any]) -> None:
        """Add *rows*, which are on disk when this returns."""
        data = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
        with output_errors(self._path.parent), self._path.open("ab") as fh:
            fh.truncate(self._size)
            fh.write(data)
            fh.flush()
            os.fsync(fh.fileno())
            sync(self._path.parent)
        self._size += len(data)
        self.rows += rows


class Ledger(JsonLines):
    """The steps of the job in *folder*, each with "at" (seconds since 1970), "step", and "did": intent, unknown, refused or done."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / LEDGER, "at", "step", "did")
        self.damaged += (number for number, row in enumerate(self.rows, start=1) if type(row["at"]) not in {int, float})
        if self.damaged:
            raise DataError(
                "the ledger of the job is damaged",
                where=f"{folder / LEDGER}:{self.damaged[0]}",
                remedy="Restore it from a copy. Without it, look for the job with piiloom train openai --list",
            )

    def note(self, step: str, did: str = "done", **facts: object) -> None:
        """Add an entry about *step*."""
        self.append({"at": round(time.time(), 3), "step": step, "did": did, **facts})

    def entries(self, step: str, *did: str) -> list[Mapping[str, Any]]:
        """Return the entries about *step*, the last one first; with *did*, only those with these words."""
        return [row for row in reversed(self.rows) if row["step"] == step and (not did or row["did"] in did)]

    def result(self, step: str) -> Mapping[str, Any]:
        """Return the last outcome of *step*; empty if it was not done."""
        return next(iter(self.entries(step, "done")), {})

    def unsure_since(self, step: str) -> float | None:
        """Return the time since which it is unknown whether *step* was done; None if that is known."""
        last = next(iter(self.entries(step)), None)
        return float(last["at"]) if last and last["did"] in {"intent", "unknown"} else None


class JobFolder:
    """The folder *path* of a job; the context manager locks it, so that one process at a time works in it.

    Raises ``JobBusy`` if another process works in it, ``DataError`` if its plan is missing, and ``OutputError`` if it is no folder, has
    foreign files or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        with output_errors(self.path):
            if self.path.exists() and not self.path.is_dir():
                raise OutputError("this is not a folder", where=str(self.path), remedy="Name a new folder with --out")
            self.path.mkdir(parents=True, exist_ok=True)
            foreign = sorted(one.name for one in self.path.iterdir() if one.name not in _OURS and not one.name.endswith(".part"))
            if foreign and not self.planned:
                raise OutputError(
                    f"the folder is not empty, and holds no job (there is {foreign[0]!r})",
                    where=str(self.path),
                    remedy="Name a new folder with --out",
                )
            if (self.path / LEDGER).exists() and not self.planned:
                raise DataError(
                    f"the folder has the ledger of a job, but no {PLAN}",
                    where=str(self.path),
                    remedy="Restore it from a copy, or name a new folder with --out",
                )
            self._lock: BinaryIO = (self.path / LOCK).open("wb")
        try:
            lock(self._lock)
        except OSError:
            self._lock.close()
            raise JobBusy(
                "another process works on this job",
                where=str(self.path),
                remedy="Wait for it, or stop it (Ctrl-C; the job goes on); --status shows the job meanwhile",
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    @property
    def planned(self) -> bool:
        """Whether there is a plan."""
        return (self.path / PLAN).is_file()

    @cached_property
    def plan(self) -> TuningPlan:
        """The plan. Raises ``UsageError`` if there is none, and ``DataError`` if it is damaged."""
        if not self.planned:
            raise UsageError(
                "there is no job in this folder",
                where=str(self.path),
                remedy="Name the folder of a job with --out, or begin one with --release or --train",
            )
        return read_plan(self.path / PLAN)

    @cached_property
    def ledger(self) -> Ledger:
        """The steps of the job. Raises ``DataError`` if its file is damaged."""
        return Ledger(self.path)

    @cached_property
    def events(self) -> JsonLines:
        """The events of the job. An event whose line is damaged is told once more."""
        return JsonLines(self.path / EVENTS, "id", "message", "metrics")

    @property
    def metrics(self) -> dict[str, float] | None:
        """The numbers of the last training step that has any."""
        return next((dict(row["metrics"]) for row in reversed(self.events.rows) if row["metrics"]), None)

    @property
    def ended(self) -> bool:
        """Whether the job has ended and all is written, so that nothing is left to do."""
        return bool(self.ledger.result(BOOK)) and (not self.ledger.result(STATE).get("model") or (self.path / CARD).is_file())

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Write the files of a plan to disk, ``job.json`` last."""
        write_folder(self.path, contents)
        for name in contents:
            sync(self.path / name)

    def content(self, file: DataFile) -> bytes:
        """Return the rows of *file*. Raises ``DataError`` if they have changed since the plan was made."""
        path, remedy = self.path / file.path, "Restore it from a copy, or begin another job in a new folder"
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError(f"the file cannot be read ({error.strerror})", where=str(path), remedy=remedy) from error
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise DataError("the file has changed since the job was planned", where=str(path), remedy=remedy)
        return content

    def texts(self) -> list[str]:
        """Return the words of users and assistants in the files; not the instructions, which are no secret."""
        paths = [path for file in self.plan.files if (path := self.path / file.path).is_file()]
        messages = [one for path in paths for line in path.read_bytes().splitlines() for one in json.loads(line)["messages"]]
        return [str(one["content"]) for one in messages if one["role"] != "system"]

    def state(self) -> dict[str, Any]:
        """Return the last known state of the job as JSON values. Costs are in USD; None: unknown, or not known yet.

        "status" is the server's word, or "planned", "made" or "unknown" before it gave one.
        """
        plan, ledger = self.plan, self.ledger
        made, seen, booked = ledger.result(CREATE), ledger.result(STATE), ledger.result(BOOK)
        return {
            "job": made.get("job"),
            "status": seen.get("status") or ("made" if made else "unknown" if ledger.unsure_since(CREATE) else "planned"),
            "task": plan.task,
            "base": plan.model,
            "model": seen.get("model"),
            "trained_tokens": seen.get("trained_tokens"),
            "cost_usd": booked.get("cost_usd"),
            "charged_usd": booked.get("charged_usd", 0.0),
            "run": booked.get("run") or ledger.result(RESERVE).get("run"),
            "metrics": self.metrics,
            "fault": booked.get("fault"),
            "estimate": plan.estimate,
            "files": [file.model_dump() for file in plan.files],
            "left_out": plan.left_out,
            "use": seen.get("model") and plan.use_of(seen["model"]),
        }


class TuningJob:
    """One session with the job in *folder*, which is locked and planned; the next session goes on with a step that is interrupted.

    *tell* gets lines for the user. *poll_s* is the time between two looks (None: from 5 s to 60 s). A file or job whose creation was
    not answered may appear late: it is searched until *settle_s* after the last sign of it.
    """

    def __init__(
        self,
        folder: JobFolder,
        api: OpenAIJobs,
        *,
        tell: Callable[[str], object] = noop,
        policy: RetryPolicy | None = None,
        poll_s: float | None = None,
        settle_s: float = 30.0,
    ) -> None:
        self._folder, self._plan, self._ledger = folder, folder.plan, folder.ledger
        self._api, self._tell, self._policy, self._poll_s, self._settle_s = api, tell, policy or RetryPolicy(), poll_s, settle_s
        self._rng = derive_rng("retry jitter", "openai tuning")  # spreads requests in time; no result depends on it
        if api.endpoint != self._plan.endpoint:
            raise UsageError(
                f"the job was begun at {self._plan.endpoint}, and this is {api.endpoint}",
                where=str(folder.path),
                remedy="Give the same --base-url as before (or OPENAI_BASE_URL)",
            )

    async def run(self, *, budget_usd: float | None = None, unpriced: bool = False, wait: bool = True) -> None:
        """Make the job unless it is made, and follow it to its end if *wait*. A failed job raises nothing.

        Raises ``BudgetReached`` before anything is sent if it could cost more than *budget_usd*; ``DataError`` for files that the server
        refuses; errors of providers and stores.
        """
        if not self._may_exist:
            self._plan.check_affordable(budget_usd, unpriced=unpriced)
            usd = self._plan.estimate["most_usd"]
            self._ledger.note(RESERVE, run=write_call(self._plan, "sent", sent_entry(0, usd, datetime.now(UTC))), usd=usd)
        try:
            known = await self._find()
            job_id = known or await self._create()
        except Exception:
            self._release()
            raise
        if wait or known:
            await self._follow(job_id, wait=wait)

    async def look(self) -> None:
        """Ask for the state of the job, if there is one."""
        if job_id := await self._find():
            await self._follow(job_id, wait=False)

    async def cancel(self) -> None:
        """Cancel the job, or give back the money that is set aside if there is none."""
        job_id = await self._find()
        if job_id is None:
            if self._may_exist:  # it was looked for, and is not there
                self._ledger.note(CREATE, "refused", why="not there")
            self._release()
            return
        try:
            if await self._status(job_id) not in ENDED:
                job = await self._ask(lambda: self._api.jobs.cancel(job_id), job_id)
                self._ledger.note(CANCEL, status=str(job.status))
        except InvalidRequest:  # it may have ended between the two requests
            if await self._status(job_id) not in ENDED:
                raise
        await self._follow(job_id, wait=False)

    async def unpause(self, *, wait: bool = True) -> None:
        """Let a paused job go on, and follow it if *wait*. Raises ``RunError`` if it is not paused."""
        job_id = await self._find()
        status = await self._status(job_id) if job_id else None
        if job_id is None or status != "paused":
            raise RunError(
                "there is no job yet" if job_id is None else f"the job is not paused, but {status}",
                where=str(self._folder.path),
                remedy="See it with --status",
            )
        await self._ask(lambda: self._api.jobs.resume(job_id), job_id)
        await self._follow(job_id, wait=wait)

    async def delete_files(self) -> list[str]:
        """Delete the uploaded files; return their ids."""
        for part, file_id in self._uploads.items():
            with suppress(TuningUnknown):
                await self._ask(partial(self._api.files.delete, file_id), file_id)
            self._ledger.note(f"delete {part}", file=file_id)
        return list(self._uploads.values())

    @property
    def _may_exist(self) -> bool:
        return bool(self._ledger.result(CREATE)) or self._ledger.unsure_since(CREATE) is not None

    @property
    def _uploads(self) -> dict[str, str]:
        """The ids of the uploaded files, by part."""
        done = {file.part: self._ledger.result(f"upload {file.part}") for file in self._plan.files}
        return {part: str(entry["file"]) for part, entry in done.items() if entry}

    async def _find(self) -> str | None:
        """Return the id of the job, if there is one. Raises ``TuningUnknown`` if it may exist and this key could not see it."""
        if made := self._ledger.result(CREATE):
            return str(made["job"])
        if self._ledger.unsure_since(CREATE) is None:
            return None
        self._tell("looking whether the job was made")
        if job_id := await self._sought(CREATE, self._labelled):
            return job_id
        if await self._is_there(self._uploads["train"], self._plan.files[0]):
            return None
        raise TuningUnknown(
            "it is unknown whether the job was made, and this key does not see its training file",
            where=str(self._folder.path),
            remedy="Use a key of the account that uploaded it. If the file was deleted, look with --list and "
            "begin another job in a new folder",
        )

    async def _status(self, job_id: str) -> str:
        return str((await self._ask(lambda: self._api.jobs.retrieve(job_id), job_id)).status)

    async def _create(self) -> str:
        """Upload the files and make the job. Return its id."""
        for file in self._plan.files:
            await self._upload(file)
        request = self._plan.request(self._uploads)

        async def create() -> str:
            return (await self._api.create(self._plan.label, request)).id

        made = await self._once(CREATE, create, self._labelled)
        # An earlier request may have arrived late.
        first = await self._insist(self._labelled) if self._ledger.entries(CREATE, "unknown") else None
        return made if first in {None, made} else self._noted(CREATE, str(first), "found")

    async def _upload(self, file: DataFile) -> None:
        """Upload *file*, unless a file of the same content is there, whoever uploaded it."""
        known = self._uploads.get(file.part)
        if known and await self._is_there(known, file):
            return
        if known:
            self._tell(f"{file.path} is no longer there")
        content = self._folder.content(file)

        async def upload() -> str:
            self._tell(f"uploading {file.path} ({file.bytes:,} bytes)")
            return await self._api.upload(file.name, content)

        made = await self._once(f"upload {file.part}", upload, lambda: self._api.find_file(file.name, file.bytes))
        await self._is_there(made, file)

    async def _is_there(self, file_id: str, file: DataFile) -> bool:
        """Return whether the server has the uploaded *file*. Raises ``DataError`` if it found a fault in it."""
        try:
            found = await self._ask(lambda: self._api.files.retrieve(file_id), file_id)
        except TuningUnknown:
            return False
        if str(found.status) == "error":
            note = self._api.present(found.status_details or "")
            raise DataError(
                f"{self._api.name} found a fault in the uploaded file" + (f": {note}" if note else ""),
                where=file.name,
                remedy="Check the rows in the job's folder; begin another job in a new folder",
            )
        return True

    async def _labelled(self) -> str | None:
        """Return the id of the job with our label, if there is one. Were there two by a fault of the server, the later is cancelled."""
        begun = self._ledger.entries(CREATE, "intent")
        if not begun:
            return None
        jobs = await self._api.find_jobs(self._plan.label, self._uploads["train"], begun[-1]["at"] - _CLOCKS_S)
        for extra in jobs[1:]:
            if str(extra.status) not in ENDED:
                with suppress(InvalidRequest):  # it may have ended since
                    await self._api.ask(self._api.jobs.cancel(extra.id), extra.id)
                    self._ledger.note("cancel extra", job=extra.id)
        return jobs[0].id if jobs else None

    async def _follow(self, job_id: str, *, wait: bool) -> None:
        """Tell the events of a job, with *wait* until it ends or is paused. Book a job that has ended, and write its card."""
        pause = self._poll_s or 5.0
        while True:
            job = await self._ask(lambda: self._api.jobs.retrieve(job_id), job_id, patience=_PATIENCE)
            await self._hear(job)
            if not wait or str(job.status) in ENDED | {"paused"}:
                break
            await asyncio.sleep(pause)
            pause = self._poll_s or min(60.0, pause * _GROWTH)
        if str(job.status) in ENDED and not self._folder.ended:
            self._finish(job)

    async def _hear(self, job: RemoteJob) -> None:
        """Keep and tell the new events of *job*, and its status if that is new."""
        known = {row["id"] for row in self._folder.events.rows}
        events = await self._insist(lambda: self._api.events(job.id, known), patience=_PATIENCE)
        for event in events:
            self._tell(event["message"] if event["level"] in {None, "", "info"} else f"{event['level']}: {event['message']}")
        if events:
            self._folder.events.append(*events)
        if self._ledger.result(STATE).get("status") != job.status:
            self._ledger.note(STATE, status=str(job.status), trained_tokens=job.trained_tokens, model=job.fine_tuned_model)
            self._tell(f"{job.id}: {job.status}")

    def _finish(self, job: RemoteJob) -> None:
        """Book the cost of *job*, which has ended, and write the card of a trained model."""
        if not self._ledger.result(BOOK):
            # It may be billed, however it ended, if it was seen to train.
            running = any(entry.get("status") == "running" for entry in self._ledger.entries(STATE))
            started = any(row["metrics"] or _STARTED in row["message"].casefold() for row in self._folder.events.rows)
            self._ledger.note(BOOK, **book(self._plan, job, was_running=running or started), fault=self._fault(job))
        if job.status == "succeeded":
            figures = {"trained_tokens": job.trained_tokens, "cost_usd": self._ledger.result(BOOK)["cost_usd"]}
            epochs = job.hyperparameters.n_epochs if job.hyperparameters else None
            write_about(self._folder.path, self._plan.card(job.id, job.fine_tuned_model, epochs, figures | (self._folder.metrics or {})))

    def _fault(self, job: RemoteJob) -> str | None:
        """Return the server's reason why *job* failed in a line; an explanation that quotes the files is withheld."""
        error = job.error
        if error is None or not (error.code or error.message):
            return None
        where = f"{error.code} ({error.param})" if error.param else error.code or ""
        explanation = self._api.present(error.message or "", prompt=self._folder.texts())
        return ": ".join(part for part in (where, explanation) if part)

    def _release(self) -> None:
        """Give back the money that is set aside, if no job was made."""
        if self._ledger.result(RESERVE) and not self._ledger.result(BOOK) and not self._may_exist:
            failure = failure_entry(0, "not_sent", "no job was made", charge_usd=0.0, maybe_billed=False, final=False)
            write_call(self._plan, "failed", failure, "interrupted")

    async def _once(self, step: str, take: Callable[[], Awaitable[str]], find: Callable[[], Awaitable[str | None]]) -> str:
        """Return the id that *take* gives or, if *step* was taken already, the one that *find* gives, and note it."""
        async for attempt in self._tries():
            if (found := await self._sought(step, find)) is not None:
                return found
            self._ledger.note(step, "intent")
            with attempt:
                try:
                    made = await take()
                except ProviderError as error:
                    self._ledger.note(step, "unknown" if isinstance(error, ProviderUnavailable) else "refused", why=type(error).__name__)
                    raise
                return self._noted(step, made, "made")
        raise AssertionError("the last try returns or raises")

    async def _sought(self, step: str, find: Callable[[], Awaitable[str | None]]) -> str | None:
        """Return the id that *find* gives, and note it. If *step* may have been taken lately, search until the result would have shown."""
        while (found := await self._insist(find)) is None:
            since = self._ledger.unsure_since(step)
            if since is None or time.time() - since > self._settle_s:
                return None
            await asyncio.sleep(self._settle_s / 10)
        return self._noted(step, found, "found")

    def _noted(self, step: str, result: str, how: str) -> str:
        self._ledger.note(step, **{"job" if step == CREATE else "file": result}, how=how)
        self._tell(f"{step}: {result}" + (", which was there already" if how == "found" else ""))
        return result

    async def _ask(self, call: Callable[[], Awaitable[T]], name: str, *, patience: int = 1) -> T:
        """Return the answer to an SDK's *call* about *name*, which must be harmless to repeat."""
        return await self._insist(lambda: self._api.ask(call(), name), patience=patience)

    async def _insist(self, work: Callable[[], Awaitable[T]], *, patience: int = 1) -> T:
        """Return the result of *work*, which is repeated after a passing fault. Raises its last ``ProviderError``."""
        return await self._tries(patience)(awaited, work)

    def _tries(self, patience: int = 1) -> AsyncRetrying:
        def report(state: RetryCallState) -> None:
            self._tell(f"{getattr(error_of(state), 'message', '')}; asking again in {state.upcoming_sleep:.1f} s")

        policy = replace(self._policy, attempts=patience * self._policy.attempts, cap_s=min(2, patience) * self._policy.cap_s)
        return policy.tries(self._rng, before_sleep=report)
