"""What runs have cost, as tables or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from piiloom.cli.columns import in_columns
from piiloom.cli.costing import COMPOSER, CostReport, Costs, report_costs
from piiloom.cli.run_summary import accepted_text, count_text, dollars
from piiloom.cli.terminal import console, say, say_json
from piiloom.foundation.counting import counted

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
