"""The costs of runs, added up from the journal: by run, by stage, by model and for each accepted record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from piiloom.corpus.store.costs import ReplyCosts, Unanswered, records_by_run, reply_costs, unanswered_calls
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, get_run, list_runs
from piiloom.foundation.errors import RunError

ALL = "all"
COMPOSER = "composer"
# Prefixes of the stages of a judge, whose provider may be another.
_JUDGES = ("judge_", "utility_judge_")
_ANY_STAGE = ""
# The parts of the cost of a detector; calls of other runs are in the last.
PARTS = (FINE_TUNING, VERIFIER_DATA, VERIFIER_TUNING, DETECTION, VERIFICATION, OTHER) = (
    *("fine-tuning", "verifier-data", "verifier-tuning"),
    *("detection", "verification", "other"),
)


@dataclass(slots=True, kw_only=True)
class Costs:
    """Sums over calls. ``name`` is a stage, a model, a run, or "total".

    ``calls`` = ``answered`` + ``failed`` + ``open`` + ``in_batches``. ``refused`` of the answered could not be used;
    ``replayed`` answers were taken from the journal of another run and cost nothing. ``charged_usd`` is set aside for
    ``maybe_paid`` calls of unknown outcome, and for answers without a token count; ``open_worst_usd`` is the
    most for open calls of a killed process. ``unpriced`` of the answered have no known price.
    """

    name: str
    calls: int = 0
    answered: int = 0
    refused: int = 0
    failed: int = 0
    replayed: int = 0
    open: int = 0
    in_batches: int = 0
    maybe_paid: int = 0
    unpriced: int = 0
    batch_replies: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    unpriced_input_tokens: int = 0
    unpriced_output_tokens: int = 0
    cost_usd: float = 0.0
    charged_usd: float = 0.0
    open_worst_usd: float = 0.0

    @property
    def batch_share(self) -> float:
        """Share of the answers that came by a batch."""
        return self.batch_replies / self.answered if self.answered else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the sums as JSON values."""
        return asdict(self) | {"batch_share": self.batch_share}

    def add(self, sums: Unanswered | ReplyCosts) -> None:
        """Add the calls without an answer of one stage of a run, or the answers of one model to it."""
        for name in {one.name for one in fields(sums)} & {one.name for one in fields(self)}:
            setattr(self, name, getattr(self, name) + getattr(sums, name))
        if isinstance(sums, ReplyCosts):
            self.calls += sums.replies
            self.answered += sums.replies
            self.refused += sums.unusable
        else:
            self.calls += sums.failed + sums.open + sums.in_batches


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """The costs of ``runs`` by the names of runs, stages and models; ``accepted``: records by run.

    Calls of ``deleted`` runs are only counted where all runs are summed up, and are not in the other sums.
    """

    runs: Sequence[RunRow]
    accepted: dict[str, int]
    by_run: dict[str, Costs] = field(default_factory=dict)
    by_stage: dict[str, Costs] = field(default_factory=dict)
    by_model: dict[str, Costs] = field(default_factory=dict)
    by_part: dict[str, Costs] = field(default_factory=dict)
    total: Costs = field(default_factory=lambda: Costs(name="total"))
    deleted: Costs = field(default_factory=lambda: Costs(name="deleted runs"))

    def to_json(self, by_stage: Iterable[Costs]) -> dict[str, Any]:
        """Return the report as JSON values, costs in USD and unrounded; the sums of stages in the order of *by_stage*."""
        accepted = {run.id: self.accepted.get(run.id, 0) for run in self.runs}
        return {
            "runs": [
                {"run": run.id, "status": run.status, "provider": run.provider, "model": run.model, "accepted": accepted[run.id]}
                for run in self.runs
            ],
            "by_run": [costs.to_json() for costs in self.by_run.values()],
            "by_stage": [costs.to_json() for costs in by_stage],
            "by_model": [costs.to_json() for costs in self.by_model.values()],
            "total": self.total.to_json(),
            "deleted_runs": self.deleted.to_json(),
            "accepted_records": self.paid_for,
            "usd_per_record": self.usd_per_record,
        }

    def run_to_json(self, run: RunRow, rejected: dict[str, int]) -> dict[str, Any]:
        """Return one run as JSON values; ``unpriced`` replies are not in the cost. *rejected*: the number of rejects by run."""
        own = self.by_run.get(run.id, Costs(name=run.id))
        return {
            "run": run.id,
            "status": run.status,
            "provider": run.provider,
            "model": run.model,
            "pairs": run.config.get("pairs"),
            "locale": run.config.get("locale"),
            "seed": run.seed,
            "samples": run.samples,
            "accepted": self.accepted.get(run.id, 0),
            "rejected": rejected.get(run.id, 0),
            "cost_usd": own.cost_usd,
            "charged_usd": own.charged_usd,
            "unpriced": own.unpriced,
        }

    @property
    def composed(self) -> int:
        """The number of runs of the composer, which pays nothing."""
        return sum(run.provider == COMPOSER for run in self.runs)

    @property
    def paid_for(self) -> int:
        """The number of accepted records that were not composed."""
        return sum(self.accepted.get(run.id, 0) for run in self.runs if run.provider != COMPOSER)

    @property
    def usd_per_record(self) -> float | None:
        """The cost of an accepted record, with rejects and unknown outcomes; None if a price is unknown or no record was paid for."""
        total = self.total
        return None if not self.paid_for or total.unpriced else (total.cost_usd + total.charged_usd) / self.paid_for


