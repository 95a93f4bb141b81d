"""A job's money in a store: set aside before anything is sent, booked when the job has ended, as ``piiloom cost`` sums it up.

A job is a run with one call. The store is open for moments only, since a job may take hours. What is written once is not written again.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.store.call_events import CallEvent, EventKind, save_call_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, RunStatus, asking_run, set_run_status
from piiloom.corpus.store.spending import open_sends, spending
from piiloom.detection.training.openai_tuning.estimate import PROVIDER, cost_usd
from piiloom.detection.training.openai_tuning.plan import Plan
from piiloom.execution.call_entries import failure_entry, sent_entry
from piiloom.foundation.seeding import digest
from piiloom.providers.tuning_api import RemoteJob

STAGE: Final = "train_openai"


@dataclass(frozen=True, slots=True, kw_only=True)
class Booked:
    """What was booked for a job: its cost (None: unknown), and what is set aside because the cost was not told."""

    run_id: str
    cost_usd: float | None
    charged_usd: float = 0.0


class Booking:
    """The books of the job *plan*."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def reserve(self) -> str:
        """Set the careful estimate aside, unless it is already. Return the id of the run."""
        with closing(Store.open(Path(self._plan.store))) as store:
            run = self._run(store)
            if not open_sends(store, run.id):
                number = self._number(store, run)
                entry = sent_entry(number, self._plan.estimate.most_usd, datetime.now(UTC))
                self._save(store, run, "sent", entry)
            return run.id

    def release(self, why: str) -> None:
        """Give back what is set aside: no job was made."""
        self._end(None, lambda number: ("failed", failure_entry(number, "not_sent", why, charge_usd=0.0, maybe_billed=False, final=False)))

    def book(self, job: RemoteJob, *, was_running: bool) -> Booked:
        """Book what *job*, which has ended, has cost; *was_running*: it was seen training, so that it may be billed."""
        cost = None if job.trained_tokens is None else cost_usd(job.trained_tokens, self._plan.price)
        aside = self._plan.estimate.most_usd or 0.0
        if job.stage == "succeeded":
            charge = aside if job.trained_tokens is None else 0.0
            run_id = self._end("finished", lambda number: ("reply", self._reply(number, job, cost, charge)))
            return Booked(run_id=run_id, cost_usd=cost, charged_usd=charge)
        billed = was_running and job.trained_tokens != 0
        charge = cost if cost is not None else aside if was_running else 0.0
        said = f"the job {job.status}" + (f" ({job.fault.code})" if job.fault else "")
        run_id = self._end(
            "failed" if job.stage == "failed" else "interrupted",
            lambda number: ("failed", failure_entry(number, job.status, said, charge_usd=charge, maybe_billed=billed, final=True)),
        )
        return Booked(run_id=run_id, cost_usd=cost if cost is not None or billed else 0.0, charged_usd=0.0 if cost is not None else charge)

    def _end(self, status: RunStatus | None, entry: Any) -> str:
        with closing(Store.open(Path(self._plan.store))) as store:
            run = self._run(store)
            for one in open_sends(store, run.id):
                kind, content = entry(one.number)
                self._save(store, run, kind, content)
            set_run_status(store, run.id, status or "interrupted")
            return run.id

    def _run(self, store: Store) -> RunRow:
        plan = self._plan
        told: dict[str, Any] = {
            "train": STAGE,
            "provider": PROVIDER,
            "model": plan.model,
            "endpoint": plan.endpoint,
            "task": plan.task,
            "job": plan.label,
            "seed": plan.seed or 0,
        }
        return asking_run(store, "train", told, digest(STAGE, plan.label))

    def _number(self, store: Store, run: RunRow) -> int:
        before = spending(store, run.id)
        return 1 + before.failed + before.retries + before.answered

    def _save(self, store: Store, run: RunRow, kind: EventKind, entry: dict[str, Any]) -> None:
        plan = self._plan
        event = CallEvent(key=digest(STAGE, plan.label), kind=kind, stage=STAGE, item_id=plan.label, attempt=1, entry=entry)
        with store.transaction():
            save_call_events(store, run.id, [event])

    def _reply(self, number: int, job: RemoteJob, cost: float | None, charge: float) -> dict[str, Any]:
        """Return the entry of a reply (see ``CallEvent``): its tokens are those that were trained."""
        return {
            "try": number,
            "provider": PROVIDER,
            "endpoint": self._plan.endpoint,
            "model": self._plan.model,
            "template": "",
            "rendered_sha256": "",
            "reply": json.dumps({"job": job.id, "fine_tuned_model": job.tuned_model}),
            "finish_reason": job.status,
            "error": None,
            "input": job.trained_tokens or 0,
            "cached": 0,
            "cache_write": 0,
            "output": 0,
            "cost_usd": cost,
            "charge_usd": charge,
            "latency_s": 0.0,
            "retries": 0,
            "batch": False,
        }
