"""``piiloom cost``: what runs have cost."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.pace import accepted_text, count_text, dollars
from piiloom.cli.paging import in_columns
from piiloom.cli.reading import store_for_reading
from piiloom.cli.stage_order import in_stage_order
from piiloom.cli.terminal import console, examples, say, say_json
from piiloom.corpus.store.costs import ReplyCosts, Unanswered, records_by_run, reply_costs, unanswered_calls
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, get_run, list_runs
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import RunError

EPILOG = examples(
    "piiloom cost",
    "piiloom cost --run r0001-1a2b3c4d",
    "piiloom cost --run all --store outputs/piiloom.duckdb",
    "piiloom cost --run last --json",
)


def cost(
    run: Annotated[
        str, typer.Option("--run", metavar="RUN", help='The run, by its id or "last" (the newest; default), or "all" runs of the store.')
    ] = "last",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show what runs have cost: by stage, by model, and for each accepted record.

    Everything is added up from the journal, which holds every paid reply. Replies of unknown price are counted apart,
    never as free. Calls that may have been billed without an answer are set apart, too: they count against a budget in full.
    """
    print_costs(store, run, as_json=as_json)


_TITLES = ("calls", "answered", "refused", "failed", "replayed", "tokens in", "cached", "out", "batch", "cost")
# Left out, in this order, where the terminal is narrow.
_SPARED = ("batch", "replayed", "cached", "refused")


def print_costs(path: Path, run_id: str, *, as_json: bool) -> None:
    """Print the costs of run *run_id* ("last" and "all" work) of the store at *path*."""
    report = report_costs(path, run_id)
    if as_json:
        say_json({"store": str(path), **costs_to_json(report)})
        return
    say(_headline(report))
    total = report.total
    if not total.calls and not total.replayed:
        say(_nothing(report))
        for line in _deleted(report):
            say(line)
        return
    width = console().width if sys.stdout.isatty() else None
    if len(report.runs) > 1:
        _say_table("run", report.by_run, width)
    _say_table("stage", [*report.by_stage, total], width)
    _say_table("model", report.by_model, width)
    for line in _remarks(report):
        say(line)


def costs_to_json(report: CostReport) -> dict[str, Any]:
    """Give *report* as JSON values, costs in USD and unrounded."""
    return {
        "runs": [
            {"run": run.id, "status": run.status, "provider": run.provider, "model": run.model, "accepted": report.accepted.get(run.id, 0)}
            for run in report.runs
        ],
        "by_run": [_to_json(costs) for costs in report.by_run],
        "by_stage": [_to_json(costs) for costs in report.by_stage],
        "by_model": [_to_json(costs) for costs in report.by_model],
        "total": _to_json(report.total),
        "deleted_runs": _to_json(report.deleted),
        "accepted_records": report.paid_for,
        "usd_per_record": report.usd_per_record,
    }


def _to_json(costs: Costs) -> dict[str, Any]:
    return asdict(costs) | {"batch_share": costs.batch_share}


def _headline(report: CostReport) -> str:
    if len(report.runs) > 1:
        return (
            f"{counted(len(report.runs), 'run')}: {counted(sum(report.accepted.get(run.id, 0) for run in report.runs), 'record')} accepted"
        )
    run = report.runs[0]
    made_by = COMPOSER if run.provider == COMPOSER else f"{run.provider} {run.model}"
    return f"run {run.id} {run.status} ({made_by}): {accepted_text(report.accepted.get(run.id, 0), run.samples)}"


def _nothing(report: CostReport) -> str:
    if report.composed == len(report.runs):
        return "nothing was paid: the composer makes no calls"
    return "nothing was paid: no call has been sent"


def _say_table(title: str, rows: Sequence[Costs], width: int | None) -> None:
    by_batch = any(costs.batch_replies for costs in rows)
    titles = [title, *(name for name in _TITLES if by_batch or name != "batch")]
    lines = in_columns([titles, *(_cells(costs, by_batch=by_batch) for costs in rows)], width=width, spared=_SPARED)
    say("\n" + "\n".join(lines))


def _cells(costs: Costs, *, by_batch: bool) -> list[str]:
    counts = [costs.calls, costs.answered, costs.refused, costs.failed, costs.replayed]
    tokens = [costs.input_tokens, costs.cached_tokens, costs.output_tokens]
    batch = [f"{costs.batch_share:.0%}"] if by_batch else []
    return [costs.name, *(f"{count:,}" for count in counts), *map(count_text, tokens), *batch, _priced(costs)]


def _priced(costs: Costs) -> str:
    """Write the cost; replies of unknown price are never told as free."""
    if costs.unpriced and costs.unpriced == costs.answered:
        return "unknown"
    return dollars(costs.cost_usd) + (" + ?" if costs.unpriced else "")


def _remarks(report: CostReport) -> list[str]:
    """Say what the tables cannot: the cost of a record, and what is not in the sums."""
    total = report.total
    lines = [""]
    if report.usd_per_record is not None:
        lines.append(
            f"{dollars(report.usd_per_record)} for each of {counted(report.paid_for, 'accepted record')}, with all that was rejected"
        )
    if total.unpriced:
        tokens = f"{counted(total.unpriced_input_tokens, 'token')} in, {total.unpriced_output_tokens:,} out"
        lines.append(f"not in these sums: {total.unpriced:,} of the answers ({tokens}), whose price is unknown")
    if total.maybe_paid:
        lines.append(f"may have been billed without an answer: {counted(total.maybe_paid, 'call')}")
    if total.charged_usd:
        lines.append(f"set aside for calls of unknown cost: {dollars(total.charged_usd)}, which counts against a budget")
    if total.open:
        most = f"up to {dollars(total.open_worst_usd)}" if total.open_worst_usd else "an unknown amount"
        lines.append(f"under way when their process ended: {counted(total.open, 'call')}; {most} may have been paid for them")
    if total.in_batches:
        lines.append(f"in batches that have not been collected: {counted(total.in_batches, 'call')}, to be paid for when they are answered")
    if total.replayed:
        lines.append(f"found in the journal of another run, at no cost: {total.replayed:,} answers")
    if report.composed:
        lines.append(
            f"written by the composer without any call: {report.composed:,} of the runs; their records do not count in the cost per record"
        )
    lines += _deleted(report)
    return lines if len(lines) > 1 else []


def _deleted(report: CostReport) -> list[str]:
    """Say what runs have cost that were deleted since, where their calls were kept."""
    if not report.deleted.calls:
        return []
    return [f"not in these sums: {counted(report.deleted.calls, 'call')} of runs that were deleted since, {_priced(report.deleted)}"]


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
