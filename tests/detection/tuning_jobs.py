"""A planned fine-tuning job in a folder, and sessions with it that lose no time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from piiloom.corpus.formats.base import LossReport
from piiloom.corpus.store.database import Store
from piiloom.detection.training.openai_tuning.estimate import TrainingPrice
from piiloom.detection.training.openai_tuning.insisting import Timing
from piiloom.detection.training.openai_tuning.job_folder import JobFolder
from piiloom.detection.training.openai_tuning.plan import Plan
from piiloom.detection.training.openai_tuning.preparing import data_file
from piiloom.detection.training.openai_tuning.session import TuningSession
from piiloom.detection.training.openai_tuning.tasks import Rows
from piiloom.execution.retrying import RetryPolicy
from piiloom.providers.factory import make_provider, make_tuning_api

T = TypeVar("T")

MODEL = "gpt-4o-mini-2024-07-18"
QUICK = RetryPolicy(attempts=4, base_s=0.001, cap_s=0.002, limited_s=0.05)
# What may be there already is looked for three times.
TIMING = Timing(settle_s=0.02, settle_step_s=0.01, first_poll_s=0.002, longest_poll_s=0.002)


def rows(examples: int, word: str = "baker") -> Rows:
    """Rows of which each has the same number of bytes."""
    lines = [_line(f"I am {word} {number:04d}.") for number in range(examples)]
    return Rows(lines=lines, tokens=100 * examples, most_tokens=160 * examples, left_out=(), loss=LossReport())


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
        "files": tuple(data_file("markers", part, one) for part, one in parts.items()),
        "types": ("occupation",),
        "data": {"counts": {"train": examples}},
        "suffix": "mine",
        "epochs": 3,
        "price": TrainingPrice(usd=3.0, dated="2026-11-27", source="a test"),
    }
    with JobFolder(folder) as job:
        job.write_plan(Plan(**(plan | changes)), {part: list(one.lines) for part, one in parts.items()}, [])
    return folder


def in_session(
    folder: Path,
    work: Callable[[TuningSession], Awaitable[T]],
    *,
    said: list[str] | None = None,
    timeout_s: float = 5.0,
    url: str | None = None,
) -> T:
    """Return what *work* gives in a session with the job in *folder*; *said* gets what the user is told."""

    async def whole() -> T:
        with JobFolder(folder) as job:
            plan = job.plan()
            api = make_tuning_api(make_provider("openai", model=plan.model, base_url=url or plan.endpoint, timeout_s=timeout_s))
            try:
                return await work(TuningSession(job, api, policy=QUICK, timing=TIMING, tell=[].append if said is None else said.append))
            finally:
                await api.aclose()

    return asyncio.run(whole())


def booked(folder: Path) -> list[dict[str, Any]]:
    """All that the store beside *folder* has of jobs: the kind of each event, and its entry."""
    path = folder.parent / "costs.duckdb"
    if not path.exists():
        return []
    with Store.open(path) as store:
        found = store.rows("SELECT kind, entry FROM call_events ORDER BY rowid")
    return [{"kind": kind, **json.loads(entry)} for kind, entry in found]
