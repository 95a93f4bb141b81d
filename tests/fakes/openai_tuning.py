"""OpenAI's files and fine-tuning jobs as a fake server keeps them; ``openai_tuning_http`` serves them over real HTTP.

Like OpenAI's own: a job goes through its states as time passes (here: as it is looked up), a file that it would refuse makes the job fail
while it is validated, lists are newest first and come in pages, and a request that it would refuse gets a 400. A test says what goes
wrong, by operation and how often it was asked before::

    server.trouble = lambda operation, nth: "lost" if operation == "create" and nth == 0 else None
    server.plan = JobPlan(steps=3, fails_with=("invalid_training_file", "training_file"))
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.llm_wire import BadCall

Operation = Literal["upload", "files", "file", "delete", "create", "jobs", "job", "events", "cancel", "resume"]
# "server_error", "rate_limit": not done. "lost", "cut", "hang", "error_after": done, but there is no (whole) answer, or a 500.
# "never": not done, and no answer.
Trouble = Literal["rate_limit", "server_error", "lost", "cut", "hang", "error_after", "never"]

MODELS = ("gpt-4.1-mini-2025-04-14", "gpt-4o-mini-2024-07-18")
ENDED = ("succeeded", "failed", "cancelled")
_INVALID = "invalid_request_error"
_FEWEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """How a job goes: so many look-ups of training; ``fails_with``: code and parameter of a failure; ``pauses``: once, in its middle."""

    steps: int = 2
    fails_with: tuple[str, str] | None = None
    pauses: bool = False
    tells_tokens: bool = True


@dataclass(slots=True, kw_only=True)
class FakeFile:
    id: str
    name: str
    content: bytes
    created: int
    status: str = "processed"


@dataclass(slots=True, kw_only=True)
class FakeJob:
    id: str
    body: Mapping[str, Any]
    plan: JobPlan
    created: int
    status: str = "validating_files"
    looked: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, Any] | None = None
    finished: int | None = None

    @property
    def epochs(self) -> Any:
        return self.body["method"]["supervised"].get("hyperparameters", {}).get("n_epochs", "auto")


class FakeTuning:
    """All files and jobs. Counters may be read at any time."""

    def __init__(self) -> None:
        self.plan = JobPlan()
        self.trouble: Callable[[Operation, int], Trouble | None] = lambda *_: None
        self.retry_after = 0.0
        self.hides = False  # as for the key of another account
        self.keeps_metadata = True
        self.file_status = "processed"
        self.files: dict[str, FakeFile] = {}
        self.jobs: dict[str, FakeJob] = {}
        self.asked: Counter[Operation] = Counter()
        self.done: Counter[Operation] = Counter()
        self.bodies: list[Mapping[str, Any]] = []
        self.lock = threading.RLock()
        self.let_go = threading.Event()

    def next_trouble(self, operation: Operation) -> Trouble | None:
        with self.lock:
            nth = self.asked[operation]
            self.asked[operation] += 1
        return self.trouble(operation, nth)

    def upload(self, fields: Mapping[str, tuple[str | None, bytes]]) -> dict[str, Any]:
        name, content = fields.get("file", (None, b""))
        if fields.get("purpose", (None, b""))[1] != b"fine-tune" or not name:
            raise BadCall(400, _INVALID, "'purpose' and 'file' are wanted")
        if not name.endswith(".jsonl"):
            raise BadCall(400, _INVALID, "Invalid extension. Supported: .jsonl", code="invalid_file")
        file = FakeFile(id=f"file-{len(self.files):04d}", name=name, content=content, created=int(time.time()), status=self.file_status)
        self.files[file.id] = file
        return self.file_view(file)

    def file_view(self, file: FakeFile) -> dict[str, Any]:
        view = {"id": file.id, "object": "file", "bytes": len(file.content), "created_at": file.created, "filename": file.name}
        note = "the file is damaged" if file.status == "error" else None
        return view | {"purpose": "fine-tune", "status": file.status, "status_details": note}

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        self.bodies.append(body)
        self._check(body)
        job = FakeJob(id=f"ftjob-{len(self.jobs):04d}", body=body, plan=self.plan, created=int(time.time()))
        self.jobs[job.id] = job
        self.tell(job, f"Created fine-tuning job: {job.id}")
        self.tell(job, f"Validating training file: {body['training_file']}")
        return self.view(job)

    def _check(self, body: Mapping[str, Any]) -> None:
        known = {"model", "training_file", "validation_file", "method", "suffix", "seed", "metadata", "hyperparameters", "integrations"}
        if unknown := set(body) - known:
            raise BadCall(400, _INVALID, f"Unrecognized request arguments: {sorted(unknown)}")
        if body.get("model") not in MODELS and not str(body.get("model")).startswith("ft:"):
            raise BadCall(400, _INVALID, f"Model {body.get('model')} is not available for fine-tuning", code="model_not_available")
        for part in ("training_file", "validation_file"):
            if (part == "training_file" or body.get(part) is not None) and body.get(part) not in self.files:
                raise BadCall(400, _INVALID, f"File '{body.get(part)}' does not exist", code="invalid_file")
        method = body.get("method") or {}
        numbers = (method.get("supervised") or {}).get("hyperparameters", {})
        if method.get("type") != "supervised" or not set(numbers) <= {"n_epochs", "batch_size", "learning_rate_multiplier"}:
            raise BadCall(400, _INVALID, "Invalid 'method'")
        if not (numbers.get("n_epochs", "auto") == "auto" or (isinstance(numbers["n_epochs"], int) and 1 <= numbers["n_epochs"] <= 50)):
            raise BadCall(400, _INVALID, "Invalid 'n_epochs'")
        if not 1 <= len(body.get("suffix") or "x") <= 64:
            raise BadCall(400, _INVALID, "Invalid 'suffix': string too long")
        metadata = body.get("metadata") or {}
        if len(metadata) > 16 or any(len(name) > 64 or not isinstance(value, str) or len(value) > 512 for name, value in metadata.items()):
            raise BadCall(400, _INVALID, "Invalid 'metadata'")

    def look(self, job: FakeJob) -> dict[str, Any]:
        """Let time pass for *job*."""
        job.looked += 1
        if job.status == "validating_files":
            fault = job.plan.fails_with or self._fault(job)
            if fault is not None:
                self._fail(job, *fault)
            else:
                job.status = "queued"
                self.tell(job, "Files validated, moving job to queued state")
        elif job.status == "queued":
            job.status = "running"
            self.tell(job, "Fine-tuning job started")
        elif job.status == "running":
            step = sum(event["type"] == "metrics" for event in job.events) + 1
            if step <= job.plan.steps:
                loss = round(1 / step, 3)
                self.tell(job, f"Step {step}/{job.plan.steps}: training loss={loss}", step=step, train_loss=loss)
                if job.plan.pauses and step == 1:
                    job.status = "paused"
            else:
                job.status, job.finished = "succeeded", int(time.time())
                self.tell(job, "New fine-tuned model created")
                self.tell(job, "The job has successfully completed")
        return self.view(job)

    def _fault(self, job: FakeJob) -> tuple[str, str] | None:
        for part in ("training_file", "validation_file"):
            if job.body.get(part) is None:
                continue
            rows = [json.loads(line) for line in self.files[job.body[part]].content.split(b"\n") if line]
            if len(rows) < _FEWEST:
                return "invalid_n_examples", part
            if any([one["role"] for one in row["messages"]][-2:] != ["user", "assistant"] for row in rows):
                return "invalid_file_format", part
        return None

    def _fail(self, job: FakeJob, code: str, parameter: str) -> None:
        job.status, job.finished = "failed", int(time.time())
        first = self.files[job.body["training_file"]].content.split(b"\n")[0]
        quote = json.loads(first)["messages"][-1]["content"]
        message = f"The job failed due to an invalid {parameter.replace('_', ' ')}."
        job.error = {"code": code, "param": parameter, "message": f"{message} Line 1: {quote}" if code == "quotes" else message}
        self.tell(job, message, level="error")

    def cancel(self, job: FakeJob) -> dict[str, Any]:
        if job.status in ENDED:
            raise BadCall(400, _INVALID, f"Job has already completed: {job.id}", code="invalid_request")
        job.status, job.finished = "cancelled", int(time.time())
        self.tell(job, "Fine tuning process stopping due to job cancellation", level="warn")
        return self.view(job)

    def resume(self, job: FakeJob) -> dict[str, Any]:
        if job.status != "paused":
            raise BadCall(400, _INVALID, "Invalid state for this", code="invalid_request")
        job.status = "running"
        return self.view(job)

    def tell(self, job: FakeJob, message: str, *, level: str = "info", **metrics: float) -> None:
        event = {"object": "fine_tuning.job.event", "id": f"ftevent-{job.id[-4:]}-{len(job.events):03d}", "created_at": int(time.time())}
        job.events.append(
            event | {"level": level, "message": message, "type": "metrics" if metrics else "message", "data": metrics or None}
        )

    def view(self, job: FakeJob) -> dict[str, Any]:
        body, good = job.body, job.status == "succeeded"
        rows = self.files[body["training_file"]].content if body["training_file"] in self.files else b""
        epochs = 3 if job.epochs == "auto" else job.epochs
        hyperparameters = {"n_epochs": epochs if job.status != "validating_files" else job.epochs, "batch_size": 1}
        return {
            "object": "fine_tuning.job",
            "id": job.id,
            "model": body["model"],
            "created_at": job.created,
            "finished_at": job.finished,
            "fine_tuned_model": f"ft:{body['model']}:acme:{body.get('suffix') or ''}:{job.id[-4:]}" if good else None,
            "organization_id": "org-acme",
            "result_files": ["file-results"] if good else [],
            "status": job.status,
            "validation_file": body.get("validation_file"),
            "training_file": body["training_file"],
            "hyperparameters": hyperparameters,
            "trained_tokens": len(rows) // 4 * epochs if good and job.plan.tells_tokens else None,
            "error": job.error or {},
            "seed": body.get("seed", 42),
            "estimated_finish": None,
            "integrations": [],
            "metadata": body.get("metadata") if self.keeps_metadata else None,
            "method": {"type": "supervised", "supervised": {"hyperparameters": hyperparameters}},
        }


def page(items: Sequence[dict[str, Any]], after: str | None, limit: int) -> dict[str, Any]:
    """*items*, newest first, from behind *after*."""
    start = next((place + 1 for place, one in enumerate(items) if one["id"] == after), 0)
    return {"object": "list", "data": list(items[start : start + limit]), "has_more": len(items) > start + limit}
