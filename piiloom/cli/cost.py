"""``piiloom cost``: the costs of runs, as tables or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from piiloom.cli.options import StoreOptions, store_for_reading
from piiloom.cli.run_summary import accepted_text, count_text, dollars, in_stage_order
from piiloom.cli.terminal import console, examples, in_columns, say, say_json
from piiloom.execution.money.run_costs import COMPOSER, CostReport, Costs, run_costs
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted

EPILOG = examples(
    "piiloom cost",
    "piiloom cost --run r0001-1a2b3c4d",
    "piiloom cost --run all --store outputs/piiloom.duckdb",
    "piiloom cost --run last --json",
)


# Titles of columns that are left out, in this order, if the terminal is narrow.
_SPARED = ("batch", "replayed", "cached", "refused")
_TITLES = ("calls", "answered", "refused", "failed", "replayed", "tokens in", "cached", "out", "batch", "cost")


class CostOptions(StoreOptions):
    """The options of ``piiloom cost``."""

    run: str = setting("last", 'The run, by its id or "last" (the newest), or "all" runs of the store.', metavar="RUN")


@takes(CostOptions)
def cost(asked: CostOptions) -> None:
    """Show the costs of runs: by stage, by model, and for each accepted record.

    Everything is added up from the journal, which has every paid reply. Replies of unknown price are counted apart,
    never as free. Calls that may have been billed without an answer are also set apart: they count against a budget in full.
    """
    with store_for_reading(asked.store) as store:
        report = run_costs(store, asked.run)
    if asked.as_json:
        say_json({"store": str(asked.store), **report.to_json(_by_stage(report))})
        return
    say(_headline(report))
    total = report.total
    if not total.calls and not total.replayed:
        composed = report.composed == len(report.runs)
        say(f"nothing was paid: {'the composer makes no calls' if composed else 'no call has been sent'}")
        lines = _deleted(report)
    else:
        if len(report.runs) > 1:
            _say_table("run", list(report.by_run.values()))
        _say_table("stage", [*_by_stage(report), total])
        _say_table("model", list(report.by_model.values()))
        lines = _remarks(report)
    for line in lines:
        say(line)


def _by_stage(report: CostReport) -> list[Costs]:
    return in_stage_order(report.by_stage.values(), lambda costs: costs.name)


def _headline(report: CostReport) -> str:
    if len(report.runs) > 1:
        accepted = sum(report.accepted.get(run.id, 0) for run in report.runs)
        return f"{counted(len(report.runs), 'run')}: {counted(accepted, 'record')} accepted"
    run = report.runs[0]
    made_by = COMPOSER if run.provider == COMPOSER else f"{run.provider} {run.model}"
    return f"run {run.id} {run.status} ({made_by}): {accepted_text(report.accepted.get(run.id, 0), run.samples)}"


def _say_table(title: str, rows: Sequence[Costs]) -> None:
    width = console().width if sys.stdout.isatty() else None
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
    """Return the cost as text; replies of unknown price are never shown as free."""
    if costs.unpriced and costs.unpriced == costs.answered:
        return "unknown"
    return dollars(costs.cost_usd) + (" + ?" if costs.unpriced else "")


def _remarks(report: CostReport) -> list[str]:
    """Return lines on the cost of a record, and on calls that are not in the sums."""
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
    """Return a line on the cost of deleted runs whose calls were kept."""
    if not report.deleted.calls:
        return []
    return [f"not in these sums: {counted(report.deleted.calls, 'call')} of runs that were deleted since, {_priced(report.deleted)}"]