def detector_costs(amounts: Mapping[str, float | None], tokens: int) -> list[dict[str, Any]]:
    """Return the costs of a detector in USD, part by part, and if anything was paid for a verifier, of the detector with it.

    *amounts* are those of ``PARTS``; None: a price is unknown. The base dependency of a verifier is the whole cost of the detector.
    *tokens* (0: unknown) are those of the mean.
    """
    data, tuning, evaluation = verifier = [amounts.get(name, 0.0) for name in (VERIFIER_DATA, VERIFIER_TUNING, VERIFICATION)]
    alone = _row("detector", (0.0, amounts.get(FINE_TUNING, 0.0), 0.0, 0.0, amounts.get(DETECTION, 0.0)), tokens)
    verified = _row("with verifier", (alone["total"], 0.0, data, tuning, evaluation), tokens)
    return [alone] if verifier == [0.0] * len(verifier) else [alone, verified]


def _row(system: str, parts: Sequence[float | None], tokens: int) -> dict[str, Any]:
    names = ("base_dependency", "fine_tuning", "verifier_data", "verifier_tuning", "evaluation")
    known = [amount for amount in parts if amount is not None]
    total = sum(known) if len(known) == len(parts) else None
    mean = None if total is None or not tokens else total / tokens * 1e6
    return {"system": system, **dict(zip(names, parts, strict=True)), "total": total, "per_million_tokens": mean, "tokens": tokens}


def part_of(run: RunRow, stage: str) -> str:
    """Return the one of ``PARTS`` to which the calls of *stage* in *run* belong."""
    if "train" in run.config:
        return VERIFIER_TUNING if str(run.config.get("task")).startswith("verifier") else FINE_TUNING
    if "verifier-data" in run.config:
        return VERIFIER_DATA
    if "detect" in run.config:
        return VERIFICATION if stage == "detect_verdict" else DETECTION
    return OTHER


def run_costs(store: Store, run_id: str) -> CostReport:
    """Sum up run *run_id* ("last": the newest, "all": every run). Raises ``RunError`` when there is no such run."""
    if run_id != ALL:
        run = get_run(store, run_id)
        return costs_of(store, [run], one=run.id)
    if not (runs := list_runs(store)):
        raise RunError("the store has no runs yet", where=str(store.path), remedy="Generate one first: piiloom generate --samples 20")
    return costs_of(store, runs, one=None)


def costs_of(store: Store, runs: Sequence[RunRow], *, one: str | None) -> CostReport:
    """Sum up the costs of *runs*, which are all of the store or, with its id in *one*, a single one."""
    known = {run.id for run in runs}
    paying = {run.id: run for run in runs if run.provider != COMPOSER}
    unanswered, replies = unanswered_calls(store, one), reply_costs(store, one)
    report = CostReport(runs=runs, accepted=records_by_run(store))
    every: list[Unanswered | ReplyCosts] = [*unanswered, *replies]
    for sums in every:
        if sums.run_id not in known:
            report.deleted.add(sums)
    _fill(report, paying, [sums for sums in unanswered if sums.run_id in paying], [sums for sums in replies if sums.run_id in paying])
    return report


def _fill(report: CostReport, paying: dict[str, RunRow], unanswered: Iterable[Unanswered], replies: Iterable[ReplyCosts]) -> None:
    used: dict[tuple[str, str], str] = {}

    def into(run: RunRow, stage: str, model: str) -> tuple[Costs, ...]:
        provider = run.config.get("judge_provider") or run.provider if stage.startswith(_JUDGES) else run.provider
        groups = (
            (report.by_run, run.id),
            (report.by_stage, stage),
            (report.by_model, f"{provider} {model}"),
            (report.by_part, part_of(run, stage)),
        )
        return (*(group.setdefault(name, Costs(name=name)) for group, name in groups), report.total)

    for sums in replies:
        run = paying[sums.run_id]
        model = sums.model or run.model or "unknown"
        used.setdefault((run.id, sums.stage), model)
        used.setdefault((run.id, _ANY_STAGE), model)
        for costs in into(run, sums.stage, model):
            costs.add(sums)
    for counts in unanswered:
        run = paying[counts.run_id]
        # Only replies name a model, which may be a snapshot of the one asked for; whatever failed counts for the same.
        first = used.get((run.id, _ANY_STAGE), run.model or "unknown")
        for costs in into(run, counts.stage, used.get((run.id, counts.stage), first)):
            costs.add(counts)
