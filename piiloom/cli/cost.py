"""``piiloom cost``: the costs of runs, as tables or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Final, Self

from pydantic import model_validator

from piiloom.cli.options import StoreOptions, store_for_reading
from piiloom.cli.run_summary import accepted_text, in_stage_order
from piiloom.cli.terminal import console, count_text, dollars, examples, in_columns, say, say_json, say_result
from piiloom.execution.money.run_costs import ALL, COMPOSER, DETECTION, OTHER, PARTS, CostReport, Costs, detector_costs, run_costs
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import Converted, OptionalPath, setting
from piiloom.foundation.words import counted

COST_EXAMPLES = examples(
    "piiloom cost",
    "piiloom cost --run r0001-1a2b3c4d",
    "piiloom cost --run all --store outputs/piiloom.duckdb",
    "piiloom cost --run last --json",
    "piiloom cost --parts --replies outputs/detection.duckdb --texts outputs/v1/test.jsonl",
    "piiloom cost --parts --add fine-tuning=7.22 --add detection=usage.jsonl",
)


_PARTS_PANEL: Final = "Parts of a detector's cost"
_PART_TITLES: Final = ("", "base dependency", "fine-tuning", "verifier data", "verifier tuning", "evaluation", "total", "per 1M tokens")
# Titles of columns that are left out, in this order, if the terminal is narrow.
_SPARED = ("batch", "replayed", "cached", "refused")
_TITLES = ("calls", "answered", "refused", "failed", "replayed", "tokens in", "cached", "out", "batch", "cost")


class CostOptions(StoreOptions):
    """The options of ``piiloom cost``."""

    panels = (_PARTS_PANEL,)

    run: str = setting("last", 'The run, by its id or "last" (the newest), or "all" runs of the store.', metavar="RUN")
    parts: bool = setting(
        False, "Show the parts of the cost of a detector, of all runs: fine-tuning, verifier, evaluation.", panel=_PARTS_PANEL
    )
    replies: Converted[tuple[Path, ...], Sequence[str | Path]] = setting(
        (), "A further store of runs, such as outputs/detection.duckdb; repeatable.", metavar="FILE", panel=_PARTS_PANEL
    )
    add: Converted[tuple[str, ...], Sequence[str]] = setting(
        (),
        f"A usage file or an amount that belongs to a part ({', '.join(PARTS)}); repeatable.",
        metavar="PART=FILE|USD",
        panel=_PARTS_PANEL,
    )
    texts: OptionalPath = setting(
        None, "The evaluated texts, for the cost per million tokens of text (default: tokens as detection used them).", panel=_PARTS_PANEL
    )

    @model_validator(mode="after")
    def _with_parts(self) -> Self:
        given = next((name for name in ("replies", "add", "texts") if getattr(self, name)), None)
        if given is not None and not self.parts:
            raise UsageError("it has no effect without --parts", where=self.option_name(given), remedy="Add --parts, or leave it out")
        return self


@takes(CostOptions)
def cost(asked: CostOptions) -> None:
    """Show the costs of runs: by stage, by model, and for each accepted record; with --parts those of a detector and its verifier.

    Everything is added up from the journal, which has every paid reply. Replies of unknown price are counted apart,
    never as free. Calls that may have been billed without an answer are also set apart: they count against a budget in full.
    """
    if asked.parts:
        _parts(asked)
        return
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


def _parts(asked: CostOptions) -> None:
    """Print the costs of a detector, part by part."""
    amounts: dict[str, float | None] = {}
    used = 0
    journals = [asked.store, *asked.replies] if asked.store.exists() or not asked.add else asked.replies
    for path in journals:
        with store_for_reading(path) as store:
            report = run_costs(store, asked.run if "run" in asked.model_fields_set else ALL)
        for part, costs in report.by_part.items():
            _put(amounts, part, None if costs.unpriced else costs.cost_usd + costs.charged_usd)
            used += costs.input_tokens + costs.output_tokens if part == DETECTION else 0
    for word in asked.add:
        part, equals, given = word.partition("=")
        if part not in PARTS or not equals:
            raise UsageError(
                f"no part is named in {word!r}", where="--add", remedy=f"Write PART=FILE or PART=USD; parts: {', '.join(PARTS)}"
            )
        amount, tokens = _added(given)
        _put(amounts, part, amount)
        used += tokens if part == DETECTION else 0
    tokens = used if asked.texts is None else _tokens_in(asked.texts)
    found = detector_costs(amounts, tokens)
    other = amounts.get(OTHER, 0.0)
    rows = [[system, *map(_amount, costs)] for system, *costs, _ in (one.values() for one in found)]
    by = "used by detection" if asked.texts is None else f"in {asked.texts.name}, of four bytes each"
    counts = f"\n{tokens:,} tokens {by}" if tokens else "\nthe tokens are unknown: name the evaluated --texts"
    rest = None if other == 0 else f"not in this table: {_amount(other)} of other runs"
    say_result({"systems": found, "other": other}, *in_columns([_PART_TITLES, *rows]), counts, rest, as_json=asked.as_json)


def _put(amounts: dict[str, float | None], part: str, amount: float | None) -> None:
    before = amounts.get(part, 0.0)
    amounts[part] = None if before is None or amount is None else before + amount


def _added(given: str) -> tuple[float | None, int]:
    """Return the amount in USD (None: unknown) that *given* is, or that the usage file of that name states, and its tokens."""
    from piiloom.evaluation.cost import PriceList, Spent, read_usage

    try:
        amount = float(given)
    except ValueError:
        spent, prices = Spent(), PriceList()
        for row in read_usage(Path(given)):
            spent.add_call(row.model, row.usage, prices, row.provider)
        return None if spent.unpriced else spent.cost_usd, spent.input + spent.output
    if not 0 <= amount < inf:
        raise UsageError(f"{given!r} is no amount", where="--add", remedy="Give USD, 0 or more")
    return amount, 0


def _tokens_in(path: Path) -> int:
    from piiloom.detection.training.training_data import read_file
    from piiloom.evaluation.cost import tokens_of

    return sum(tokens_of(record.context) for record in read_file(path, None, skip_values=True, where="--texts").records)


def _amount(amount: float | None) -> str:
    return "unknown" if amount is None else dollars(amount) if amount else "–"


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
