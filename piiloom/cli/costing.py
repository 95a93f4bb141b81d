"""The work behind ``piiloom cost``: what runs have cost, by stage, by model and for each accepted record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from piiloom.cli.reading import store_for_reading
from piiloom.cli.run_summary import in_stage_order
from piiloom.corpus.store.costs import ReplyCosts, Unanswered, records_by_run, reply_costs, unanswered_calls
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, get_run, list_runs
from piiloom.foundation.errors import RunError

ALL = "all"
COMPOSER = "composer"
# What the stages of a judge begin with, who may be at another provider.
_JUDGES = ("judge_", "utility_judge_")
_ANY_STAGE = ""


@dataclass(slots=True, kw_only=True)
class Costs:
    """Sums over calls; ``name`` is that of a stage, a model, a run, or "total".

    ``calls`` = ``answered`` + ``failed`` + ``open`` + ``in_batches``. ``refused`` of the answered could not be used;
    ``replayed`` answers were taken from the journal of another run and cost nothing. ``charged_usd`` is set aside for
    ``maybe_paid`` calls, whose outcome nobody knows, and for answers that did not say what they used; ``open_worst_usd`` for
    those that a killed process left behind.
    ``unpriced`` of the answered have no known price.
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

    def add_unanswered(self, counts: Unanswered) -> None:
        """Add what brought no answer in one stage of a run."""
        self.calls += counts.failed + counts.open + counts.in_batches
        self.failed += counts.failed
        self.refused += counts.refused
        self.replayed += counts.replayed
        self.open += counts.open
        self.in_batches += counts.in_batches
        self.maybe_paid += counts.maybe_paid
        self.charged_usd += counts.charged_usd
        self.open_worst_usd += counts.open_worst_usd

    def add_replies(self, sums: ReplyCosts) -> None:
        """Add what one model answered to one stage of a run."""
        self.calls += sums.replies
        self.answered += sums.replies
        self.refused += sums.unusable
        self.unpriced += sums.unpriced
        self.batch_replies += sums.batch_replies
        self.input_tokens += sums.input_tokens
        self.cached_tokens += sums.cached_tokens
        self.cache_write_tokens += sums.cache_write_tokens
        self.output_tokens += sums.output_tokens
        self.unpriced_input_tokens += sums.unpriced_input_tokens
        self.unpriced_output_tokens += sums.unpriced_output_tokens
        self.cost_usd += sums.cost_usd
        self.charged_usd += sums.charged_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """The costs of ``runs`` (``accepted`` records by run); ``composed`` of them are the composer's, which pays nothing.

    ``deleted`` runs of which the journal was kept are not in the other sums; there are such only where all runs are summed up.
    """

    runs: Sequence[RunRow]
    accepted: dict[str, int]
    by_run: list[Costs] = field(default_factory=list)
    by_stage: list[Costs] = field(default_factory=list)
    by_model: list[Costs] = field(default_factory=list)
    total: Costs = field(default_factory=lambda: Costs(name="total"))
    deleted: Costs = field(default_factory=lambda: Costs(name="deleted runs"))

    @property
    def composed(self) -> int:
        """How many of the runs are the composer's."""
        return sum(run.provider == COMPOSER for run in self.runs)

    @property
    def paid_for(self) -> int:
        """How many accepted records the runs have that were not composed."""
        return sum(self.accepted.get(run.id, 0) for run in self.runs if run.provider != COMPOSER)

    @property
    def usd_per_record(self) -> float | None:
        """What an accepted record has cost, rejects and unknown outcomes included; None where that cannot be told."""
        total = self.total
        return None if not self.paid_for or total.unpriced else (total.cost_usd + total.charged_usd) / self.paid_for


def report_costs(path: Path, run_id: str) -> CostReport:
    """Sum up run *run_id* ("last" and "all" work) of the store at *path*; raises ``RunError`` when there is no such run."""
    with store_for_reading(path) as store:
        runs = list_runs(store) if run_id == ALL else [get_run(store, run_id)]
        if not runs:
            raise RunError("the store has no runs yet", where=str(path), remedy="Generate one first: piiloom generate --samples 20")
        return costs_of(store, runs, one=None if run_id == ALL else runs[0].id)


def costs_of(store: Store, runs: Sequence[RunRow], *, one: str | None) -> CostReport:
    """Sum up the costs of *runs*, which are all of the store or, with its id in *one*, a single one."""
    known = {run.id for run in runs}
    paying = {run.id: run for run in runs if run.provider != COMPOSER}
    unanswered, replies = unanswered_calls(store, one), reply_costs(store, one)
    report = CostReport(runs=runs, accepted=records_by_run(store))
    for counts in (counts for counts in unanswered if counts.run_id not in known):
        report.deleted.add_unanswered(counts)
    for sums in (sums for sums in replies if sums.run_id not in known):
        report.deleted.add_replies(sums)
    _fill(report, paying, [c for c in unanswered if c.run_id in paying], [s for s in replies if s.run_id in paying])
    return report


def _fill(report: CostReport, paying: dict[str, RunRow], unanswered: Iterable[Unanswered], replies: Iterable[ReplyCosts]) -> None:
    by_run: dict[str, Costs] = {}
    by_stage: dict[str, Costs] = {}
    by_model: dict[str, Costs] = {}
    used: dict[tuple[str, str], str] = {}

    def into(run: RunRow, stage: str, model: str) -> tuple[Costs, ...]:
        provider = run.config.get("judge_provider") or run.provider if stage.startswith(_JUDGES) else run.provider
        groups = ((by_run, run.id), (by_stage, stage), (by_model, f"{provider} {model}"))
        return (*(group.setdefault(name, Costs(name=name)) for group, name in groups), report.total)

    for sums in replies:
        run = paying[sums.run_id]
        model = sums.model or run.model or "unknown"
        used.setdefault((run.id, sums.stage), model)
        used.setdefault((run.id, _ANY_STAGE), model)
        for costs in into(run, sums.stage, model):
            costs.add_replies(sums)
    for counts in unanswered:
        run = paying[counts.run_id]
        # Only replies name a model, which may be a snapshot of the one asked for; whatever failed counts for the same.
        first = used.get((run.id, _ANY_STAGE), run.model or "unknown")
        for costs in into(run, counts.stage, used.get((run.id, counts.stage), first)):
            costs.add_unanswered(counts)
    report.by_run.extend(by_run.values())
    report.by_stage.extend(in_stage_order(by_stage.values(), lambda costs: costs.name))
    report.by_model.extend(by_model.values())
