"""A planned fine-tuning job in a folder, and sessions with it that lose no time."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.detection.training.job_plan import PLAN, TrainingPrice, TuningPlan, data_file, plan_file
from piiloom.detection.training.tuning_job import JobFolder, TuningJob
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.whole_files import write_folder
from piiloom.providers.openai_jobs import OpenAIJobs, with_openai_jobs

MODEL = "gpt-4o-mini-2024-07-18"
QUICK = RetryPolicy(attempts=4, base_s=0.001, cap_s=0.002, limited_s=0.05)


def rows(examples: int, word: str = "baker") -> list[bytes]:
    """Rows of which each has the same number of bytes."""
    return [_line(f"I am {word} {number:04d}. " + 8 * "Nothing else is known about me. ") for number in range(examples)]


def _line(text: str) -> bytes:
    said = {"system": "Mark it.", "user": text, "assistant": text.replace("baker", "<occupation>baker</occupation>")}
    return json.dumps({"messages": [{"role": role, "content": content} for role, content in said.items()]}).encode() + b"\n"


def planned(folder: Path, url: str, *, examples: int = 20, validation: int | None = 10, **changes: Any) -> Path:
    """Plan a job in *folder*, whose costs are booked in the store beside it, and return the folder."""
    parts = {"train": rows(examples)} | ({} if validation is None else {"validation": rows(validation, "cook")})
    plan: dict[str, Any] = {
        "label": f"piiloom-{folder.name}",
        "task": "markers",
        "model": MODEL,
        "endpoint": url,
        "store": str(folder.parent / "costs.duckdb"),
        "files": tuple(data_file("markers", part, lines) for part, lines in parts.items()),
        "types": ("occupation",),
        "data": {"counts": {"train": examples}},
        "suffix": "mine",
        "epochs": 3,
        "price": TrainingPrice(usd=3.0, dated="2026-11-27", source="a test"),
    }
    files = {f"{part}.jsonl": b"".join(lines) for part, lines in parts.items()}
    write_folder(folder, files | {PLAN: plan_file(TuningPlan(**(plan | changes)))})
    return folder


def in_session(
    folder: Path,
    work: Callable[[TuningJob], Awaitable[object]],
    *,
    said: list[str] | None = None,
    timeout_s: float = 5.0,
    url: str | None = None,
) -> dict[str, Any]:
    """Return the state of the job in *folder* after *work*; *said* gets what the user is told. A lost request is searched for thrice."""

    async def whole(api: OpenAIJobs) -> None:
        await work(TuningJob(job, api, policy=QUICK, poll_s=0.002, settle_s=0.02, tell=[].append if said is None else said.append))

    with JobFolder(folder) as job:
        with_openai_jobs(whole, base_url=url or job.plan.endpoint, timeout_s=timeout_s, model=job.plan.model)
        return job.state()


def booked(folder: Path) -> list[dict[str, Any]]:
    """All that the store beside *folder* has of jobs: the kind of each event, and its entry."""
    path = folder.parent / "costs.duckdb"
    if not path.exists():
        return []
    with Store.open(path) as store:
        found = store.rows("SELECT kind, entry FROM call_events ORDER BY rowid")
    return [{"kind": kind, **json.loads(entry)} for kind, entry in found]
