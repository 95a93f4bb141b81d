"""What came of a job: its cost is booked, and the folder of a trained model gets its card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from piiloom.corpus.markers import TYPES
from piiloom.detection.training.openai_tuning.booking import Booking
from piiloom.detection.training.openai_tuning.job_folder import JobFolder
from piiloom.detection.training.openai_tuning.ledger import Ledger
from piiloom.detection.training.openai_tuning.plan import Plan
from piiloom.detection.training.openai_tuning.tasks import get_task, texts_in
from piiloom.detection.training.openai_tuning.tuning import CREATE, STATE, Tuning
from piiloom.foundation.errors import RunError
from piiloom.providers.redaction import Redactor
from piiloom.providers.tuning_api import JobEvent, JobFault, RemoteJob
from piiloom.tagging.model_card import CARD, About, read_about, write_about
from piiloom.taxonomy.own_types import from_json

FAMILY: Final = "openai"
BOOK: Final = "book"
RESERVE: Final = "reserve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a job stands. ``status`` is the server's word, "planned" before there is a job. Costs in USD; None: unknown, or not yet told.

    ``fault``: why it failed.
    """

    plan: Plan
    status: str
    job_id: str | None = None
    tuned_model: str | None = None
    trained_tokens: int | None = None
    cost_usd: float | None = None
    charged_usd: float = 0.0
    run_id: str | None = None
    metrics: dict[str, float] | None = None
    fault: str | None = None
    settled: bool = False

    @property
    def ended(self) -> bool:
        """Whether the job has ended and all is written, so that nothing is left to do."""
        return self.settled and self.status in {"succeeded", "failed", "cancelled"}

    @property
    def failure(self) -> RunError | None:
        """The error to raise for a job that failed."""
        if self.status != "failed":
            return None
        remedy = "Correct what it names, and begin another job in a new folder; files that are uploaded are not uploaded again"
        return RunError(f"the job failed{f': {self.fault}' if self.fault else ''}", where=self.job_id, remedy=remedy)

    @property
    def use(self) -> str | None:
        """The command that uses the tuned model; None if there is none."""
        if self.tuned_model is None:
            return None
        how = get_task(self.plan.task).detect + ("" if self.plan.markers == TYPES.name else f" --markers {self.plan.markers}")
        return f"piiloom detect texts.jsonl {how} --provider openai --model {self.tuned_model} --out found.jsonl"

    def to_json(self) -> dict[str, Any]:
        """The fields, without the plan's data, as JSON values."""
        plan = self.plan
        return {
            "job": self.job_id,
            "status": self.status,
            "task": plan.task,
            "base": plan.model,
            "model": self.tuned_model,
            "trained_tokens": self.trained_tokens,
            "cost_usd": self.cost_usd,
            "charged_usd": self.charged_usd,
            "run": self.run_id,
            "metrics": self.metrics,
            "fault": self.fault,
            "estimate": plan.estimate.to_json(),
            "files": [asdict(file) for file in plan.files],
            "left_out": dict(plan.left_out),
            "use": self.use,
        }


def standing(folder: JobFolder) -> Standing:
    """Return how the job stood when it was last looked at. Nothing is asked."""
    ledger = folder.ledger()
    made, state, booked, reserved = (ledger.result(step) for step in (CREATE, STATE, BOOK, RESERVE))
    status, tuned = "planned" if made is None else "made", None if state is None else state.get("model")
    if made is None and ledger.unsure_since(CREATE) is not None:
        status = "unknown"
    return Standing(
        plan=folder.plan(),
        status=status if state is None else str(state["status"]),
        job_id=None if made is None else str(made["job"]),
        tuned_model=tuned,
        trained_tokens=None if state is None else state.get("trained_tokens"),
        cost_usd=None if booked is None else booked["cost_usd"],
        charged_usd=0.0 if booked is None else booked["charged_usd"],
        run_id=next((str(one["run"]) for one in (booked, reserved) if one is not None), None),
        metrics=last_metrics(folder.events().values()),
        fault=None if booked is None else booked.get("fault"),
        settled=booked is not None and (tuned is None or (folder.path / CARD).is_file()),
    )


def finish(folder: JobFolder, tuning: Tuning, job: RemoteJob) -> None:
    """Book the cost of *job*, which has ended, and write the card of a trained model, unless that is done.

    Raises ``StoreError`` if the store cannot be used now.
    """
    ledger, plan = tuning.ledger, tuning.plan
    if ledger.result(BOOK) is None:
        fault = None if job.fault is None else _told(job.fault, folder, plan)
        booked = Booking(plan).book(job, was_running=tuning.was_running)
        ledger.done(BOOK, run=booked.run_id, cost_usd=booked.cost_usd, charged_usd=booked.charged_usd, fault=fault)
    if job.stage == "succeeded" and not (folder.path / CARD).is_file():
        _write_card(folder, plan, ledger, job)


def _told(fault: JobFault, folder: JobFolder, plan: Plan) -> str:
    """Return *fault* in a line that quotes nothing of the data."""
    where = f"{fault.code} ({fault.parameter})" if fault.parameter else fault.code
    return ": ".join(part for part in (where, without_quotes(fault.message, folder, plan)) if part)


def _write_card(folder: JobFolder, plan: Plan, ledger: Ledger, job: RemoteJob) -> None:
    booked = ledger.result(BOOK)
    assert booked is not None  # noqa: S101 - just booked
    chosen = {"n_epochs": job.epochs or plan.epochs, "batch_size": plan.batch_size, "learning_rate_multiplier": plan.learning_rate}
    write_about(
        folder.path,
        About(
            family=FAMILY,
            types=plan.types,
            base={"name": plan.model, "provider": "openai", "endpoint": plan.endpoint},
            data=plan.data,
            settings={
                "task": plan.task,
                "markers": plan.markers,
                "model": job.tuned_model,
                "job": job.id,
                "suffix": plan.suffix,
                "seed": plan.seed,
                **chosen,
            },
            figures={
                "trained_tokens": job.trained_tokens,
                "cost_usd": booked["cost_usd"],
                "price": None if plan.price is None else asdict(plan.price),
                **(last_metrics(folder.events().values()) or {}),
            },
            own_types=from_json(list(plan.own_types)),
        ),
    )


def tuned_model_of(folder: JobFolder) -> str:
    """Return the name of the tuned model. Raises ``UsageError`` if the folder holds none."""
    return str(read_about(folder.path, FAMILY, where="--out").settings["model"])


def without_quotes(message: str, folder: JobFolder, plan: Plan) -> str:
    """Return *message* for the user, withheld if it repeats what is in the files."""
    texts = [text for file in plan.files if (folder.path / file.path).is_file() for text in texts_in(folder.path / file.path)]
    return Redactor(()).presentable(message, prompt=texts) if message else ""


def last_metrics(events: Iterable[JobEvent]) -> dict[str, float] | None:
    """Return the numbers of the last training step that has any."""
    found = [event.metrics for event in events if event.metrics]
    return dict(found[-1]) if found else None
